"""The slow, obvious twin of judging releases together: every possible world of all people, held
against every group of every release. Nothing here may be imported from `shoal`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

POOL = "(other)"


@dataclass(frozen=True)
class Told:
    """One release: the group of each person (None: not published), and which groups are pooled."""

    groups: tuple[int | None, ...]
    pooled: frozenset[int] = frozenset()


def posteriors(
    chances: Sequence[dict[str, Fraction]],
    values: Sequence[str],
    releases: Sequence[Told],
    protected: Sequence[str],
    event: str,
    *,
    joint: bool,
) -> list[Fraction | None]:
    """Of each person, the chance of the event by all releases; None for whoever is in none. The
    binary reader tells the event from all else, in what is known and in what is published."""
    inside = [j for j in range(len(values)) if any(one.groups[j] is not None for one in releases)]
    if joint:
        known, truth = list(chances), list(values)
    else:
        known = [{event: row[event], POOL: 1 - row[event]} for row in chances]
        truth = [value if value == event else POOL for value in values]
    names = sorted({name for row in known for name in row})
    wanted = _published(releases, truth, protected, inside)
    total, having = Fraction(0), [Fraction(0)] * len(values)
    for given in product(names, repeat=len(inside)):
        world = list(truth)
        for j, name in zip(inside, given, strict=True):
            world[j] = name
        if _published(releases, world, protected, inside) != wanted:
            continue
        weight = prod((known[j][world[j]] for j in inside), start=Fraction(1))
        total += weight
        for j in inside:
            having[j] += weight * (world[j] == event)
    return [having[j] / total if j in inside else None for j in range(len(values))]


def _published(
    releases: Sequence[Told], world: Sequence[str], protected: Sequence[str], inside: Sequence[int]
) -> list[dict[int, Counter[str]]]:
    """What every group of every release holds in a world."""
    told = []
    for one in releases:
        held: dict[int, Counter[str]] = {}
        for j in inside:
            group = one.groups[j]
            if group is not None:
                hidden = group in one.pooled and world[j] not in protected
                held.setdefault(group, Counter())[POOL if hidden else world[j]] += 1
        told.append(held)
    return told
