"""Readable people from the definition, person by person."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

OTHER = "(other)"


def readable(people: Iterable[tuple[object, object, Sequence[str]]]) -> tuple[int, int]:
    """Of people as (group, attributes, published value of each sensitive column): how many are
    readable, and how many of these by their attributes."""
    everybody = list(people)
    held: dict[object, list[set[str]]] = {}
    where: dict[object, set[object]] = defaultdict(set)
    for group, attributes, values in everybody:
        sets = held.setdefault(group, [set() for _ in values])
        for seen, value in zip(sets, values, strict=True):
            seen.add(value)
        where[attributes].add(group)
    told = known = 0
    for group, attributes, _ in everybody:
        told += any(len(one) == 1 and OTHER not in one for one in held[group])
        mine = [held[one] for one in where[attributes]]
        together = [set.union(*sets) for sets in zip(*mine, strict=True)]
        known += any(len(one) == 1 and OTHER not in one for one in together)
    return told, known
