"""Partners of groups, found column by column, are those that a slow search finds."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import pytest

from shoal.arrays import Floats, Ints
from shoal.groups.ragged import Ragged
from shoal.methods.art.columns import Columns
from shoal.methods.art.kernels.links import posteriors
from shoal.methods.art.kernels.unite import Lines, choose


def slow(sure: Ints, best: Ints, groups: list[list[int]], carriers: Ints, known: Columns) -> Ints:
    """By all worlds of each pair, in every column."""
    odds, strength = known.rows(np.arange(len(known)))
    free, found = [True] * len(groups), np.full(len(sure), -1)
    for place, a in enumerate(sure):
        for b in best[place]:
            if not (free[a] and free[b]) or a == b:
                continue
            both, count = groups[a] + groups[b], int(carriers[a] + carriers[b])
            links = [worlds(odds[both, w], count) * strength[both, w] for w in range(known.width)]
            if max(link.max() for link in links) <= 1.0 - 1e-6:
                free[a] = free[b] = False
                found[place] = b
                break
    return found


def worlds(odds: Floats, carriers: int) -> Floats:
    """Everybody's posterior, world by world."""
    total, mine = 0.0, np.zeros(len(odds))
    for world in combinations(range(len(odds)), carriers):
        weight = prod(odds[list(world)])
        total, mine[list(world)] = total + weight, mine[list(world)] + weight
    return mine / total


@pytest.mark.parametrize("seed", range(40))
def test_partners_are_the_first_that_leave_everybody_within_their_limits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds, columns = 12, 4
    odds = np.exp(rng.normal(-2, 0.3 + 0.1 * (seed % 4), (kinds, columns)))
    strength = rng.uniform(2.0, 2.8, (kinds, columns))
    known = Columns.one_by_one(odds, strength, odds.mean(axis=1))
    groups = [rng.choice(kinds, rng.integers(2, 6)).tolist() for _ in range(14)]
    carriers = rng.integers(1, 3, len(groups))
    sure = rng.permutation(len(groups))[:8]
    best = np.array([rng.permutation(len(groups)) for _ in sure])
    lines = Lines(
        Ragged.of_lengths(np.array([len(one) for one in groups])).start,
        np.concatenate(groups),
        np.ones(sum(map(len, groups)), np.int64),
        carriers,
    )
    taken = np.zeros(len(groups), bool)
    chosen = choose(sure, best, lines, known.weights, taken)
    assert chosen.tolist() == slow(sure, best, groups, carriers, known).tolist()
    assert taken.sum() == 2 * (chosen >= 0).sum()


def test_people_who_are_alike_are_counted() -> None:
    """One in r is allowed, to the last digit."""
    alike = Columns.one_by_one(np.full((1, 2), 0.1), np.full((1, 2), 3.0), np.full(1, 0.1))
    lines = Lines(np.array([0, 1, 2]), np.zeros(2, np.int64), np.array([3, 3]), np.array([1, 1]))
    pairs = np.array([0]), np.array([[1]])
    assert choose(*pairs, lines, alike.weights, np.zeros(2, bool)).tolist() == [1]
    more = lines._replace(number=np.array([3, 2]))
    assert choose(*pairs, more, alike.weights, np.zeros(2, bool)).tolist() == [-1]


@pytest.mark.parametrize(("limit", "joined"), [(2.0, True), (4.0, False)])
def test_many_carriers_are_weighed_as_the_strict_check_weighs_them(
    limit: float, joined: bool
) -> None:
    """Thirty of a hundred, odds a little apart: neither bound tells, so the sums do."""
    odds = np.linspace(0.9, 1.1, 10)[:, None]
    known = Columns.one_by_one(odds, np.full((10, 1), limit / 1.3), odds[:, 0])
    lines = Lines(
        np.array([0, 10, 20]), np.tile(np.arange(10), 2), np.full(20, 5), np.array([15, 25])
    )
    everybody = np.repeat(np.tile(odds[:, 0], 2), 5)
    link = np.empty(100)
    posteriors(everybody, 40, link)
    assert (link.max() * limit / 1.3 <= 1.0) == joined
    pairs = np.array([0]), np.array([[1]])
    chosen = choose(*pairs, lines, known.weights, np.zeros(2, bool)).tolist()
    assert chosen == ([1] if joined else [-1])


def test_sums_that_leave_floating_point_join_nothing() -> None:
    odds = np.array([[1.0], [1.01]])
    known = Columns.one_by_one(odds, np.full((2, 1), 1.9999), odds[:, 0])
    lines = Lines(np.array([0, 2, 4]), np.array([0, 1, 0, 1]), np.full(4, 500), np.full(2, 500))
    pairs = np.array([0]), np.array([[1]])
    assert choose(*pairs, lines, known.weights, np.zeros(2, bool)).tolist() == [-1]
