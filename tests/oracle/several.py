"""The slow, obvious twin of the auditor for several sensitive columns: from plain rows, with every
possible world. Nothing here may be imported from `shoal`; all results are exact fractions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from tests.oracle.worlds import binary_posterior, joint_posterior

NOTHING = "(other)"
Held = tuple[str, ...]
Event = dict[int, set[str]]
"""By column: the values that make it up."""


@dataclass(frozen=True)
class Case:
    """Rows of QI values, what they hold in each column, the group of each, pooled groups."""

    people: list[tuple[str, ...]]
    held: list[Held]
    groups: list[int]
    events: list[Event]
    min_support: int
    pooled: frozenset[int] = frozenset()


def largest_links(case: Case) -> dict[str, list[list[Fraction]]]:
    """By reader: rows x events, the largest posterior over views."""
    size, events = len(case.people), len(case.events)
    found = {
        reader: [[Fraction(0)] * events for _ in range(size)]
        for reader in ("joint", "binary", "together")
    }
    for classes in _views(case):
        for group in set(case.groups):
            inside = [j for j in range(size) if case.groups[j] == group]
            for e, event in enumerate(case.events):
                if not any(_carries(event, case.held[j]) for j in inside):
                    continue
                links = {
                    "joint": _alone(case, classes, inside, event, pooled=group in case.pooled),
                    "binary": _told(case, classes, inside, event),
                    "together": _together(case, classes, inside, event, group in case.pooled),
                }
                for reader, posteriors in links.items():
                    for j, p in zip(inside, posteriors, strict=True):
                        found[reader][j][e] = max(found[reader][j][e], p)
    return found


def _carries(event: Event, held: Held) -> bool:
    return any(held[c] in values for c, values in event.items())


def _views(case: Case) -> list[list[list[int]]]:
    """For each view, for everybody: the rows that they are known by."""
    width, everybody = len(case.people[0]), list(range(len(case.people)))
    views = []
    for names in [c for k in range(1, width + 1) for c in combinations(range(width), k)]:
        classes: dict[tuple[str, ...], list[int]] = {}
        for j, person in enumerate(case.people):
            classes.setdefault(tuple(person[i] for i in names), []).append(j)
        if any(len(rows) >= case.min_support for rows in classes.values()):
            mine = [classes[tuple(person[i] for i in names)] for person in case.people]
            views.append([rows if len(rows) >= case.min_support else everybody for rows in mine])
    return [*views, [everybody] * len(case.people)]


def _alone(
    case: Case, classes: list[list[int]], inside: list[int], event: Event, *, pooled: bool
) -> list[Fraction]:
    """The largest posterior of one column's part of the event, read with that column alone."""
    best = [Fraction(0)] * len(inside)
    for c, values in event.items():
        mine = [one.get(c, set()) for one in case.events]
        protected = set().union(*mine)

        def shown(j: int, c: int = c, protected: set[str] = protected) -> str:
            value = case.held[j][c]
            return NOTHING if pooled and value not in protected else value

        names = sorted({shown(j) for j in inside})
        if not set(names) & values:
            continue
        rows = []
        for j in inside:
            there = Counter(case.held[i][c] for i in classes[j])
            chance = {name: Fraction(there[name], there.total()) for name in names}
            if NOTHING in chance:
                chance[NOTHING] = 1 - Fraction(sum(there[v] for v in protected), there.total())
            rows.append([chance[name] for name in names])
        linked = joint_posterior(rows, [names.index(shown(j)) for j in inside])
        for place, row in enumerate(linked):
            total = sum((row[names.index(v)] for v in values if v in names), Fraction(0))
            best[place] = max(best[place], total)
    return best


def _told(case: Case, classes: list[list[int]], inside: list[int], event: Event) -> list[Fraction]:
    chances = []
    for j in inside:
        carriers = sum(_carries(event, case.held[i]) for i in classes[j])
        chances.append(Fraction(carriers, len(classes[j])))
    count = sum(_carries(event, case.held[j]) for j in inside)
    return binary_posterior(chances, count)  # type: ignore[return-value]


def _together(
    case: Case, classes: list[list[int]], inside: list[int], event: Event, pooled: bool
) -> list[Fraction]:
    """Combinations that enough people have are known by themselves, others by their mask; in a
    pooled group all are."""
    common = Counter(case.held)

    def kind(held: Held) -> tuple[str, Held]:
        if not pooled and common[held] >= case.min_support:
            return "whole", held
        return "mask", _mask(case, held)

    kinds = sorted({kind(case.held[j]) for j in inside})
    rows = []
    for j in inside:
        there = Counter(kind(case.held[i]) for i in classes[j])
        rows.append([Fraction(there[one], there.total()) for one in kinds])
    linked = joint_posterior(rows, [kinds.index(kind(case.held[j])) for j in inside])
    mine = [k for k, (_, held) in enumerate(kinds) if _carries(event, held)]
    return [sum((row[k] for k in mine), Fraction(0)) for row in linked]


def _mask(case: Case, held: Held) -> Held:
    return tuple(
        value if any(value in event.get(c, set()) for event in case.events) else NOTHING
        for c, value in enumerate(held)
    )
