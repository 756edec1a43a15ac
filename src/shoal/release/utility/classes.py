"""Counts by group of people: how many carry an event in each class of each view, as the table has
it and as a recipient of the release estimates it.

A class is what the adversary can know of: people who share the values of a view's attributes.
Recipients ask for the same people, so that an estimate that is far off here misleads them. They
also ask for bands of numbers and dates, of which few single ones have enough carriers: so eighths
of the people, by each attribute that has an order, are classes too, unless the spec has bands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Bools, Floats, IntArray, Ints
from shoal.data.table import Table
from shoal.data.table.bands import bands_of
from shoal.errors import InputError, InternalError
from shoal.knowledge import Knowledge, View, attribute_codes, attribute_qi, count_values
from shoal.release.utility.errors import Estimate
from shoal.release.utility.published import Published
from shoal.release.utility.workload import Queries, estimate_counts, estimate_errors

ENOUGH_CASES = 100
"""Classes with fewer carriers of an event are counted, not judged: chance alone moves them."""
FAR_OFF = 0.25
"""An estimate that is off by more than this part of the truth is called far off."""
EIGHTHS = 8


Masks = list[tuple[int, Bools]]
"""Which values are asked for, by the place of a QI."""


@dataclass(frozen=True)
class ClassError:
    """The carriers of one event in one class, and how many of them the release counts."""

    view: tuple[str, ...]
    values: tuple[str, ...]
    """What the class has in the view's attributes."""
    event: str
    carriers: int
    estimate: Estimate

    @property
    def covered(self) -> bool:
        """Whether the 95 % interval of the estimate holds the truth."""
        low, high = self.estimate.interval
        return low <= self.carriers <= high

    @property
    def error(self) -> float:
        """Relative to the truth: above 0 where the release counts too many."""
        return self.estimate / self.carriers - 1.0


@dataclass(frozen=True)
class ClassErrors:
    """All classes with enough carriers of an event, the worst first."""

    classes: tuple[ClassError, ...]
    smaller: int
    """Classes with a carrier, but fewer than are judged."""

    @classmethod
    def together(cls, several: Sequence[ClassErrors], fronts: Sequence[str]) -> ClassErrors:
        """Those of several sensitive columns, whose events then have `fronts` before them."""
        if len(several) == 1:
            return several[0]
        named = [
            replace(one, event=front + one.event)
            for errors, front in zip(several, fronts, strict=True)
            for one in errors.classes
        ]
        smaller = sum(errors.smaller for errors in several)
        return cls(tuple(sorted(named, key=lambda one: -abs(one.error))), smaller)

    @property
    def worst(self) -> ClassError | None:
        return self.classes[0] if self.classes else None

    @property
    def average(self) -> float | None:
        """The mean of the errors' sizes; None when there is no such class."""
        return float(np.abs(self._errors).mean()) if self.classes else None

    @property
    def far_off(self) -> int:
        """How many classes are off by more than a quarter."""
        return int((np.abs(self._errors) > FAR_OFF).sum())

    @property
    def far_off_share(self) -> float | None:
        return self.far_off / len(self.classes) if self.classes else None

    @property
    def covered(self) -> float | None:
        """The share of classes whose 95 % interval holds the truth."""
        inside = [one.covered for one in self.classes]
        return sum(inside) / len(inside) if inside else None

    @property
    def _errors(self) -> Floats:
        return np.array([one.error for one in self.classes])


