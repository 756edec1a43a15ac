"""The kernels' own sort and selection, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.methods.art.kernels import nearest
from tests.doors import door

nearest_first, smallest_but = door(nearest.nearest_first), door(nearest.smallest_but)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("steps", [4, 50, 10**6])
def test_the_nearest_come_first_as_numpy_has_it(seed: int, steps: int) -> None:
    """With few steps many distances are equal."""
    rng = np.random.default_rng(seed)
    distance = (np.sort(rng.integers(0, steps, 200)) / 7).astype(np.float32)
    distance = np.concatenate([distance[::-2], distance[::2]])  # falls and rises
    cells = rng.choice(1000, 200, replace=False)
    order = np.lexsort((cells, distance))
    expected, far = cells[order].tolist(), distance[order].tolist()
    nearest_first(distance, cells)
    assert cells.tolist() == expected
    assert distance.tolist() == far


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("steps", [4, 50, 10**6])
def test_the_smallest_but_some_as_numpy_has_it(seed: int, steps: int) -> None:
    rng = np.random.default_rng(seed)
    left = (np.sort(rng.integers(0, steps, 200)) / 7).astype(np.float32)
    left = np.concatenate([left[::-2], left[::2]])
    for skipped in (0, 1, 60, 198, 199):
        assert smallest_but(left.copy(), skipped) == np.sort(left)[skipped]
