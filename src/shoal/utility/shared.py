"""How the values of groups are shared among their people, equally or otherwise.

A kind of value is an event, or everything outside all events. Of every kind that a group holds each
of its people has a share, and all shares of a kind are as many as the group holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shoal.table import IntArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
ABOVE = 1e-3
"""A share is above a limit if it is so by more than this part of it: scaling is no closer."""


class PublishedPeople(NamedTuple):
    """Lines of the QI table: the unit and the group of each, and for how many people it stands."""

    unit: IntArray
    group: Ints
    people: Ints


class Settled(NamedTuple):
    """People whose kind is settled, since their group has one: their unit, kind and number."""

    unit: Ints
    kind: Ints
    people: Ints


@dataclass(frozen=True, eq=False)
class Shared:
    """Everybody's share of each kind of value: kind 0 is no event, kind e + 1 is event e.

    A pair is of a group and the people of one unit in it; each has a share of every kind that its
    group holds. Groups that hold one kind only are settled, and not among the pairs.
    """

    pair_unit: Ints
    people: Ints
    """Of each pair."""
    pair: Ints
    kind: IntArray
    owner: Ints
    """Of each share: its pair, kind and group."""
    entry: Ints
    """Of each share: the place of its group's kind in `by_kind`."""
    by_kind: sparse.csr_array
    """groups x kinds: how many of each are held."""
    equal: Floats
    shared: Floats
    """Each share, summed over the pair's people: equal, and as it is."""
    settled: Settled

    @classmethod
    def equally(
        cls, units: int, lines: PublishedPeople, held: sparse.csr_array, value_event: IntArray
    ) -> Shared:
        """There are so many `units`, `lines` are those of the QI table; `held` is groups x values;
        `value_event` gives the event of each value, or -1."""
        kinds = int(value_event.max(initial=-1)) + 2
        values = np.arange(len(value_event))
        of_value = sparse.csr_array(
            (np.ones(len(values)), (values, value_event + 1)), shape=(len(values), kinds)
        )
        by_kind = sparse.csr_array(held @ of_value)
        by_kind.sort_indices()
        group = lines.group
        size, mixed = np.bincount(group, lines.people), (np.diff(by_kind.indptr) > 1)[group]
        pair_group, pair_unit, people = _pairs(
            group[mixed], lines.unit[mixed], lines.people[mixed], units
        )
        pair, entry = _entries(by_kind, pair_group)
        kind, owner = by_kind.indices[entry], pair_group[pair]
        equal = people[pair] * by_kind.data[entry] / size[owner]
        alike = np.flatnonzero(~mixed)
        settled = Settled(
            lines.unit[alike].astype(np.int64),
            by_kind.indices[by_kind.indptr[group[alike]]],
            lines.people[alike],
        )
        return cls(pair_unit, people, pair, kind, owner, entry, by_kind, equal, equal, settled)

    def of_pairs(self, lines: PublishedPeople, units: int, amounts: Floats) -> Floats:
        """What lines have, added up over the lines of each pair."""
        group = np.zeros(len(self.people), np.int64)
        group[self.pair] = self.owner
        keys, wanted = group * units + self.pair_unit, lines.group * units + lines.unit
        place = np.searchsorted(keys, wanted).clip(max=max(0, len(keys) - 1))
        mine = np.flatnonzero(keys[place] == wanted) if len(keys) else np.empty(0, np.int64)
        return np.bincount(place[mine], amounts[mine], len(keys)).astype(np.float64)

    def with_shares(self, shared: Floats) -> Shared:
        return replace(self, shared=shared)

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
