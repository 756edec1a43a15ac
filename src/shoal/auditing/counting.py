"""What counting tells of whole classes, which no posterior of one group shows.

A class is made of people who are alike in a view and whose distribution is known; with the table's
size, that distribution is a count: of the n people of the class k carry the event. Two promises:

- the *counter*: carriers are among the m people of their class who are in groups that hold the
  event (or are missing, where a carrier is), so that m is at least r k, or the whole class, or as
  many as earlier releases leave;
- *absence*: of the people of a class who are missing at most one in r carries, or the class's own
  share where that is the limit, or the whole class is missing.

Who is *certain* to carry is counted group by group: a group that publishes c carriers has at most c
of the class, and no more than it has people of it. If the groups have room for k of them and no
more, every group has as many as it has room for; and where that is all its people of the class,
each of them carries. Whoever is missing is in one more group, with the carriers that are not
published.

A fitted model has no classes: its chances are beliefs, not counts, and readers alone weigh them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Bools, Floats, IntArray, Ints, Whole
from shoal.auditing.adversaries.judging import Case, Earlier
from shoal.auditing.kernels import count_held, count_people, room_for_carriers
from shoal.data.spec.spec import support_for
from shoal.data.table import Table
from shoal.data.table.table import Cells
from shoal.knowledge import (
    Knowledge,
    View,
    attribute_codes,
    event_chances,
    known_attributes,
    known_values,
)

SHOWN_CLASSES = 20
"""So many classes, the worst, stand in plain data."""


@dataclass(frozen=True)
class TellingClass:
    """A class whose carriers are linked above the limit: so many of them among so many people."""

    ALSO: ClassVar = ("certain",)
    event: str
    view: tuple[str, ...]
    described: str
    """Whom it consists of: the values of the view's attributes."""
    people: int
    """How many the table has of them."""
    carriers: float
    """How many carriers are told of; a fraction where that is not the table's own count."""
    among: int
    """Among how many of the class they are known to be."""
    needed: int
    """Among how many they would have to be."""

    @property
    def certain(self) -> bool:
        return self.carriers >= self.among


@dataclass(frozen=True)
class Counting:
    """One of the two promises: kept, or in which classes it fails."""

    carriers: int
    """People with an event who are in a class that fails for it."""
    certain: int
    """Those of them who are linked with certainty in some class."""
    classes: tuple[TellingClass, ...]
    """The classes that fail, the worst first."""
    nearest: tuple[float, float] | None = None
    """Of the class that comes nearest to failing, or fails most: which share of the people in
    question carry the event, and which may. None where no class has anybody in question."""
    excepted: int | None = None
    """Where releases came before: carriers, of the view that has most, of classes of which these
    leave too few in question."""

    @property
    def kept(self) -> bool:
        return not self.classes

    @property
    def certain_classes(self) -> int:
        return sum(one.certain for one in self.classes)

    def in_one_view(self, *, certain: bool = False) -> int:
        """The carriers of the failing classes of one view, in the view that has most: anybody who
        knows the distributions can count them. (`carriers`, over all views, would tell more: how
        many carriers two classes have in common.)"""
        by_view: dict[tuple[str, ...], float] = {}
        for one in self.classes:
            if one.certain or not certain:
                by_view[one.view] = by_view.get(one.view, 0.0) + one.carriers
        return math.ceil(max(by_view.values(), default=0.0) - OWN_COUNT)


def count_classes(case: Case, knowledge: Knowledge) -> Counting:
    """The counter's promise. It takes the published tables and the distributions, no more."""
    table = case.table
    found = _counting(table, table.cells, lambda event: _in_groups(case, knowledge, event))
    return found if case.earlier is not None else replace(found, excepted=None)


def count_missing(case: Case, knowledge: Knowledge, missing: Cells) -> Counting:
    """The promise on absence; `missing` are the people who are not published. The whole table is a
    class too."""
    views = (_everybody(case.table), *knowledge.class_views)
    found = _counting(case.table, missing, lambda event: _gone(case, views, missing, event))
    return replace(found, excepted=None)


def _everybody(table: Table) -> View:
    """The whole table as one class."""
    whole = known_values(table).value_rows / table.rows
    return View((), np.ones(len(table.signatures), np.int32), np.stack([whole, whole]))


