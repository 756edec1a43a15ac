"""Thousands of small groups: the adversary agrees with the enumeration of possible worlds."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from shoal.auditing.adversaries import binary_posterior, joint_bounds, joint_posterior
from shoal.errors import InputError
from tests.oracle import worlds as oracle

MOST_TUPLES = 8
ROUNDING = 1e-9
ZERO_TO_BILLION = (0, 0, 1, 1, 2, 3, 7, 40, 1_000, 10**9)
"""Shares that are made into distributions: zeros, equals, and odds from 1 to a billion."""

Group = tuple[list[list[float]], list[int]]


@st.composite
def groups(draw: st.DrawFn, shares: tuple[int, ...] = ZERO_TO_BILLION) -> Group:
    """Up to eight tuples of up to four signatures, and their published values."""
    width = draw(st.integers(1, 5))
    row = st.lists(st.sampled_from(shares), min_size=width, max_size=width)
    signatures = draw(st.lists(row, min_size=1, max_size=4))
    values = draw(st.lists(st.integers(0, width - 1), min_size=1, max_size=MOST_TUPLES))
    size = len(values)
    chosen = draw(st.lists(st.integers(0, len(signatures) - 1), min_size=size, max_size=size))
    elsewhere = draw(st.sampled_from((0, 0, 3)))  # share of values that the group has not
    made = [[share / max(1, sum(row) + elsewhere) for share in row] for row in signatures]
    return [made[signature] for signature in chosen], values


@settings(max_examples=2000)
@given(groups())
def test_joint_posterior_is_the_share_of_the_worlds(group: Group) -> None:
    distributions, values = group
    try:
        expected = np.array(oracle.joint_posterior(distributions, values))
    except oracle.NoWorld:
        event("no world")
        with pytest.raises(InputError) as raised:
            joint_posterior(distributions, values)
        assert raised.value.code == "no-world"
        return
    event("worlds")
    posterior = joint_posterior(distributions, values)
    np.testing.assert_allclose(posterior, expected, rtol=0, atol=ROUNDING)
    assert (posterior[expected == 0] == 0).all()


@settings(max_examples=1500)
@given(groups())
def test_joint_bounds_are_never_on_the_wrong_side(group: Group) -> None:
    distributions, values = group
    try:
        expected = np.array(oracle.joint_posterior(distributions, values))
    except oracle.NoWorld:
        return
    lower, upper = joint_bounds(distributions, values)
    assert (lower <= expected + 1e-12).all()
    assert (upper >= expected - 1e-12).all()
    assert ((lower >= 0) & (upper <= 1)).all()


@settings(max_examples=400)
@given(groups(shares=(1, 2, 3, 7, 40)))
def test_joint_bounds_say_something_where_nothing_is_impossible(group: Group) -> None:
    distributions, values = group
    lower, upper = joint_bounds(distributions, values)
    present = np.unique(values)
    inside = (lower[:, present] > 0) & (upper[:, present] < 1)
    assert inside.all() or len(present) == 1


@settings(max_examples=400)
@given(groups(), st.randoms(use_true_random=False))
def test_the_order_of_the_published_values_says_nothing(group: Group, random: Random) -> None:
    distributions, values = group
    shuffled = list(values)
    random.shuffle(shuffled)
    try:
        posterior = joint_posterior(distributions, values)
    except InputError:
        return
    assert np.array_equal(posterior, joint_posterior(distributions, shuffled))
    assert posterior.sum(axis=1) == pytest.approx(1)
    counts = np.bincount(values, minlength=len(distributions[0]))
    assert posterior.sum(axis=0) == pytest.approx(counts)


chances = st.one_of(
    st.sampled_from((0.0, 1.0, 0.5, 0.25, 1e-15, 1e-6, 1 - 1e-12)),
    st.floats(0, 1, allow_subnormal=False),
)


@settings(max_examples=2000)
@given(
    st.lists(chances, min_size=1, max_size=3),
    st.lists(st.integers(0, 2), min_size=1, max_size=MOST_TUPLES),
    st.integers(0, MOST_TUPLES),
)
def test_binary_posterior_is_the_share_of_the_worlds(
    pool: list[float], chosen: list[int], count: int
) -> None:
    f = [pool[signature % len(pool)] for signature in chosen]
    count = min(count, len(f))
    try:
        exact = oracle.binary_posterior([Fraction(p) for p in f], count)
    except oracle.NoWorld:
        event("no world")
        with pytest.raises(InputError) as raised:
            binary_posterior(f, count)
        assert raised.value.code == "no-world"
        return
    event("worlds")
    expected = [float(share) for share in exact]
    np.testing.assert_allclose(binary_posterior(f, count), expected, rtol=0, atol=ROUNDING)


@settings(max_examples=700)
@given(st.lists(chances, min_size=1, max_size=MOST_TUPLES), st.integers(0, MOST_TUPLES))
def test_with_two_values_both_adversaries_are_one(f: list[float], count: int) -> None:
    count = min(count, len(f))
    values = [0] * count + [1] * (len(f) - count)
    try:
        alone = binary_posterior(f, count)
    except InputError:
        with pytest.raises(InputError, match="No possible world"):
            joint_posterior([[p, 1 - p] for p in f], values)
        return
    together = joint_posterior([[p, 1 - p] for p in f], values)
    np.testing.assert_allclose(together[:, 0], alone, rtol=0, atol=ROUNDING)
