"""Filling cells up to safe groups: the choices of a slow twin, and all links in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from shoal.methods.art.columns import Columns
from shoal.methods.art.kernels.boxes import boxes_of
from shoal.methods.art.kernels.candidates import MARGIN, THRIFT, Candidates
from shoal.methods.art.kernels.fill import (
    ALMOST,
    CLOSE,
    RAISES,
    STRIDE,
    Filled,
    SeedArrays,
    Terms,
    fill,
)

SEEDS = range(30)
CARRIERS = [1, 2, 3, 4]
LIMITS = ["absolute", "prior"]


def some_people(seed: int, limit: str, spread: float = 0.5, kinds: int = 30) -> Candidates:
    """Kinds whose odds scatter, and what is asked for each: r, or less for those known before."""
    rng = np.random.default_rng(seed)
    odds = rng.lognormal(0, spread, (kinds, 4)) * rng.lognormal(-2, 1, 4)
    known = (limit == "prior") & (rng.random(odds.shape) < 0.2)
    strength = np.where(known, rng.uniform(1.2, 3.5, odds.shape), 3.5)
    place = np.log(odds).astype(np.float32)
    return people_of(odds, strength, place, rng.integers(0, 5, kinds))


def people_of(odds: Any, strength: Any, place: Any, free: Any) -> Candidates:
    """From kinds x columns."""
    weights = Columns.one_by_one(odds, strength, np.zeros(len(odds))).weights
    return Candidates(weights, boxes_of(place), free)


def odds_of(people: Candidates) -> Any:
    """kinds x columns."""
    return people.weights.odds.reshape(-1, len(people.free)).T


def strength_of(people: Candidates) -> Any:
    return people.weights.strength.reshape(-1, len(people.free)).T


def some_cells(seed: int, carriers: int, cells: int = 6, kinds: int = 30) -> SeedArrays:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(carriers + 1, carriers + 6, cells)
    start = np.concatenate([[0], np.cumsum(sizes)])
    return seeds_of(start, rng.integers(0, kinds, start[-1]), np.full(cells, carriers))


def seeds_of(start: Any, kind: Any, carriers: Any, copies: Any = None) -> SeedArrays:
    """Cells from the kind of each of their people, one of each unless told."""
    once = np.ones(len(carriers), np.int64) if copies is None else copies
    return SeedArrays(start, kind, np.ones(len(kind), np.int64), carriers, once)


def filled(seeds: SeedArrays, people: Candidates, terms: Terms) -> tuple[Any, Any, Any]:
    """Which seeds are safe, where the people added to each begin, and their kinds."""
    made = fill(seeds, people, terms)
    assert (made.copies == 1).all()
    safe = np.isin(np.arange(len(seeds.carriers)), made.seed)
    sizes = np.zeros(len(safe), np.int64)
    sizes[made.seed] = np.diff(made.start)
    return safe, np.concatenate([[0], np.cumsum(sizes)]), made.kind


def slow_worst(members: list[int], carriers: int, people: Candidates) -> Fraction:
    """The largest posterior over its limit, from the elementary symmetric sums in fractions."""
    worst = Fraction(0)
    for w in range(odds_of(people).shape[1]):
        odds = [Fraction(float(odds_of(people)[s, w])) for s in members]
        every = _sums(odds, carriers)[carriers]
        for j, s in enumerate(members):
            others = _sums(odds[:j] + odds[j + 1 :], carriers)[carriers - 1]
            worst = max(
                worst, odds[j] * others / every * Fraction(float(strength_of(people)[s, w]))
            )
    return worst


def _sums(odds: list[Fraction], most: int) -> list[Fraction]:
    sums = [Fraction(1)] + [Fraction(0)] * most
    for o in odds:
        for k in range(most, 0, -1):
            sums[k] += sums[k - 1] * o
    return sums


class SlowFill:
    """One group, one obvious step after another, in double precision."""

    def __init__(self, cell: list[int], carriers: int, people: Candidates, terms: Terms) -> None:
        self.cell, self.carriers, self.people, self.terms = cell, carriers, people, terms
        self.h = 0.0 if carriers == 1 else 1.0
        self.demand = odds_of(people) * strength_of(people) - self.h * odds_of(people)
        self.target = carriers * float(CLOSE)

    def state(self, members: list[int]) -> tuple[Any, Any]:
        """The sum and the largest demand of each column."""
        top, odds = self.demand[members].max(axis=0), odds_of(self.people)[members]
        return (odds / (top + self.h * odds)).sum(axis=0), top

    def gain(self, s: int, total: Any, top: Any) -> float:
        highest = np.maximum(top, self.demand[s])
        mine = odds_of(self.people)[s] / (highest + self.h * odds_of(self.people)[s])
        closed = np.minimum(total * top / highest + mine, self.target)
        closed -= np.minimum(total, self.target)
        return float((closed - float(THRIFT) * (mine - closed)).sum())

    def alike(self, members: list[int]) -> Any:
        """The columns in which all have the same odds and limits."""
        return (np.ptp(odds_of(self.people)[members], axis=0) == 0) & (
            np.ptp(strength_of(self.people)[members], axis=0) == 0
        )

    def is_over(self, members: list[int]) -> float:
        margin = 1 if self.alike(members).all() else 1 + MARGIN
        return float(slow_worst(members, self.carriers, self.people)) * margin

    def run(self) -> list[int] | None:
        members, left, raised = list(self.cell), self.people.free.copy(), 0
        most = len(self.cell) + max(self.terms.largest * self.carriers, self.terms.least)
        before = 0.0
        while True:
            total, top = self.state(members)
            alike = self.alike(members)
            wanted = np.where(alike, self.carriers * float(ALMOST), self.target)
            missing = max(0.0, float((1 - total / wanted).max()))
            exact = self.carriers > 1 or alike.any()
            if missing == 0 and exact and (worst := self.is_over(members)) > 1:
                raised += 1
                if raised > RAISES:
                    return None
                self.target *= max(1.01, min(1.1, worst))
                continue
            if missing == 0 and len(members) >= self.terms.least:
                return self.without_needless(members)
            added = len(members) - len(self.cell)
            if added % STRIDE == 0:
                slow = missing * STRIDE > (before - missing) * (most - len(members))
                if added > 2 * STRIDE and slow:
                    return None
                before = missing
            options = np.flatnonzero(left > 0)
            if not len(options) or len(members) == most:
                return None
            best = max(options, key=lambda s: self.gain(int(s), total, top))
            left[best] -= 1
            members.append(int(best))

    def without_needless(self, members: list[int]) -> list[int]:
        total, top = self.state(members)
        kept = list(members)
        for s in members[len(self.cell) :]:
            mine = odds_of(self.people)[s] / (top + self.h * odds_of(self.people)[s])
            if len(kept) > self.terms.least and (total - mine >= self.target).all():
                total = total - mine
                kept = kept[: len(self.cell)] + _without(kept[len(self.cell) :], s)
        return kept if len(kept) == len(members) or self.is_over(kept) <= 1 else members


def _without(added: list[int], s: int) -> list[int]:
    rest = list(added)
    rest.remove(s)
    return rest


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("carriers", CARRIERS)
@pytest.mark.parametrize("limit", LIMITS)
def test_one_seed_is_filled_as_by_the_slow_twin(seed: int, carriers: int, limit: str) -> None:
    people, terms = some_people(seed, limit), Terms(100, 20, 1 + 10 * (seed % 2))
    seeds = some_cells(seed, carriers, cells=1)
    twin = SlowFill(seeds.kind.tolist(), carriers, people._replace(free=people.free.copy()), terms)
    expected = twin.run()
    safe, _, added = filled(seeds, people, terms)
    assert safe.tolist() == [expected is not None]
    assert sorted(added) == sorted((expected or twin.cell)[len(twin.cell) :])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("carriers", CARRIERS)
@pytest.mark.parametrize("limit", LIMITS)
def test_groups_are_safe_and_nobody_is_used_twice(seed: int, carriers: int, limit: str) -> None:
    people = some_people(seed, limit, spread=0.2 + 0.05 * (seed % 8))
    seeds, terms, free = some_cells(seed, carriers), Terms(12, 30, 7), people.free.copy()
    safe, begin, added = filled(seeds, people, terms)
    assert begin[-1] == len(added)
    assert (people.free >= 0).all()
    assert (people.free + np.bincount(added, minlength=len(free))).tolist() == free.tolist()
    for i in range(len(safe)):
        mine, cell = added[begin[i] : begin[i + 1]], seeds.kind[seeds.start[i] : seeds.start[i + 1]]
        if not safe[i]:
            assert len(mine) == 0
            continue
        members = [*cell.tolist(), *mine.tolist()]
        assert slow_worst(members, carriers, people) <= 1
        assert terms.least <= len(members) <= len(cell) + terms.largest * carriers


@pytest.mark.parametrize("carriers", CARRIERS)
def test_a_seed_that_is_safe_stays_as_it_is(carriers: int) -> None:
    people = some_people(0, "absolute", spread=0.05)
    kind = np.arange(5 * carriers) % 30
    seeds = seeds_of(np.array([0, len(kind)]), kind, np.array([carriers]))
    assert slow_worst(kind.tolist(), carriers, people) < 1
    safe, begin, added = filled(seeds, people, Terms(50, 50, 1))
    assert (safe.tolist(), begin.tolist(), added.tolist()) == ([True], [0, 0], [])
    free = people.free.copy()
    safe, _, added = filled(seeds, people, Terms(50, 50, len(kind) + 3))
    assert (safe.tolist(), len(added)) == ([True], 3)
    assert people.free.sum() == free.sum() - 3


@pytest.mark.parametrize("carriers", CARRIERS)
@pytest.mark.parametrize("r", [2.0, 3.0, 2.5, 7.0])
def test_of_people_who_are_alike_as_many_as_r_asks_for_are_enough(carriers: int, r: float) -> None:
    needed = int(np.ceil(carriers * r))
    seeds = seeds_of(np.array([0, carriers]), np.zeros(carriers, np.int64), np.array([carriers]))
    odds, strength, place = np.full((1, 3), 0.3), np.full((1, 3), r), np.zeros((1, 1), np.float32)
    for free, enough in ((needed - carriers, True), (needed - carriers - 1, False)):
        people = people_of(odds, strength, place, np.array([free]))
        safe, _, added = filled(seeds, people, Terms(9, 50, 1))
        assert safe.tolist() == [enough]
        assert len(added) == (free if enough else 0)


def test_only_the_nearest_are_looked_at() -> None:
    """Of three free kinds one is far away: it is taken only if three are looked at."""
    odds, strength = np.ones((4, 1)), np.full((4, 1), 4.0)
    place = np.array([[0.0], [9.0], [1.0], [2.0]], np.float32)
    seeds = seeds_of(np.array([0, 1]), np.array([0]), np.array([1]))
    for length, found in ((2, False), (3, True)):
        people = people_of(odds, strength, place, np.array([0, 1, 1, 1]))
        safe, _, added = filled(seeds, people, Terms(length, 9, 1))
        assert safe.tolist() == [found]
        assert sorted(added) == ([1, 2, 3] if found else [])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("carriers", CARRIERS)
@pytest.mark.parametrize("limit", LIMITS)
def test_alike_seeds_are_filled_as_one_after_another(seed: int, carriers: int, limit: str) -> None:
    people = some_people(seed, limit, spread=0.2 + 0.05 * (seed % 8))
    people.free[:] *= 1 + seed % 5
    seeds, terms = some_cells(seed, carriers), Terms(12, 30, 7)
    copies = np.random.default_rng(seed).integers(1, 9, len(seeds.carriers))
    alone = people._replace(free=people.free.copy())
    each = np.repeat(np.arange(len(copies)), copies)
    cells = [seeds.kind[seeds.start[i] : seeds.start[i + 1]] for i in each]
    start = np.concatenate([[0], np.cumsum([len(cell) for cell in cells])])
    slow = fill(seeds_of(start, np.concatenate(cells), seeds.carriers[each]), alone, terms)
    fast = fill(seeds._replace(copies=copies), people, terms)
    assert people.free.tolist() == alone.free.tolist()
    expected = [(each[i], *mine) for i, mine in zip(slow.seed, told(slow), strict=True)]
    assert [
        (i, *mine)
        for i, mine, times in zip(fast.seed, told(fast), fast.copies, strict=True)
        for _ in range(times)
    ] == expected


def told(made: Filled) -> list[list[int]]:
    """The people added to each group."""
    return [made.kind[a:b].tolist() for a, b in zip(made.start[:-1], made.start[1:], strict=True)]


@pytest.mark.parametrize("carriers", CARRIERS)
@pytest.mark.parametrize("r", [2.0, 3.0, 2.5, 7.0])
def test_a_seed_of_one_kind_is_no_case_apart(carriers: int, r: float) -> None:
    """One entry of several people, or an entry for each."""
    odds, strength, place = np.full((1, 3), 0.3), np.full((1, 3), r), np.zeros((1, 1), np.float32)
    for size in range(carriers, int(r * carriers) + 3):
        kind, one = np.zeros(size, np.int64), np.ones(1, np.int64)
        each = seeds_of(np.array([0, size]), kind, np.array([carriers]))
        whole = SeedArrays(np.array([0, 1]), kind[:1], size * one, carriers * one, one)
        slow, fast = (
            fill(seeds, people_of(odds, strength, place, np.zeros(1, np.int64)), Terms(9, 50, 4))
            for seeds in (each, whole)
        )
        assert [one.tolist() for one in slow] == [one.tolist() for one in fast]