@dataclass(frozen=True, eq=False)
class KnownClasses:
    """The classes with enough carriers of an event, as count queries."""

    names: tuple[tuple[tuple[str, ...], tuple[str, ...], str], ...]
    """View, values and event of each."""
    carriers: Ints
    queries: Queries
    smaller: int

    @classmethod
    def of(cls, table: Table, knowledge: Knowledge | None = None) -> KnownClasses:
        """The classes of all views that know any.
        Without knowledge, of the views that the table's spec describes."""
        knowledge = knowledge or _described(table)
        names, carriers, smaller = [], [], 0
        chosen: list[tuple[Masks, int]] = []
        alike: dict[str, tuple[int, IntArray]] = {}
        for view in knowledge.class_views:
            counts = _event_counts(table, view)
            smaller += int(((counts > 0) & (counts < ENOUGH_CASES)).sum())
            shown = [attribute_codes(table, name) for name in view.attributes]
            for number, event in np.argwhere(counts >= ENOUGH_CASES):
                somebody = int(np.argmax(view.index == number))
                values = tuple(labels[codes[somebody]] for codes, labels in shown)
                names.append((view.attributes, values, table.events[event].label))
                carriers.append(int(counts[number, event]))
                chosen.append((_alike(table, view.attributes, somebody, alike), int(event)))
        for place, band, inside in _eighths(table) if knowledge.of_the_table else ():
            counts = _band_counts(table, place, inside)
            smaller += int(((counts > 0) & (counts < ENOUGH_CASES)).sum())
            for event in np.flatnonzero(counts >= ENOUGH_CASES).tolist():
                names.append(((table.spec.qi[place],), (band,), table.events[event].label))
                carriers.append(int(counts[event]))
                chosen.append(([(place, inside)], event))
        return cls(tuple(names), np.array(carriers, np.int64), _queries(table, chosen), smaller)

    def errors(self, published: Published) -> ClassErrors:
        """What a recipient of the release makes of them."""
        if not self.names:
            return ClassErrors((), self.smaller)
        estimates = estimate_counts(published, self.queries)
        errors = estimate_errors(published, self.queries)
        found = [
            ClassError(*name, carriers, Estimate(estimate, error))
            for name, carriers, estimate, error in zip(
                self.names, self.carriers.tolist(), estimates.tolist(), errors, strict=True
            )
        ]
        found.sort(key=lambda one: -abs(one.error))
        return ClassErrors(tuple(found), self.smaller)


def _described(table: Table) -> Knowledge:
    """What the spec describes; where that is too much to list, the attributes one by one."""
    try:
        return Knowledge.of(table)
    except InputError as error:
        if error.code != "views-too-many":
            raise
        return Knowledge.from_table(replace(table, spec=table.spec.with_(max_attributes=1)))


def _event_counts(table: Table, view: View) -> Ints:
    """Classes x events: how many carry; nobody in class 0, of whose members nothing is known."""
    values = count_values(table, view.index, len(view.distributions))
    of_event = table.value_event[:, None] == np.arange(len(table.events))
    counts: Ints = (values @ of_event).astype(np.int64)
    counts[0] = 0
    return counts


def _eighths(table: Table) -> Iterator[tuple[int, str, Bools]]:
    """Bands of QIs with an order and more values than there are bands: the place of the QI, the
    band in words, and which of the QI's values are in it."""
    banded = {name for name, _ in table.spec.bands}  # of which the views know bands already
    for place, column in enumerate(table.qi):
        if not column.ordered or len(column) <= EIGHTHS or column.name in banded:
            continue
        band = bands_of(table, place, EIGHTHS)
        for number in np.unique(band[band > 0]):
            inside = band == number
            codes = np.flatnonzero(inside)
            if len(codes) > 1:
                yield place, f"{column.labels[codes[0]]} to {column.labels[codes[-1]]}", inside


def _band_counts(table: Table, place: int, inside: Bools) -> Ints:
    """Of each event: how many people in a band of a QI carry it."""
    signature, value, rows = table.cells
    event = table.value_event[value]
    mine = (event >= 0) & inside[table.signatures[signature, place]]
    return np.bincount(event[mine], rows[mine], len(table.events)).astype(np.int64)


def _alike(
    table: Table, attributes: Sequence[str], somebody: int, known: dict[str, tuple[int, IntArray]]
) -> Masks:
    """Who shares the attributes of the people of a signature."""
    masks = []
    for name in attributes:
        if name not in known:
            known[name] = _domain_codes(table, name)
        place, codes = known[name]
        masks.append((place, codes == codes[table.signatures[somebody, place]]))
    return masks


def _queries(table: Table, chosen: list[tuple[Masks, int]]) -> Queries:
    """One query for each class, as masks of QIs, and event."""
    allowed = [np.ones((len(column), len(chosen)), bool) for column in table.qi]
    members = np.zeros((len(table.members), len(chosen)), bool)
    event_of_member = table.value_event[table.member_value]
    for number, (masks, event) in enumerate(chosen):
        members[:, number] = event_of_member == event
        for place, inside in masks:
            allowed[place][:, number] &= inside
    return Queries(
        attributes=table.spec.qi,
        labels=tuple(column.labels for column in table.qi),
        allowed=tuple(allowed),
        sensitive_labels=table.members.labels,
        sensitive_allowed=members,
    )


def _domain_codes(table: Table, name: str) -> tuple[int, IntArray]:
    """Which QI an attribute is made of, and its code for each value of that QI's domain."""
    place = attribute_qi(table, name)
    if place is None:
        raise InternalError(f"no attribute {name}")
    codes = np.zeros(len(table.qi[place]), np.int32)
    codes[table.signatures[:, place]] = attribute_codes(table, name)[0]
    return place, codes
