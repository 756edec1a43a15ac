"""The slow, obvious twin of counting class by class: plain rows, sets and fractions. Nothing here
may be imported from `shoal`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

from tests.oracle.audit import Case, Protected


@dataclass(frozen=True)
class Told:
    """Rows of carriers in classes that fail, those who are certain, and the classes: event, view,
    values, people, carriers, among how many, among how many they would have to be."""

    carriers: set[int]
    certain: set[int]
    classes: set[tuple[str, tuple[int, ...], tuple[str, ...], int, int, int, int]]
    nearest: tuple[float, float] | None = None
    """Of the class that comes nearest to failing: the share of carriers, and what is allowed."""


def counter(case: Case) -> Told:
    """In every class at least min(n, r k) people are in groups that hold the event, or missing if
    a carrier of it is."""
    told, near = Told(set(), set(), set()), []
    for event in case.events:
        carriers = _carriers(case, event)
        before = {j for _, _, some in _classes(case) if some <= carriers for j in some}
        holding = {case.groups[j] for j in carriers} - {None}
        somebody_gone = any(case.groups[j] is None for j in carriers)
        for view, values, members in _classes(case):
            among = {
                j
                for j in members
                if case.groups[j] in holding or (case.groups[j] is None and somebody_gone)
            }
            mine = members & carriers
            needed = min(Fraction(len(members)), event.r * len(mine))
            if len(among) < needed:
                _add(told, (event.label, view, values), members, mine, among, needed)
            if among and mine:
                share = Fraction(len(mine), len(among))
                near.append((needed / len(among), float(share), float(len(mine) / needed)))
            told.certain.update(_forced(case, among, carriers, len(mine)))
        told.certain.difference_update(before)  # nobody has values of two events
    return replace(told, nearest=max(near)[1:] if near else None)


def _forced(case: Case, among: set[int], carriers: set[int], carrying: int) -> set[int]:
    """Who of `among` is in every choice of so many of them that takes no more from any group, and
    from the missing, than it has carriers."""
    people: dict[int | None, set[int]] = {}
    for j in among:
        people.setdefault(case.groups[j], set()).add(j)
    most = {
        group: min(len(some), sum(case.groups[j] == group for j in carriers))
        for group, some in people.items()
    }
    forced: set[int] = set()
    for group, some in people.items():
        sums = {0}
        for other, limit in most.items():
            if other != group:
                sums = {one + more for one in sums for more in range(limit + 1)}
        taken = {number for number in range(most[group] + 1) if carrying - number in sums}
        if taken == {len(some)}:
            forced |= some
    return forced


def absence(case: Case) -> Told:
    """Of the missing of every class, and of all missing, at most one in r carries (or the class's
    own share, if that is the limit), or the whole class is missing."""
    told = Told(set(), set(), set())
    everybody = set(range(len(case.people)))
    missing = {j for j in everybody if case.groups[j] is None}
    for event in case.events:
        carriers = _carriers(case, event)
        for view, values, members in [((), (), everybody), *_classes(case)]:
            gone = members & missing
            mine = gone & carriers
            if not mine or gone == members:
                continue
            limit = 1 / event.r
            if case.prior:
                limit = max(limit, Fraction(len(members & carriers), len(members)))
            if Fraction(len(mine), len(gone)) > limit:
                needed = min(Fraction(len(members)), len(mine) / limit)
                _add(told, (event.label, view, values), members, mine, gone, needed)
    return told


def _add(
    told: Told,
    name: tuple[str, tuple[int, ...], tuple[str, ...]],
    members: set[int],
    mine: set[int],
    among: set[int],
    needed: Fraction,
) -> None:
    told.classes.add((*name, len(members), len(mine), len(among), math.ceil(needed)))
    told.carriers.update(mine)
    if mine == among:
        told.certain.update(mine)


def _carriers(case: Case, event: Protected) -> set[int]:
    return {j for j, value in enumerate(case.values) if value in event.values}


def _classes(case: Case) -> Iterator[tuple[tuple[int, ...], tuple[str, ...], set[int]]]:
    """Every view, and in it every combination of values that enough people share."""
    width = len(case.people[0])
    for view in [c for k in range(1, width + 1) for c in combinations(range(width), k)]:
        held: dict[tuple[str, ...], set[int]] = {}
        for j, person in enumerate(case.people):
            held.setdefault(tuple(person[i] for i in view), set()).add(j)
        for values, members in held.items():
            if len(members) >= case.min_support:
                yield view, values, members
