"""The swap chain: its intervals cover the exact posteriors at least as often as they claim."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from scipy.stats import binom

from shoal.auditing.adversaries import joint_estimate, joint_posterior
from shoal.auditing.adversaries.joint import interval
from shoal.errors import InputError
from tests.oracle.groups import Group, random_group


def covered(rng: np.random.Generator, group: Group, confidence: float, seed: int) -> bool:
    """Whether the interval of one posterior, chosen at random, covers the exact value."""
    rows, values = group
    exact = joint_posterior(rows, values)
    estimate = joint_estimate(rows, values, confidence=confidence, seed=seed)
    assert estimate.confidence == confidence
    assert (estimate.low <= estimate.posterior).all()
    assert (estimate.posterior <= estimate.high).all()
    present = np.unique(values)
    j, v = rng.integers(len(rows)), rng.choice(present)
    return bool(estimate.low[j, v] - 1e-12 <= exact[j, v] <= estimate.high[j, v] + 1e-12)


def fewest(groups: int, confidence: float) -> int:
    """How often an honest interval covers at the very least: one run in ten thousand is worse."""
    return int(binom.ppf(1e-4, groups, confidence))


@pytest.mark.parametrize("confidence", [0.9, 0.99])
@pytest.mark.parametrize(("decades", "zeros"), [(1, 0.0), (3, 0.0), (1, 0.25)])
def test_intervals_of_small_groups_cover(decades: int, zeros: float, confidence: float) -> None:
    rng = np.random.default_rng([decades, int(100 * confidence)])
    hits: list[bool] = []
    for seed in range(400):
        group = random_group(
            rng,
            tuples=int(rng.integers(4, 10)),
            values=int(rng.integers(2, 5)),
            signatures=int(rng.integers(2, 7)),
            decades=decades,
            zeros=zeros,
        )
        try:
            hits.append(covered(rng, group, confidence, seed))
        except InputError:
            assert zeros > 0
    assert len(hits) >= 200
    assert sum(hits) >= fewest(len(hits), confidence)


@pytest.mark.skipif(
    numba.config.DISABLE_JIT,  # type: ignore[attr-defined]
    reason="takes minutes uncompiled",
)
@pytest.mark.parametrize("confidence", [0.9, 0.99])
@pytest.mark.parametrize("rare", [False, True])
def test_intervals_of_hundreds_of_tuples_cover(rare: bool, confidence: float) -> None:
    rng = np.random.default_rng([int(rare), int(100 * confidence)])
    groups, hits = 120, 0
    for seed in range(groups):
        size = int(rng.integers(150, 400))
        rows, values = random_group(rng, tuples=size, values=2, signatures=int(rng.integers(2, 30)))
        if rare:
            values = (np.arange(size) < rng.integers(1, 4)).astype(np.int64)
        hits += covered(rng, (rows, values), confidence, seed)
    assert hits >= fewest(groups, confidence)


def test_intervals_are_narrow_enough_to_say_something() -> None:
    rows, values = random_group(np.random.default_rng(2), tuples=300, values=2, signatures=10)
    estimate = joint_estimate(rows, values)
    assert (estimate.high - estimate.low).max() < 0.2
    more = joint_estimate(rows, values, sweeps=160)
    assert (more.high - more.low).mean() < 0.6 * (estimate.high - estimate.low).mean()


@pytest.mark.parametrize("copies", [1, 40])
def test_the_chain_reaches_worlds_that_no_exchange_of_two_leads_to(copies: int) -> None:
    """Tuples that may hold xy, yz and zx: all values must move on at once."""
    kinds = np.array([[0.6, 0.4, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]])
    rows, values = np.repeat(kinds, copies, axis=0), np.repeat([0, 1, 2], copies)
    exact = joint_posterior(rows, values)
    assert 0.4 < exact[0, 0] < 0.7
    estimate = joint_estimate(rows, values, sweeps=64)
    assert (estimate.low <= exact + 1e-12).all()
    assert (exact <= estimate.high + 1e-12).all()
    assert (estimate.high - estimate.low).max() < 0.4


def test_a_slow_chain_gets_a_wider_interval() -> None:
    sizes, fresh = np.array([10**6]), np.random.default_rng(8).random(32)
    reach = {}
    for name, order in (("mixing", fresh), ("slow", np.sort(fresh))):
        middle, low, high = interval(order[:, None, None], sizes, sweeps=16, confidence=0.5)
        assert middle.item() == pytest.approx(fresh.mean())
        reach[name] = high.item() - low.item()
    assert reach["slow"] > 1.7 * reach["mixing"]


def test_the_same_seed_gives_the_same_estimate() -> None:
    rows, values = random_group(np.random.default_rng(6), tuples=40, values=4, signatures=8)
    first, again = joint_estimate(rows, values, seed=3), joint_estimate(rows, values, seed=3)
    other = joint_estimate(rows, values, seed=4)
    assert np.array_equal(first.posterior, again.posterior)
    assert np.array_equal(first.low, again.low)
    assert not np.array_equal(first.posterior, other.posterior)


def test_the_chain_finds_a_world_to_start_from() -> None:
    rows, values = [[0.0, 1.0], [0.5, 0.5]], [0, 1]  # as given, the first tuple holds value 0
    estimate = joint_estimate(rows, values)
    assert estimate.posterior.tolist() == [[0.0, 1.0], [1.0, 0.0]]
