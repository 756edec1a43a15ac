"""Raked shares: who in a group is likelier to carry its event, by the totals that are published.

Equal shares treat everybody in a group alike, so that people who carry an event often lend carriers
to those whom they are grouped with. The totals say how many carriers each value of an attribute has
(release/totals.py). So a group's events are shared anew until everybody has one value, every group
as many of each kind as it publishes, and every value of an attribute as many carriers as its total
says. Of all ways to share that fit, iterative proportional fitting finds the one that is nearest to
equal shares (in relative entropy: Csiszar 1975).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from shoal.table import Column, IntArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
CLOSE, SCALINGS = 1e-4, 300
"""Scaling ends when no total moves by more than this part of it, or after so many rounds: totals of
a table of which people are missing need not fit its groups."""
ABOVE = 1e-3
"""A share is above a limit if it is so by more than this part of it: scaling is no closer."""
LEAST = 1e-9
"""Carriers who are shared out where a total says that there are none: a group keeps its events."""


class PublishedPeople(NamedTuple):
    """Lines of the QI table: the unit and the group of each, and for how many people it stands."""

    unit: IntArray
    group: Ints
    people: Ints


@dataclass(frozen=True, eq=False)
class Raked:
    """Everybody's share of each kind of value: kind 0 is no event, kind e + 1 is event e.

    A pair is of a group and the people of one unit in it; each has a share of every kind that its
    group holds.
    """

    pair_unit: Ints
    people: Ints
    """Of each pair."""
    pair: Ints
    kind: IntArray
    owner: Ints
    """Of each share: its pair, kind and group."""
    equal: Floats
    shared: Floats
    """Each share, summed over the pair's people: equal, and by totals."""

    @classmethod
    def of(
        cls,
        units: IntArray,
        lines: PublishedPeople,
        held: sparse.csr_array,
        value_event: IntArray,
        totals: Sequence[Floats],
    ) -> Raked:
        """`units` has the QI codes of each, `lines` are those of the QI table; `held` is groups x
        values; `value_event` gives the event of each value, or -1; `totals` are
        the carriers of each event by value of each column (`known_totals`)."""
        kinds = int(value_event.max(initial=-1)) + 2
        values = np.arange(len(value_event))
        of_value = sparse.csr_array(
            (np.ones(len(values)), (values, value_event + 1)), shape=(len(values), kinds)
        )
        by_kind = sparse.csr_array(held @ of_value)
        group = lines.group
        size, mixed = np.bincount(group, lines.people), (np.diff(by_kind.indptr) > 1)[group]
        pair_group, pair_unit, people = _pairs(
            group[mixed], lines.unit[mixed], lines.people[mixed], len(units)
        )
        pair, entry = _entries(by_kind, pair_group)
        kind, owner = by_kind.indices[entry], pair_group[pair]
        equal = people[pair] * by_kind.data[entry] / size[owner]
        alike = np.flatnonzero(~mixed)
        settled = _Settled(
            lines.unit[alike].astype(np.int64),
            by_kind.indices[by_kind.indptr[group[alike]]],
            lines.people[alike],
        )
        # Totals are of the whole table, from which carriers may be missing: of all alike, as far
        # as totals tell.
        told = np.max([np.nansum(known, axis=0) for known in totals if len(known)], axis=0)
        kept = np.minimum(1.0, by_kind.sum(axis=0)[1:] / np.maximum(told, 1.0))
        margins = [
            _Margin.of(units[:, place], known * kept, settled, (pair_unit[pair], kind))
            for place, known in enumerate(totals)
            if len(known)
        ]
        shared = _scaled(equal, pair, people, entry, by_kind.data, margins)
        return cls(pair_unit, people, pair, kind, owner, equal, shared)

    def cells(
        self, expected: sparse.csr_array, held: sparse.csr_array, value_event: IntArray
    ) -> sparse.csr_array:
        """units x values: the rows expected, from those that are `expected` with equal shares."""
        kinds = int(value_event.max(initial=-1)) + 2
        place = (self.pair_unit[self.pair], self.owner * kinds + self.kind)
        shape = (expected.shape[0], held.shape[0] * kinds)
        change = sparse.csr_array((self.shared - self.equal, place), shape=shape)
        cells = sparse.csr_array(expected + change @ _within_kind(held, value_event, kinds))
        cells.data = np.maximum(cells.data, 0.0)
        return cells

    def linked(self, event_r: Floats) -> int:
        """How many people have a share of an event above its 1/r."""
        strength = np.append(0.0, event_r)[self.kind]
        above = self.shared * strength > self.people[self.pair] * (1.0 + ABOVE)
        return int(self.people[np.unique(self.pair[above])].sum())


