"""Bounds by averages: never on the wrong side, and narrow where people are alike."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from shoal.auditing.adversaries import binary_posterior, joint_bounds, joint_posterior
from shoal.auditing.adversaries.joint import WeighedGroup
from shoal.auditing.adversaries.kernels.averages import MOST_RATIOS, average_bounds
from shoal.errors import InputError
from tests.oracle import worlds as oracle
from tests.oracle.groups import random_group

Floats = NDArray[np.float64]
ROUNDING = 1e-12
compiled_only = pytest.mark.skipif(
    numba.config.DISABLE_JIT,  # type: ignore[attr-defined]
    reason="takes minutes uncompiled",
)


def bounds(rows: Floats, values: NDArray[np.int64], column: list[int]) -> tuple[Floats, Floats]:
    """By averages alone, for every tuple and event; `column` is the event of each value."""
    group = WeighedGroup.of(rows, values)
    events = np.asarray(column)[group.present]
    lower, upper = average_bounds(group.weights, group.sizes, group.counts, events, max(column) + 1)
    return lower[group.member], upper[group.member]


def by_event(posterior: Floats, column: list[int]) -> Floats:
    events = range(max(column) + 1)
    return np.column_stack([posterior[:, np.asarray(column) == e].sum(axis=1) for e in events])


def check(rows: Floats, values: NDArray[np.int64], column: list[int], exact: Floats) -> None:
    lower, upper = bounds(rows, values, column)
    expected = by_event(exact, column)
    assert (lower <= expected + ROUNDING).all()
    assert (upper >= expected - ROUNDING).all()
    assert ((lower >= 0) & (upper <= 1)).all()


def some_events(rng: np.random.Generator, values: int) -> list[int]:
    """Each value in the first event, the second, or none; one at least in the first."""
    return [0, *rng.integers(-1, 2, values - 1).tolist()]


@pytest.mark.parametrize("zeros", [0.0, 0.3, 0.6])
@pytest.mark.parametrize("decades", [0.0, 0.5, 3.0, 9.0])
def test_bounds_of_small_groups_hold_what_enumeration_gives(decades: float, zeros: float) -> None:
    rng = np.random.default_rng([int(10 * decades), int(10 * zeros)])
    met = 0
    for _ in range(300):
        values = int(rng.integers(1, 5))
        rows, codes = random_group(
            rng,
            tuples=values + int(rng.integers(0, 4)),
            values=values,
            signatures=int(rng.integers(1, 6)),
            decades=decades,
            zeros=zeros,
        )
        try:
            exact = np.array(oracle.joint_posterior(rows.tolist(), codes.tolist()))
        except oracle.NoWorld:
            assert zeros > 0
            continue
        check(rows, codes, some_events(rng, values), exact)
        met += 1
    assert met > 100


@compiled_only
@pytest.mark.parametrize("zeros", [0.0, 0.2])
@pytest.mark.parametrize("decades", [0.3, 1.0, 4.0])
def test_bounds_of_middling_groups_hold_the_exact_posterior(decades: float, zeros: float) -> None:
    rng = np.random.default_rng([int(10 * decades), int(10 * zeros)])
    for _ in range(300):
        values = int(rng.integers(2, 5))
        rows, codes = random_group(
            rng,
            tuples=int(rng.integers(8, 40)),
            values=values,
            signatures=int(rng.integers(1, 9)),
            decades=decades,
            zeros=zeros,
        )
        try:
            exact = joint_posterior(rows, codes)
        except InputError:
            assert zeros > 0
            continue
        check(rows, codes, some_events(rng, values), exact)


@compiled_only
@pytest.mark.parametrize("rare", [1, 30, 600])
def test_thousands_of_people_and_two_values_are_the_binary_question(rare: int) -> None:
    rows, _ = random_group(
        np.random.default_rng(rare), tuples=2000, values=2, signatures=40, decades=1
    )
    values = (np.arange(2000) < rare).astype(np.int64)
    exact = binary_posterior(rows[:, 1], rare)
    lower, upper = bounds(rows, values, [-1, 0])
    assert (lower[:, 0] <= exact + ROUNDING).all()
    assert (upper[:, 0] >= exact - ROUNDING).all()
    assert (upper[:, 0] / lower[:, 0]).max() < 1.02


@compiled_only
def test_thousands_of_people_of_two_kinds_and_many_values() -> None:
    rows, codes = random_group(
        np.random.default_rng(4), tuples=4000, values=12, signatures=2, decades=1
    )
    exact = joint_posterior(rows, codes)
    lower, upper = bounds(rows, codes, list(range(12)))
    assert (lower <= exact + ROUNDING).all()
    assert (upper >= exact - ROUNDING).all()
    assert (upper / lower).max() < 1.02


def test_people_who_are_all_alike_share_alike() -> None:
    rows, values = np.tile([0.1, 0.2, 0.7], (10, 1)), np.repeat([0, 1, 2], [1, 3, 6])
    lower, upper = bounds(rows, values, [0, 1, -1])
    for side in (lower, upper):
        assert side == pytest.approx(np.tile([0.1, 0.3], (10, 1)), abs=1e-9)


def test_what_is_impossible_or_certain_stays_so() -> None:
    rows = np.array([[0.0, 0.5, 0.5], [0.3, 0.3, 0.4], [0.4, 0.6, 0.0]])
    lower, upper = bounds(rows, np.array([0, 1, 2]), [0, -1, -1])
    assert (lower[0, 0], upper[0, 0]) == (0, 0)
    lower, upper = bounds(np.ones((3, 1)), np.zeros(3, np.int64), [0])
    assert lower == pytest.approx(1)
    assert (upper == 1).all()


@pytest.mark.parametrize("too_much", ["ratios", "digits"])
def test_nothing_is_said_beyond_what_can_be_vouched_for(too_much: str) -> None:
    if too_much == "ratios":
        size = int(MOST_RATIOS ** (1 / 3)) + 2
        weights = 1.0 + np.arange(size * size).reshape(size, size) % 7
        counts = np.ones(size, np.int64)
    else:
        weights, counts = np.array([[1.0, 1e-160], [1e-160, 1.0]]), np.array([1, 1])
    column = np.full(len(counts), -1)
    column[0] = 0
    lower, upper = average_bounds(weights, np.ones(len(counts), np.int64), counts, column, 1)
    assert (lower == 0).all()
    assert (upper == 1).all()


def test_bounds_of_a_group_that_nothing_explains_are_refused() -> None:
    with pytest.raises(InputError) as raised:
        joint_bounds([[0.0, 1.0], [0.0, 1.0]], [0, 1])
    assert raised.value.code == "no-world"
