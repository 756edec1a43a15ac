"""Who can be looked up: how many people share each published combination of QI values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from shoal.arrays import IntArray, Ints
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
