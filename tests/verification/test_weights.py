"""Weights that shares tell: those that they were made with, and none where they were not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.release.kernels import share_out, shorten
from shoal.release.leanings import LEAST, Groups
from shoal.verification.weights import Floats, Weights
from tests.release.test_kernels import random_groups


def made(seed: int) -> tuple[Groups, Floats, Floats, Floats]:
    """Some groups, and weights, limits and shares of their people."""
    random = np.random.default_rng(seed)
    parts = [random_groups(random) for _ in range(15)]
    lengths = np.concatenate([np.diff(start) for start, *_ in parts])
    start = np.append(0, np.cumsum(lengths))
    who, number, times, carriers = (
        np.concatenate([part[place] for part in parts]) for place in (1, 2, 3, 4)
    )
    weight, limit = np.exp(random.normal(0, 1, 6)), random.uniform(0.2, 0.9, 6)
    share = np.full(len(who), np.nan)
    share_out(start, who, number, carriers, weight, limit, LEAST, share)
    shorten(start, who, number, carriers, limit, share, 6)
    return (
        Groups(start, who, number, times, carriers, np.zeros_like(carriers)),
        weight,
        limit,
        share,
    )


@given(st.integers(0, 10_000))
@settings(max_examples=150, deadline=None)
def test_weights_are_found_again(seed: int) -> None:
    groups, weight, limit, share = made(seed)
    found = Weights.of(groups, share, limit)
    assert found.wrong == 0
    for part in np.unique(found.part):
        mine = found.part == part
        apart = found.log[mine] - np.log(weight[mine])
        assert apart == pytest.approx(np.full(mine.sum(), apart[0]), abs=1e-3)


def test_a_share_that_is_not_by_weight_is_noticed() -> None:
    """One line after the other becomes a little larger, or smaller."""
    noticed = tried = 0
    for seed in range(12):
        groups, _, limit, share = made(seed)
        for line in np.flatnonzero(~np.isnan(share)).tolist():
            for factor in (1.05, 0.95):
                other = share.copy()
                other[line] *= factor
                tried += 1
                noticed += Weights.of(groups, other, limit).wrong > 0
    assert noticed > 0.5 * tried, (noticed, tried)


def test_weights_of_classes_are_told_from_weights_of_single_people() -> None:
    random = np.random.default_rng(1)
    division = random.integers(1, 4, 60).astype(np.int32)
    log = np.array([0.0, 0.3, -0.5, 0.8])[division]
    part = np.zeros(60, np.int64)
    assert not Weights(log, part, 0).strange([division], np.full(60, 10.0))
    assert Weights(log, part, 0).strange([division], np.ones(60)), "classes have too few carriers"
    log[7] += 0.1
    assert Weights(log, part, 0).strange([division], np.full(60, 10.0))
