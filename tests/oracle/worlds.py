"""The slow, obvious twin of the adversary: write every possible world down, weigh it, add up.

Equations 1 to 3 of the paper, word for word. Nothing here may be imported from
`shoal.auditing.adversaries`, its kernels included. Given Fractions, every result is an exact
Fraction.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import prod

Number = float | Fraction


class NoWorld(Exception):
    """The total weight of the possible worlds is zero."""


@lru_cache(maxsize=1024)
def worlds(multiset: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Every distinct way to hand a multiset of values out: one value per tuple."""
    if not multiset:
        return ((),)
    return tuple(
        (first, *rest)
        for first in sorted(set(multiset))
        for rest in worlds(_without(multiset, first))
    )


def _without(multiset: tuple[int, ...], one: int) -> tuple[int, ...]:
    at = multiset.index(one)
    return multiset[:at] + multiset[at + 1 :]


def weigh(
    distributions: Sequence[Sequence[Number]], values: Sequence[int]
) -> dict[tuple[int, ...], Number]:
    """Equation 1: the weight of each world is the product of its tuples' probabilities."""
    return {
        world: prod(row[value] for row, value in zip(distributions, world, strict=True))
        for world in worlds(tuple(sorted(values)))
    }


def joint_posterior(
    distributions: Sequence[Sequence[Number]], values: Sequence[int]
) -> list[list[Number]]:
    """Equations 2 and 3: the share of the weight of the worlds where tuple j gets value v."""
    weights = weigh(distributions, values)
    total = sum(weights.values())
    if total == 0:
        raise NoWorld
    posterior: list[list[Number]] = [[0 * total for _ in row] for row in distributions]
    for world, weight in weights.items():
        for j, value in enumerate(world):
            posterior[j][value] += weight
    return [[share / total for share in row] for row in posterior]


def binary_posterior(f: Sequence[Number], count: int) -> list[Number]:
    """The same for one event against the rest: a world says which `count` tuples have it."""
    weights = {
        having: prod(p if j in having else 1 - p for j, p in enumerate(f))
        for having in combinations(range(len(f)), count)
    }
    total = sum(weights.values())
    if total == 0:
        raise NoWorld
    return [
        sum((weight for having, weight in weights.items() if j in having), 0 * total) / total
        for j in range(len(f))
    ]
