"""How much the adversary is assumed to know, and where that is so little that a
verdict says little.

A *stratum* is a combination of attribute values whose distribution is known. A QI counts as known
where, in some view, strata that differ by it hold half of the people; if it stands alone in a view,
that one decides. Where half of the QIs or more are not known, the promise is *hollow*: whoever
knows no more than the whole table's distribution is answered by nearly any groups.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb
from typing import Any, ClassVar

import numpy as np

from shoal.data.spec import support_for
from shoal.data.table import Table
from shoal.display import counted
from shoal.knowledge.attributes import attribute_codes, attribute_qi, known_attributes
from shoal.knowledge.knowledge import Knowledge
from shoal.plain import plain
from shoal.wording import listed, people, percent

ENOUGH = 0.5
"""The share of the people who are in strata by a QI that counts as known."""

_NONE: frozenset[int | None] = frozenset()


@dataclass(frozen=True)
class Assumed:
    """What the adversary is taken to know of a table, in figures."""

    ALSO: ClassVar = ("hollow",)
    min_support: int | None
    """The least people of a stratum; None where knowledge comes from outside."""
    usual: int
    """What min_support would be by the table's size."""
    views: int
    strata: int
    """In all views together."""
    people: int
    """How many are in a stratum of some view."""
    rows: int
    qi: int
    unknown: tuple[str, ...]
    """The QIs by which nearly nothing is known."""
    empty: int = 0
    """Sets of attributes that are no views, since no combination of their values has min_support
    people."""

    @classmethod
    def of(cls, table: Table, knowledge: Knowledge) -> Assumed:
        inside = np.zeros(len(table.signatures), bool)
        for view in knowledge.views:
            if not inside.all():
                inside |= view.index > 0
        about = [known_attributes(table, view.attributes) for view in knowledge.class_views]
        places = [[attribute_qi(table, name) for name in names] for names in about]
        alone = {some[0] for some in places if len(some) == 1}
        known = set[int | None](range(len(table.qi)) if knowledge.models else ())
        for view, names, some in zip(knowledge.class_views, about, places, strict=True):
            wanted = [
                (place, name)
                for place, name in zip(some, names, strict=True)
                if place not in known and (len(names) == 1 or place not in alone)
            ]
            held = view.index > 0
            if not wanted or table.signature_rows[held].sum() < ENOUGH * table.rows:
                continue
            for place, name in wanted:
                if len(np.unique(attribute_codes(table, name)[0][held])) > 1:
                    known.add(place)
        return cls(
            min_support=table.min_support if knowledge.of_the_table else None,
            usual=support_for(table.rows),
            views=len(knowledge.views),
            strata=sum(len(view.distributions) - 1 for view in knowledge.class_views),
            people=int(table.signature_rows[inside].sum()),
            rows=table.rows,
            qi=len(table.qi),
            unknown=tuple(
                column.name for place, column in enumerate(table.qi) if place not in known
            ),
            empty=_empty(table, knowledge),
        )

    @property
    def hollow(self) -> bool:
        """Whether the promise is: half of the QIs or more are not known."""
        return 2 * len(self.unknown) >= self.qi

    @property
    def words(self) -> str:
        """What the adversary is taken to know, in figures."""
        support, share = self.min_support, percent(self.people / self.rows)
        size = "" if support is None else f" of at least {people(support)} (min_support)"
        told = (
            f"The adversary has statistics on {counted(self.strata, 'stratum', 'strata')}{size}, "
            f"in {counted(self.views, 'view')}; {share} of the people are in one."
        )
        if support is not None and self.empty:
            sets = counted(self.empty, "more set")
            told += f" Of {sets} of attributes no combination of values has {people(support)}."
        return told.replace("\u00a0", " ")

    @property
    def hollow_words(self) -> str:
        """Why the promise is hollow; empty where it is not."""
        if not self.hollow:
            return ""
        why = "of which the knowledge given says too little"
        if self.min_support is not None:
            why = f"since strata of at least {people(self.min_support)} (min_support) are too few"
            if self.min_support > self.usual:
                why += f"; for {self.rows:,} rows it is usually {self.usual}"
        return (
            "This verdict says little: the adversary is assumed to know nearly nothing by "
            f"{listed(self.unknown)} ({len(self.unknown)} of {self.qi} QIs), {why}."
        )

    @property
    def sentences(self) -> list[str]:
        """Both."""
        return [one for one in (self.words, self.hollow_words) if one]

    def public(self) -> dict[str, Any]:
        """What a certificate says beside min_support and the views."""
        told = plain(self)
        return {name: told[name] for name in ("strata", "people", "unknown", "hollow")}


def _empty(table: Table, knowledge: Knowledge) -> int:
    """How many sets of attributes nobody has statistics by."""
    if not knowledge.of_the_table:
        return 0

    def of_qis(views: Iterable[Iterable[str]]) -> set[frozenset[int | None]]:
        return {frozenset(attribute_qi(table, one) for one in names) for names in views} - {_NONE}

    spec, known = table.spec, of_qis(view.attributes for view in knowledge.class_views)
    if spec.views is not None:
        return len(of_qis(spec.views) - known)
    most = min(spec.max_attributes or len(spec.qi), len(spec.qi))
    return sum(comb(len(spec.qi), size) for size in range(1, most + 1)) - len(known)
