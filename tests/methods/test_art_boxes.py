"""The nearest kinds, found in boxes as by looking at everybody."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.methods.art.kernels import boxes as module
from shoal.methods.art.kernels.boxes import boxes_of
from tests.doors import door

count_free, nearest_to = door(module.count_free), door(module.nearest_to)


def slow_nearest(centre: np.ndarray, place: np.ndarray, free: np.ndarray, length: int) -> list[int]:
    """Everybody who is free, by distance; of those who are as far as the last the first."""
    there = [s for s in range(len(place)) if free[s] > 0]
    distance = {
        s: sum((float(z) - float(c)) ** 2 for z, c in zip(place[s], centre, strict=True))
        for s in there
    }
    if len(there) <= length:
        return there
    limit = sorted(distance.values())[length - 1]
    return [s for s in there if distance[s] <= limit][:length]


@pytest.mark.parametrize("features", [1, 3, 12])
@pytest.mark.parametrize("length", [1, 30, 700, 5000])
@pytest.mark.parametrize("share", [0.02, 0.9])
def test_the_nearest_are_those_of_all(features: int, length: int, share: float) -> None:
    """Places are whole numbers, so that many are equally far away and nothing is rounded."""
    rng = np.random.default_rng([features, length])
    place = rng.integers(-20, 20, (module.FEW + 900, features)).astype(np.float32)
    free = np.where(rng.random(len(place)) < share, rng.integers(1, 4, len(place)), 0)
    boxes = boxes_of(place)
    assert len(boxes.start) > 2
    left = count_free(boxes, free)
    for _ in range(5):
        centre = rng.integers(-25, 25, features).astype(np.float32)
        found = nearest_to(centre, boxes, free, left, length)
        assert found.tolist() == slow_nearest(centre, place, free, length)


@pytest.mark.parametrize("kinds", [1, 50, module.FEW, module.FEW + 1])
def test_everybody_is_in_one_box(kinds: int) -> None:
    place = np.random.default_rng(kinds).normal(size=(kinds, 4)).astype(np.float32)
    boxes = boxes_of(place)
    assert sorted(boxes.kind.tolist()) == list(range(kinds))
    for b, (first, last) in enumerate(zip(boxes.start[:-1], boxes.start[1:], strict=True)):
        mine = boxes.kind[first:last]
        assert mine.tolist() == sorted(mine.tolist())
        assert (boxes.box[mine] == b).all()
        assert boxes.across[:, first:last].T.tolist() == place[mine].tolist()
        assert boxes.low[:, b].tolist() == place[mine].min(axis=0).tolist()
        assert boxes.high[:, b].tolist() == place[mine].max(axis=0).tolist()
    assert (len(boxes.start) == 2) == (kinds < module.FEW)


def test_boxes_count_who_is_free() -> None:
    rng = np.random.default_rng(0)
    place, free = rng.normal(size=(5000, 3)).astype(np.float32), rng.integers(0, 3, 5000)
    boxes = boxes_of(place)
    by_hand = [int((free[boxes.box == b] > 0).sum()) for b in range(len(boxes.start) - 1)]
    assert count_free(boxes, free).tolist() == by_hand
