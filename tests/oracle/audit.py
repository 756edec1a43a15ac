"""The slow, obvious twin of the auditor: from plain rows, with counters, fractions and every
possible world. Nothing here may be imported from `shoal`; all results are exact fractions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from tests.oracle.worlds import binary_posterior, joint_posterior

POOL = "(other)"
Distribution = dict[str, Fraction]


@dataclass(frozen=True)
class Protected:
    """A protected event: what it is called, its values, its own r."""

    label: str
    values: tuple[str, ...]
    r: Fraction


@dataclass(frozen=True)
class Case:
    """Rows of QI values, what they hold, which group each is in (None: not published)."""

    people: list[tuple[str, ...]]
    values: list[str]
    groups: list[int | None]
    events: list[Protected]
    min_support: int
    members: bool = False
    pooled: frozenset[int] = frozenset()
    joint: bool = True
    prior: bool = False
    """Whether links may be as strong as they were in the view before publication."""


@dataclass(frozen=True)
class Findings:
    posterior: list[dict[str, Fraction]]
    """For each row, its largest posterior over views of every event that its group holds."""
    problematic: list[bool]
    tied: list[bool]
    """Rows with a posterior exactly at the limit among people who are not all alike to the
    adversary: floating point cannot tell these from a breach."""
    guess_rate: dict[tuple[int, ...], Fraction]
    """By view (positions of its QIs): groups whose carriers nobody knew above 1/r before."""
    average_delta: Fraction
    known_before: int


def audit(case: Case) -> Findings:
    """Judges a grouping by writing everything down."""
    shown = [_shown(case, value) for value in case.values]
    views = _views(case, shown)
    size = len(case.people)
    posterior: list[dict[str, Fraction]] = [{} for _ in range(size)]
    problematic, tied = [False] * size, [False] * size
    known = [
        {
            event.label: max(_chance(case, event, view[j]) for view in views.values()) * event.r > 1
            for event in case.events
        }
        for j in range(size)
    ]
    groups = sorted({group for group in case.groups if group is not None})
    rates, deltas = {}, []
    for name, view in views.items():
        right, made = Fraction(0), 0
        for group in groups:
            inside = [j for j in range(size) if case.groups[j] == group]
            for event in case.events:
                chances = [_chance(case, event, view[j]) for j in inside]
                deltas.append(max(chances) - min(chances))
                carriers = [j for j in inside if case.values[j] in event.values]
                if not carriers:
                    continue
                linked = _linked(case, event, group, inside, view, shown)
                alike = len({tuple(view[j].items()) for j in inside}) == 1
                for j, p, before in zip(inside, linked, chances, strict=True):
                    posterior[j][event.label] = max(p, posterior[j].get(event.label, Fraction(0)))
                    limit = max(1 / event.r, before) if case.prior else 1 / event.r
                    problematic[j] |= p > limit
                    tied[j] |= p == limit and not alike
                if any(known[j][event.label] for j in carriers):
                    continue
                leaders = [j for j, p in zip(inside, linked, strict=True) if p == max(linked)]
                right += Fraction(len(set(leaders) & set(carriers)), len(leaders))
                made += 1
        rates[name] = right / made if made else Fraction(0)
    for group in groups if not case.prior else ():
        inside = [j for j in range(size) if case.groups[j] == group]
        for event in case.events:
            # In the view of the whole table all are alike.
            share = Fraction(sum(case.values[j] in event.values for j in inside), len(inside))
            for j in inside if share else ():
                posterior[j][event.label] = max(share, posterior[j][event.label])
                problematic[j] |= share > 1 / event.r
    return Findings(
        posterior,
        problematic,
        tied,
        rates,
        sum(deltas, Fraction(0)) / len(deltas),
        sum(any(known[j].values()) for j in range(size) if case.groups[j] is not None),
    )


def _linked(
    case: Case,
    event: Protected,
    group: int,
    inside: Sequence[int],
    view: list[Distribution],
    shown: list[str],
) -> list[Fraction]:
    """Everybody's posterior of one event in one group."""
    if not case.joint:
        count = sum(case.values[j] in event.values for j in inside)
        return binary_posterior([_chance(case, event, view[j]) for j in inside], count)  # type: ignore[return-value]
    pooled = group in case.pooled
    held = [POOL if pooled and not _is_protected(case, shown[j]) else shown[j] for j in inside]
    names = sorted(set(held))
    rows = [[_published_chance(case, name, view[j]) for name in names] for j in inside]
    found = joint_posterior(rows, [names.index(value) for value in held])
    mine = [names.index(name) for name in names if name in _labels(case, event)]
    return [sum((row[v] for v in mine), Fraction(0)) for row in found]  # type: ignore[misc]


def _views(case: Case, shown: list[str]) -> dict[tuple[int, ...], list[Distribution]]:
    """For each view with a signature that is large enough: everybody's distribution."""
    whole = _shares(Counter(shown))
    views = {}
    width = len(case.people[0])
    for names in [c for k in range(1, width + 1) for c in combinations(range(width), k)]:
        held: dict[tuple[str, ...], Counter[str]] = {}
        for person, value in zip(case.people, shown, strict=True):
            held.setdefault(tuple(person[i] for i in names), Counter())[value] += 1
        large = {s: _shares(c) for s, c in held.items() if c.total() >= case.min_support}
        if large:
            views[names] = [
                large.get(tuple(person[i] for i in names), whole) for person in case.people
            ]
    return views or {(): [whole] * len(case.people)}


def _shares(counts: Counter[str]) -> Distribution:
    return {value: Fraction(count, counts.total()) for value, count in sorted(counts.items())}


def _shown(case: Case, value: str) -> str:
    for event in case.events:
        if value in event.values and not case.members and len(event.values) > 1:
            return event.label
    return value


def _labels(case: Case, event: Protected) -> set[str]:
    return {_shown(case, value) for value in event.values}


def _is_protected(case: Case, shown: str) -> bool:
    return any(shown in _labels(case, event) for event in case.events)


def _chance(case: Case, event: Protected, known: Distribution) -> Fraction:
    return sum((known.get(label, Fraction(0)) for label in _labels(case, event)), Fraction(0))


def _published_chance(case: Case, name: str, known: Distribution) -> Fraction:
    if name != POOL:
        return known.get(name, Fraction(0))
    return 1 - sum((_chance(case, event, known) for event in case.events), Fraction(0))
