"""Shares in groups: the compiled passes against slow twins, and what is wrong with shares."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.release.kernels import (
    carriers_held,
    counted_equally,
    counted_with,
    people_above,
    share_out,
    shorten,
    slope,
)
from shoal.release.leanings import LEAST, Groups


def random_groups(random: np.random.Generator) -> tuple[Any, ...]:
    number = int(random.integers(1, 6))
    lengths = random.integers(1, 5, number)
    start = np.append(0, np.cumsum(lengths)).astype(np.int64)
    who = random.integers(0, 6, start[-1]).astype(np.int32)
    people = random.integers(1, 4, start[-1])
    size = np.add.reduceat(people, start[:-1])
    carriers = np.array([random.integers(0, n + 1) for n in size], np.int32)
    return start, who, people, random.integers(1, 4, number), carriers


def shared_out(*given: Any) -> Any:
    start, who, number, _, carriers, *more = given
    share = np.zeros(len(who))
    share_out(start, who, number, carriers, *more, share)
    return share


def slow_shares_of(weight: Any, most: Any, least: float, carriers: int) -> list[float]:
    """The shares of single people: the one v is looked for among all where a share meets a bound,
    and on the line between two of these."""
    if not carriers:
        return [0.0] * len(weight)

    def at(v: float) -> list[float]:
        return [min(max(v * w, least), m) for w, m in zip(weight, most, strict=True)]

    corners = sorted(
        {least / w for w in weight} | {m / w for w, m in zip(weight, most, strict=True)}
    )
    for low, high in pairwise([0.0, *corners]):
        here, there = sum(at(low)), sum(at(high))
        if here <= carriers <= there + 1e-12:
            part = (carriers - here) / (there - here) if there > here else 0.0
            return at(low + part * (high - low))
    return at(corners[-1])


@given(st.integers(0, 10_000))
@settings(max_examples=150, deadline=None)
def test_kernels_do_what_slow_loops_do(seed: int) -> None:
    random = np.random.default_rng(seed)
    start, who, number, times, carriers = lines = random_groups(random)
    weight, limit = np.exp(random.normal(0, 3, 6)), random.uniform(0.1, 0.9, 6)
    share = shared_out(*lines, weight, limit, LEAST)
    assert counted_equally(*lines, 6) == pytest.approx(
        counted_with(*lines, shared_out(*lines, np.ones(6), limit, LEAST), 6)
    )
    short = share.copy()
    shorten(start, who, number, carriers, limit, short, 6)
    counted, above = np.zeros(6), 0
    for g in range(len(times)):
        line = [i for i in range(start[g], start[g + 1]) for _ in range(number[i])]
        equal = carriers[g] / len(line)
        most = [max(limit[who[i]], equal) for i in line]
        found = slow_shares_of([weight[who[i]] for i in line], most, LEAST * equal, carriers[g])
        assert share[line] == pytest.approx(found, rel=1e-9)
        assert share[line].sum() == pytest.approx(carriers[g])
        assert short[line] == pytest.approx(found, rel=1e-5)
        assert (short[line] <= np.array(most)).all()
        for i, mine in zip(line, found, strict=True):
            counted[who[i]] += times[g] * mine
            above += int(times[g] * (carriers[g] > 0 and 1.2 * mine > max(limit[who[i]], equal)))
    assert [float(f"{one:.6g}") for one in short] == short.tolist()
    assert counted_with(*lines, share, 6) == pytest.approx(counted)
    assert people_above(*lines, 1.2 * share, limit, 1e-9) == above


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_the_slope_is_that_of_small_steps(seed: int) -> None:
    random = np.random.default_rng(seed)
    lines = random_groups(random)
    log_weight, limit = random.normal(0, 0.5, 6), random.uniform(0.1, 0.9, 6)
    gain, least = random.normal(0, 1, 6), random.choice([0.01, 0.6])

    def shares(at: Any) -> Any:
        return shared_out(*lines, np.exp(at), limit, least)

    changes = slope(*lines, shares(log_weight), limit, least, gain)
    for one in range(6):
        step = np.zeros(6)
        step[one] = 1e-6
        after, before = (
            float(gain @ counted_with(*lines, shares(log_weight + sign * step), 6))
            for sign in (1, -1)
        )
        found = (after - before) / 2e-6
        assert changes[one] == pytest.approx(found, abs=1e-4 * (1 + abs(found)))


def test_carriers_are_held_alone_or_elsewhere() -> None:
    start = np.array([0, 2, 4, 5], np.int64)
    value, number = np.array([0, 2, 0, 1, 0]), np.array([3, 5, 2, 4, 6])
    kind = np.array([0, 1, -1])
    alone, elsewhere = carriers_held(start, value, number, kind, 0)
    assert alone.tolist() == [3, 0, 0]
    assert elsewhere.tolist() == [0, 2, 6]


def test_a_limit_below_an_equal_share_asks_for_no_less() -> None:
    held = np.array([1], np.int32), np.zeros(1, np.int32)
    groups = Groups(
        np.array([0, 2]), np.array([0, 1], np.int32), np.array([1, 1]), np.array([1]), *held
    )
    assert groups.above(np.array([0.5, 0.5]), np.array([0.1, 0.1])) == 0
    assert groups.above(np.array([0.6, 0.4]), np.array([0.1, 0.1])) == 1


@pytest.mark.parametrize(
    ("share", "wrong"),
    [
        ([0.5, 0.5], False),
        ([0.051, 0.949], False),
        ([0.048, 0.952], True),
        ([0.5, 0.4], True),
        ([0.5, float("nan")], True),
    ],
)
def test_shares_are_a_group_s_carriers_and_none_is_nothing(share: list[float], wrong: bool) -> None:
    held = np.array([1], np.int32), np.zeros(1, np.int32)
    groups = Groups(
        np.array([0, 2]), np.array([0, 1], np.int32), np.array([1, 1]), np.array([1]), *held
    )
    assert groups.uneven(np.array(share)) == wrong
