"""Who can be looked up: how many people share each published combination of QI values; and who can
be read, because a release shows their value to whoever knows their group.

A group can be read if all its people are published with one value, in one of the sensitive columns
at least; "(other)" is no value. Some of its people are readable *by attributes* as well: if every
group with somebody of their attributes is published with that same value, whoever knows no more
than the attributes reads it too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from shoal.arrays import IntArray, Ints, Whole
from shoal.data.table import Table, factorize
from shoal.data.table.k_anonymity import Cost
from shoal.groups.grouping import Grouping
from shoal.groups.population import Population
from shoal.plain import UNSAID, typed

USUAL_K = 5
"""Fewer people than these are few, unless a spec says otherwise."""


@dataclass(frozen=True, kw_only=True)
class Few:
    """How many people show a combination of attributes that fewer than k show."""

    k: int
    people: int


@dataclass(frozen=True, kw_only=True)
class KCost:
    """What it cost that few people can be looked up."""

    k: int
    lost: dict[str, float]
    """The share of the information of each QI."""
    blanked: int
    """People who are published without attributes."""


@dataclass(frozen=True, kw_only=True)
class Lookup:
    """Who can be looked up by published attributes, as certificates say it."""

    asked: bool
    """Whether there should be nobody whose combination fewer than k share."""
    unique: int
    """People with a combination that nobody else has."""
    fewer_than: Few
    cost: KCost | None = field(default=None, metadata=UNSAID)
    population: Population | None = field(default=None, metadata=UNSAID)

    @classmethod
    def of(
        cls,
        sharing: Ints,
        people: Ints,
        k: int | None,
        cost: Cost | None = None,
        population: Population | None = None,
    ) -> Lookup:
        """From lines of so many people, of whom so many show the same."""
        few = USUAL_K if k is None else k
        return cls(
            asked=k is not None,
            unique=int(people[sharing == 1].sum()),
            fewer_than=Few(k=few, people=int(people[sharing < few].sum())),
            cost=k_cost(cost),
            population=population,
        )


def k_cost(cost: Cost | None) -> KCost | None:
    """What of it anybody may know."""
    return None if cost is None else typed(KCost, cost)


def lookup_of(
    table: Table, grouping: Grouping, *, k: int | None = None, exact: bool = True
) -> Lookup:
    """Who of a grouping can be looked up; k is the spec's, or else another. Of ranges it is not
    said how many people of the population they hold."""
    asked, found = table.spec.k if k is None else k, None
    if exact and not grouping.recodings:
        people = np.bincount(grouping.signature, grouping.people, len(table.signatures))
        found = Population.of(table, people.astype(np.int64))
    shown = sharing(table, grouping, exact=exact)
    return Lookup.of(shown, grouping.people, asked, table.cost, found)


def sharing(
    table: Table, grouping: Grouping, attributes: Sequence[int] | None = None, *, exact: bool = True
) -> Ints:
    """For each line, how many published people show the same in some QIs, or in all. Without
    `exact` and where ranges are not known each group shows something of its own."""
    places = range(len(table.qi)) if attributes is None else attributes
    shown = [_shown(table, grouping, place, exact=exact) for place in places]
    line, keys = factorize([codes for codes, _ in shown], [size for _, size in shown])
    return np.bincount(line, grouping.people, len(keys)).astype(np.int64)[line]


def _shown(table: Table, grouping: Grouping, place: int, *, exact: bool) -> tuple[IntArray, int]:
    """What lines show of one QI, in codes, and how many there may be."""
    if grouping.recodings:
        recoding = grouping.recodings[place]
        return recoding.node[grouping.group], len(recoding.labels)
    if exact:
        return table.signatures[grouping.signature, place], len(table.qi[place])
    return grouping.group, len(grouping.copies)


class Readable(NamedTuple):
    """How many people are readable."""

    people: int
    by_attributes: int
    """Those of them who are so to whoever knows their attributes alone."""


def readable_people(table: Table, grouping: Grouping) -> Readable:
    """Who is readable in a grouping."""
    value = grouping.published_values(table)
    group, signature = grouping.group, grouping.signature
    return count_readable(table, group, signature, grouping.people, group, value)


def count_readable(
    table: Table,
    group: Whole,
    signature: Whole,
    people: Ints,
    value_group: Whole,
    value: Whole,
) -> Readable:
    """From lines of people (of a group and signature, in all its copies) and lines of values that
    groups publish."""
    told, attributes = np.zeros((2, len(group)), bool)
    count = int(group.max(initial=-1)) + 1
    for code, other in _columns(table, value):
        held = _common(code, value_group, count)
        read = np.where(held < other, held, np.int32(-1))[group]
        told |= read >= 0
        attributes |= _common(read, signature, len(table.signatures))[signature] >= 0
    return Readable(int(people[told].sum()), int(people[attributes].sum()))


def _columns(table: Table, value: Whole) -> list[tuple[Whole, int]]:
    """What each sensitive column shows on each line, and which code stands for "(other)"."""
    if table.several is None:
        return [(value, len(table.values))]
    codes = table.several.codes[value]
    return [(codes[:, c], len(one.values)) for c, one in enumerate(table.several.columns)]


def _common(code: Whole, owner: Whole, count: int) -> IntArray:
    """The code that all lines of an owner share, or -1."""
    low, high = np.full(count, np.iinfo(np.int32).max, np.int32), np.full(count, -1, np.int32)
    np.minimum.at(low, owner, code.astype(np.int32))
    np.maximum.at(high, owner, code.astype(np.int32))
    return np.where(low == high, low, np.int32(-1)).astype(np.int32)