class _Judged(NamedTuple):
    """The classes of a view, judged for one event: carriers among people, and among how many they
    have to be. The first stands for whoever is in no class that is known, and never fails."""

    view: View
    people: Floats
    carriers: Floats
    among: Floats
    needed: Floats
    alone: Floats
    """Among how many they would have to be if no release came before."""

    @property
    def fails(self) -> Bools:
        fails = (self.among > 0) & (self.among < self.needed)
        fails[0] = False
        return fails

    @property
    def excepted(self) -> float:
        """Carriers of classes that fail but for what releases before left of them."""
        few = (self.among > 0) & (self.among < self.alone) & ~self.fails
        return float(self.carriers[1:][few[1:]].sum())

    @property
    def nearest(self) -> tuple[float, float, float]:
        """Of the class that comes nearest to failing: how near, the share of carriers, and which
        is allowed."""
        some = 1 + np.flatnonzero((self.among[1:] > 0) & (self.needed[1:] > 0))
        if not len(some):
            return 0.0, 0.0, 0.0
        near, share = self.needed[some] / self.among[some], self.carriers[some] / self.among[some]
        worst = np.lexsort((share, near))[-1]
        limit = self.carriers[some[worst]] / self.needed[some[worst]]
        return float(near[worst]), min(float(share[worst]), 1.0), float(limit)


def _in_groups(case: Case, knowledge: Knowledge, event: int) -> Iterator[_Judged]:
    """Carriers among the people of their class who are in groups that hold the event."""
    table, held = case.table, _candidates(case, event)
    before = table.signature_rows if case.before is None else _candidates(case.before, event)
    for view, people, carriers in _classes(table, knowledge.class_views, event):
        among, left = (_summed(view.index, some, len(people)) for some in (held, before))
        alone = np.minimum(people, case.event_r[event] * carriers)
        yield _Judged(view, people, carriers, among, np.minimum(left, alone), alone)


def _candidates(case: Case, event: int) -> Floats:
    """Of each signature: how many people are in groups that hold an event, or are missing where
    carriers are."""
    table, part = case.table, case.partition
    shown = count_held(*part.values.arrays, table.holds(event))
    held = count_people(
        part.pairs.start,
        part.copies,
        part.signature,
        part.pairs.count,
        shown,
        len(table.signatures),
    )
    if shown @ part.copies < table.event_rows[event]:
        held += table.signature_rows - part.signature_people
    return held


def _gone(case: Case, views: Sequence[View], missing: Cells, event: int) -> Iterator[_Judged]:
    """Missing carriers among the missing people of their class."""
    table, (signature, value, rows) = case.table, missing
    mine = np.flatnonzero(table.holds(event)[value])
    if not len(mine):
        return
    for view, people, carriers in _classes(table, views, event):
        among = _summed(view.index[signature], rows, len(people))
        gone = _summed(view.index[signature[mine]], rows[mine], len(people))
        needed = np.minimum(people, case.event_r[event] * gone)
        if case.limit == "prior":
            known = carriers > 0
            needed[known] = np.minimum(needed, gone * people / np.where(known, carriers, 1))[known]
        yield _Judged(view, people, gone, among, needed, needed)


def _classes(
    table: Table, views: Sequence[View], event: int
) -> Iterator[tuple[View, Floats, Floats]]:
    """Each view, the people of its classes, and how many of them carry the event by what is known:
    the table's own count, where it is that."""
    signature, value, rows = table.cells
    mine = np.flatnonzero(table.holds(event)[value])
    for view in views:
        size = len(view.distributions)
        people = _summed(view.index, table.signature_rows, size)
        own = _summed(view.index[signature[mine]], rows[mine], size)
        known = people * event_chances(view, table)[:, event]
        yield view, people, np.where(abs(known - own) < OWN_COUNT, own, known)


def _summed(places: Whole, people: NDArray[np.number], size: int) -> Floats:
    return np.bincount(places, people, size).astype(np.float64, copy=False)


def _counting(table: Table, counted: Cells, judged: Callable[[int], Iterator[_Judged]]) -> Counting:
    """All classes that fail for some event, and how many of the people counted carry it there."""
    signature, value, rows = counted
    classes: list[TellingClass] = []
    told = np.zeros((2, len(rows)), bool)  # whoever carries several events counts once
    nearest, excepted = (0.0, 0.0, 0.0), dict[tuple[str, ...], float]()
    for number, event in enumerate(table.events):
        marked = np.zeros((2, len(table.signatures)), bool)
        for one in judged(number):
            fails, nearest = one.fails, max(nearest, one.nearest)
            excepted[one.view.attributes] = excepted.get(one.view.attributes, 0.0) + one.excepted
            if fails.any():
                marked[0] |= fails[one.view.index]
                marked[1] |= (fails & (one.carriers >= one.among))[one.view.index]
                classes += _named(table, event.label, one, np.flatnonzero(fails))
        told |= table.holds(number)[value] & marked[:, signature]
    classes.sort(key=lambda one: (not one.certain, -one.needed / one.among, -one.carriers))
    some = nearest[1:] if nearest[0] else None
    most = math.ceil(max(excepted.values(), default=0.0) - OWN_COUNT)
    return Counting(int(rows[told[0]].sum()), int(rows[told[1]].sum()), tuple(classes), some, most)


