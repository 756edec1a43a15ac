"""Groups to try the adversary on, drawn with a seed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Group = tuple[NDArray[np.float64], NDArray[np.int64]]


def random_group(
    rng: np.random.Generator,
    *,
    tuples: int,
    values: int,
    signatures: int,
    decades: float = 2,
    zeros: float = 0,
) -> Group:
    """Distributions whose probabilities span some decades, and codes with every value present."""
    rows = 10 ** rng.uniform(-decades, 0, (signatures, values))
    rows[:, 1:] *= rng.random((signatures, values - 1)) >= zeros
    rows /= rows.sum(axis=1, keepdims=True)
    codes = np.concatenate([np.arange(values), rng.integers(0, values, tuples - values)])
    return rows[rng.integers(0, signatures, tuples)], codes