def known_totals(
    totals: pl.DataFrame, columns: Sequence[Column], events: Sequence[str]
) -> list[Floats]:
    """Per column, values x events: the carriers that the totals tell of, NaN where they tell none;
    nothing for a column of which they tell nothing."""
    number = {label: place for place, label in enumerate(events)}
    told = []
    for column in columns:
        code = {label: place for place, label in enumerate(column.labels)}
        lines = totals.filter(pl.col("attribute") == column.name)
        known = np.full((len(column), len(events)), np.nan)
        for value, event, count in lines.select("value", "event", "count").iter_rows():
            if value in code and event in number:
                known[code[value], number[event]] = count
        told.append(known if lines.height else np.empty((0, len(events))))
    return told


class _Settled(NamedTuple):
    """People whose kind is settled, since their group has one: their unit, kind and number."""

    unit: Ints
    kind: Ints
    people: Ints


@dataclass(frozen=True, eq=False)
class _Margin:
    """The totals of one column: the place of each share among them, and what each is to be."""

    place: Ints
    wanted: Floats
    """NaN where nothing is known."""

    @classmethod
    def of(
        cls,
        codes: IntArray,
        known: Floats,
        settled: _Settled,
        shares: tuple[Ints, Ints],
    ) -> _Margin:
        """From people whose kind is settled, and the units and kinds of shares to be found."""
        kinds = known.shape[1] + 1
        wanted = np.column_stack([np.full(len(known), np.nan), known]).ravel()
        width = codes.astype(np.int64) * kinds
        wanted -= np.bincount(width[settled.unit] + settled.kind, settled.people, len(wanted))
        return cls(width[shares[0]] + shares[1], np.where(wanted < LEAST, LEAST, wanted))

    def scales(self, shared: Floats) -> Floats:
        """By how much each total is to grow."""
        now = np.bincount(self.place, shared, len(self.wanted))
        scale = self.wanted / np.where(now > 0, now, np.nan)
        return np.where(np.isnan(scale), 1.0, scale)


def _scaled(
    equal: Floats,
    pair: Ints,
    people: Ints,
    entry: Ints,
    held: Floats,
    margins: Sequence[_Margin],
) -> Floats:
    """Scales shares until each total of the margins is met, each pair (of a group and a unit) has
    as many people as it is, and each entry (a group's kind of value) as many as the group holds;
    the latter to the last digit."""
    shared = equal
    for _ in range(SCALINGS):
        off = 0.0
        for margin in margins:
            scale = margin.scales(shared)
            shared = shared * scale[margin.place]
            off = max(off, float(np.abs(scale - 1.0).max()))
        shared = shared * (people / np.bincount(pair, shared))[pair]
        shared = shared * held[entry] / np.bincount(entry, shared)[entry]
        if off < CLOSE:
            break
    return shared


def _pairs(group: Ints, unit: IntArray, people: Ints, units: int) -> tuple[Ints, Ints, Ints]:
    """The distinct pairs of a group and a unit, and how many people each has."""
    keys, place = np.unique(group * units + unit, return_inverse=True)
    return *np.divmod(keys, units), np.bincount(place, people, len(keys)).astype(np.int64)


def _entries(by_kind: sparse.csr_array, pair_group: Ints) -> tuple[Ints, Ints]:
    """For each pair every kind that its group holds: the pair, and the place among the stored."""
    kinds = np.diff(by_kind.indptr)[pair_group]
    pair = np.repeat(np.arange(len(pair_group)), kinds)
    first = np.repeat(by_kind.indptr[pair_group] - np.cumsum(kinds) + kinds, kinds)
    return pair, np.arange(len(pair)) + first


def _within_kind(held: sparse.csr_array, value_event: IntArray, kinds: int) -> sparse.csr_array:
    """(group, kind) x values: the part of a group's kind that each of its values is."""
    group = np.repeat(np.arange(held.shape[0]), np.diff(held.indptr))
    place = group * kinds + value_event[held.indices] + 1
    shape = (held.shape[0] * kinds, held.shape[1])
    total = np.bincount(place, held.data, shape[0])
    return sparse.csr_array((held.data / total[place], (place, held.indices)), shape=shape)