def _named(table: Table, event: str, judged: _Judged, rows: Ints) -> Iterator[TellingClass]:
    """Some classes of a view, in words and figures."""
    for row, described in zip(rows, _described(table, judged.view, rows), strict=True):
        carriers = float(judged.carriers[row])
        yield TellingClass(
            event=event,
            view=judged.view.attributes,
            described=described,
            people=int(judged.people[row]),
            carriers=int(carriers) if carriers.is_integer() else carriers,
            among=int(judged.among[row]),
            needed=math.ceil(judged.needed[row]),
        )


def _described(table: Table, view: View, rows: Ints) -> list[str]:
    """Whom some classes of a view consist of, in words."""
    if not view.attributes:
        return ["everybody"] * len(rows)
    first = np.zeros(len(view.distributions), np.int64)
    first[view.index[::-1]] = np.arange(len(view.index))[::-1]
    coded: list[tuple[str, IntArray, tuple[str, ...]]] = [
        (name, *attribute_codes(table, name)) for name in known_attributes(table, view.attributes)
    ]
    return [
        ", ".join(f"{name} {labels[codes[first[row]]]}" for name, codes, labels in coded)
        for row in rows
    ]


OWN_COUNT = 1e-6
"""A class's carriers as a view has them are the table's own count if they are as near as this."""


def certain_people(case: Case, knowledge: Knowledge) -> int:
    """How many people, published or missing, are certain to carry some event by what is public, and
    were not before; in tables that publish what is true."""
    table, part = case.table, case.partition
    inside = np.zeros(len(part.signature), bool)
    away = np.zeros(len(table.signatures), bool)
    for event in range(len(table.events)):
        forced, gone = forced_carriers(case, knowledge, event)
        inside |= forced
        away |= gone
        if case.earlier is not None:
            forced, gone = forced_carriers(case.new, knowledge, event, case.earlier)
            inside[part.pairs.entries(np.flatnonzero(~case.told))[1]] |= forced
            away |= gone
    missing = table.signature_rows - part.signature_people
    return int(part.pair_people[inside].sum() + missing[away].sum())


def forced_carriers(
    case: Case, knowledge: Knowledge, event: int, before: Earlier | None = None
) -> tuple[Bools, Bools]:
    """The pairs of the partition all of whose people carry the event in every world that agrees
    with the carriers of some class; and the signatures whose missing people all do. Only classes
    whose carriers are as many as the table has of them are counted. Nobody is among them of whom
    some class tells it without the release, as all of it carry the event.

    With people published `before`, classes are what newcomers leave of those that were known then:
    whoever kept the counts has theirs by subtraction."""
    table, part = case.table, case.partition
    forced, gone = np.zeros(len(part.signature), bool), np.zeros(len(table.signatures), bool)
    known_before = np.zeros(len(table.signatures), bool)
    signature, value, rows = table.cells
    holds = table.holds(event)
    mine = np.flatnonzero(holds[value])
    carriers = count_held(*part.values.arrays, holds)
    everybody = table.signature_rows
    told = np.zeros((2, len(everybody)), np.int64)
    if before is not None:
        told = np.stack([before.people, before.cases[:, event]])
    lost = int(table.event_rows[event]) - int(told[1].sum()) - int(carriers @ part.copies)
    missing = everybody - case.partition.signature_people
    full = np.zeros(len(part.signature), bool)
    for view in knowledge.class_views:
        size, row = len(view.distributions), view.index[part.signature]
        room = room_for_carriers(
            part.pairs.start, part.copies, row, part.pairs.count, carriers, full, size
        )
        away = np.bincount(view.index, missing, size).astype(np.int64)
        room += np.minimum(away, lost)
        own = np.bincount(view.index[signature[mine]], rows[mine], size)
        people = np.bincount(view.index, everybody, size)
        sure = np.abs(people * event_chances(view, table)[:, event] - own) < OWN_COUNT
        if before is not None:
            there, cases = (np.bincount(view.index, one, size) for one in told)
            sure &= there >= (table.spec.min_support or support_for(int(told[0].sum())))
            own, people = own - cases, people - there
        counted = (room == own) & sure
        counted[0] = False
        known_before |= (counted & (own == people))[view.index]
        forced |= full & counted[row]
        gone |= (counted & (away > 0) & (away <= lost))[view.index]
    forced &= ~known_before[part.signature]
    return forced, gone & (missing > 0) & ~known_before
