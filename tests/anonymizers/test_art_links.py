"""Posteriors of several carriers in a pure group, against every way in which they may carry."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
import pytest

from shoal.anonymizers.art.kernels.links import largest_links, posteriors
from tests.oracle.worlds import NoWorld, binary_posterior

ROUNDING = 1e-14
"""Relative: nothing is subtracted, so that a posterior has lost a few last bits at most."""


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
def test_the_largest_links_of_many_groups(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 9, 12)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    carriers = rng.integers(1, np.minimum(sizes, 5))
    odds, strength = some_odds(3 * seed, int(starts[-1])), rng.uniform(1, 9, starts[-1])
    found = largest_links(odds, strength, starts, carriers, 1e-12)
    for g, c in enumerate(carriers):
        mine = slice(starts[g], starts[g + 1])
        true = max(
            float(p) * s
            for p, s in zip(slow_posteriors(odds[mine], int(c)), strength[mine], strict=True)
        )
        assert found[g] == pytest.approx(true, rel=1e-11)
        assert found[g] > true * (1 + 1e-14)  # rounded up, beyond what arithmetic may lose
