"""Boosted trees of scikit-learn, which is an extra: ask first whether it is here."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Bools, Floats, Ints, Singles
from shoal.memory import allowed_memory

MOST_ROWS = 300_000
"""Of more people so many are drawn."""
BYTES, SHARES = 13, 4
"""What a number takes while trees grow (here, in a copy, as a bin), and one part of so many of
memory is what they may take."""
BLOCK = 1 << 13
BINS = 63
"""Numbers are told apart in so many steps: ranks within groups need no more, and 255 take a third
more time."""


def can_grow() -> bool:
    """Whether scikit-learn is installed."""
    return find_spec("sklearn") is not None


def grown(
    design: NDArray[Any],
    outcome: Bools,
    people: Ints,
    rng: np.random.Generator,
) -> Any:
    """A classifier fitted to so many people of each line; `design` is as many lines, or those of
    several outcomes once. One thread: several wait for each other
    more than they work on tables of this size, and sums come out the same everywhere."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    model = HistGradientBoostingClassifier(
        max_iter=120,
        learning_rate=0.1,
        max_leaf_nodes=15,
        max_bins=BINS,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=int(rng.integers(2**31)),
    )
    total = int(people.sum())
    most = min(MOST_ROWS, allowed_memory() // (SHARES * BYTES * design.shape[1]))
    if total > most:
        people = rng.multinomial(most, people / total)
    # Each person by themselves: with weights scikit-learn takes ten times as long.
    row = np.repeat(np.arange(len(people)), people)
    with threadpool_limits(1, user_api="openmp"):
        return model.fit(design[row % len(design)], outcome[row])


def scored(model: Any, design: Singles) -> Floats:
    """What a classifier makes of some people, a block of them after the other: scikit-learn copies
    what it is given."""
    blocks = [design[first : first + BLOCK] for first in range(0, len(design), BLOCK)]
    told = [np.asarray(model.decision_function(block), np.float64) for block in blocks]
    return np.concatenate([*told, np.zeros(0)])
