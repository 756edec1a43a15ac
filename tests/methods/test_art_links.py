"""Posteriors of several carriers in a pure group, against every way in which they may carry."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
import pytest

from shoal.methods.art.kernels.links import drop_linked
from shoal.methods.art.kernels.links import posteriors as links
from tests.doors import door
from tests.oracle.worlds import NoWorld, binary_posterior

ROUNDING = 1e-14
"""Relative: nothing is subtracted, so that a posterior has lost a few last bits at most."""


posteriors = door(links)


def fast_posteriors(odds: Any, carriers: int) -> Any:
    answer = np.full(len(odds), np.nan)
    posteriors(np.asarray(odds, np.float64), carriers, answer)
    return answer


def slow_posteriors(odds: Any, carriers: int) -> list[Fraction]:
    """The share of the weight of the worlds in which each one carries."""
    exact = [Fraction(float(o)) for o in odds]
    worlds = {
        who: prod((exact[j] for j in who), start=Fraction(1))
        for who in combinations(range(len(exact)), carriers)
    }
    total = sum(worlds.values())
    if total == 0:
        raise NoWorld
    return [
        sum((weight for who, weight in worlds.items() if j in who), Fraction(0)) / total
        for j in range(len(exact))
    ]


def some_odds(seed: int, people: int) -> Any:
    """Over twelve decades, with equals and zeros among them in some cases."""
    rng = np.random.default_rng(seed)
    odds = 10.0 ** rng.uniform(-6, 6, people)
    if seed % 3 == 1:
        odds[: people // 2] = odds[0]
    if seed % 3 == 2:
        odds[rng.random(people) < 0.3] = 0.0
    return odds


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("carriers", [1, 2, 3, 4])
def test_posteriors_are_shares_of_worlds(seed: int, carriers: int) -> None:
    odds = some_odds(seed, 5 + seed % 6)
    try:
        true = slow_posteriors(odds, carriers)
    except NoWorld:
        assert fast_posteriors(odds, carriers).tolist() == [1.0] * len(odds)
        return
    found = fast_posteriors(odds, carriers)
    assert found == pytest.approx([float(p) for p in true], rel=ROUNDING, abs=0)
    assert found.sum() == pytest.approx(carriers, rel=ROUNDING * len(odds))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("carriers", [1, 2, 3])
def test_they_are_those_of_the_binary_adversary(seed: int, carriers: int) -> None:
    chance = [Fraction(int(k), 64) for k in np.random.default_rng(seed).integers(1, 63, 7)]
    odds = [float(f / (1 - f)) for f in chance]
    true = [float(p) for p in binary_posterior(chance, carriers)]
    assert fast_posteriors(odds, carriers) == pytest.approx(true, rel=ROUNDING)


@pytest.mark.parametrize(
    ("odds", "carriers"),
    [
        ([1.0, 2.0, 3.0], 3),
        ([1.0, 2.0], 5),
        ([0.0, 0.0, 0.0], 1),
        ([0.0, 0.0, 0.0], 2),
        ([1.0, 0.0, 0.0, 0.0], 2),
        ([1e5, *[1e-9] * 40], 30),
        ([1.0] * 2400, 400),
        ([np.inf, 1.0, 1.0], 1),
        ([np.inf, 1.0, 1.0], 2),
        ([np.nan, 1.0, 1.0], 1),
    ],
    ids=["all", "more", "none", "none of two", "one of two", "small", "many", "sure", "2", "nan"],
)
def test_what_cannot_be_told_counts_as_certain(odds: list[float], carriers: int) -> None:
    """All carry, nobody can, or the sums leave the range of floating point."""
    assert fast_posteriors(odds, carriers).tolist() == [1.0] * len(odds)


@pytest.mark.parametrize("seed", range(20))
def test_groups_with_a_link_above_its_limit_are_marked(seed: int) -> None:
    """Lines of several people; some groups are of people who are alike, which are counted."""
    rng = np.random.default_rng(seed)
    lines = rng.integers(1, 4, 40)
    start = np.concatenate([[0], np.cumsum(lines)])
    row, number = rng.integers(0, 6, start[-1]), rng.integers(1, 4, start[-1])
    sizes = np.add.reduceat(number, start[:-1])
    carriers = np.minimum(rng.integers(1, 4, 40), sizes)
    odds, strength = some_odds(3 * seed, 6), rng.choice([2.0, 3.0, 1.5], 6)
    known = rng.integers(0, 2, (6, 2)) / 2
    safe = rng.random(40) < 0.9
    before = safe.copy()
    drop_linked(start, row, number, carriers, odds, strength, known, 1e-12, safe)
    for g, c in enumerate(carriers):
        mine = np.repeat(row[start[g] : start[g + 1]], number[start[g] : start[g + 1]])
        alike = len(np.unique(known[mine], axis=0)) == 1
        if alike:
            within = Fraction(int(c), len(mine)) * Fraction(strength[mine[0]]) <= 1
        elif c == len(mine):
            within = bool(strength[mine].max() <= 1)
        else:
            links = slow_posteriors(odds[mine], int(c))
            worst = max(float(p) * s for p, s in zip(links, strength[mine], strict=True))
            assert abs(worst - 1) > 1e-11
            within = worst <= 1
        assert safe[g] == (before[g] and within)
