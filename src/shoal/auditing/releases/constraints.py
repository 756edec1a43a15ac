"""What some releases say of one table's rows: who is with whom, and which values they have.

Groups that several releases publish alike are one. Groups of different releases that share people
overlap; a *component* is all that hang together so, and what a reader knows of its people depends
on nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from shoal.arrays import Bools, Floats, IntArray, Ints
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups import Grouping
from shoal.groups.ragged import Ragged


class Shown(NamedTuple):
    """One release, by the rows of a table."""

    table: Table
    """How the release codes values."""
    group: IntArray
    """Of each row, 0 to K-1, or -1 where it is not published."""
    value: IntArray
    """The code that is published for each row, `len(table.values)` for the pooled one; within a
    group it says nothing who has which."""
    weight: Floats | None = None
    """What each row counts as, where that is published and read."""

    def of_more(self, rows: int) -> Shown:
        """What the release shows of a table with more rows behind, whom the release does not
        publish."""
        more = rows - len(self.group)
        return self._replace(
            group=np.append(self.group, np.full(more, -1, np.int32)).astype(np.int32),
            value=np.append(self.value, np.zeros(more, np.int32)).astype(np.int32),
            weight=None if self.weight is None else np.append(self.weight, np.full(more, np.nan)),
        )


def shown_by(
    table: Table, grouping: Grouping, rows: IntArray, weight: Floats | None = None
) -> Shown:
    """A grouping that was dealt to the rows of its table: `rows` has the group of each, `weight`
    what each counts as, if that is published."""
    kept = np.flatnonzero(rows >= 0)
    by_row = kept[np.argsort(rows[kept], kind="stable")]
    group, line = grouping.lines.entries(Ragged.of_lengths(grouping.copies).owner)
    value = table.row_value.copy()
    value[by_row] = np.repeat(grouping.published_values(table)[line], grouping.rows[line])
    told = np.bincount(group, grouping.rows[line])
    if not np.array_equal(told, np.bincount(rows[kept], minlength=grouping.count)):
        raise InputError(
            "releases-rows",
            "The rows of a release are not in the groups that it publishes.",
            "Give the table that the release was made of.",
        )
    return Shown(table, rows, value, weight)


@dataclass(frozen=True, eq=False)
class Constraints(Ragged):
    """All that some releases say of the rows of one table: the lines of all their groups."""

    table: Table
    """How readers tell values apart."""
    shown: Sequence[Shown]
    place: Ints
    """releases x rows: the number of the row's group among those of all releases, -1 where there is
    none, or where an earlier release publishes the same group."""
    release: Ints
    """Of each group, the release that has it first."""
    last: Ints
    """Of each group, the release that has it last."""
    pooled: Bools
    code: Ints
    """The published code of each line."""
    count: Ints

    @classmethod
    def of(cls, table: Table, shown: Sequence[Shown]) -> Constraints:
        place = np.full((len(shown), table.rows), -1, np.int64)
        release, last, pooled, groups, codes, counts, first = [], [], [], [], [], [], 0
        for k, one in enumerate(shown):
            kept = np.flatnonzero(one.group >= 0)
            size, width = int(one.group.max(initial=-1)) + 1, len(one.table.values) + 1
            key = one.group[kept].astype(np.int64) * width + one.value[kept]
            lines, count = np.unique(key, return_counts=True)
            place[k, kept] = first + one.group[kept]
            release.append(np.full(size, k))
            last.append(np.full(size, k))
            pools = np.zeros(size, bool)
            pools[(lines // width)[lines % width == width - 1]] = True
            pooled.append(pools)
            groups.append(first + lines // width)
            codes.append(lines % width)
            counts.append(count)
            first += size
        all_groups = np.concatenate(groups)
        made = cls(
            Ragged.of_owners(all_groups, first).start,
            table,
            shown,
            place,
            np.concatenate(release),
            np.concatenate(last),
            np.concatenate(pooled),
            np.concatenate(codes),
            np.concatenate(counts).astype(np.int64),
        )
        made._join_same()
        return made

    def _join_same(self) -> None:
        """Takes a group that an earlier release publishes too, with the same people and values, out
        of the later one."""
        for late in range(1, len(self.shown)):
            for early in range(late):
                both = np.flatnonzero((self.place[early] >= 0) & (self.place[late] >= 0))
                if not len(both) or not self._coded_alike(early, late):
                    continue
                mine, other = self.place[late, both], self.place[early, both]
                low = np.full(len(self.release), len(self.release))
                high = np.full(len(self.release), -1)
                np.minimum.at(low, mine, other)
                np.maximum.at(high, mine, other)
                met = np.bincount(mine, minlength=len(self.release))
                same = np.flatnonzero((low == high) & (met == self.sizes))
                same = same[self.sizes[low[same]] == self.sizes[same]]
                same = same[self._same_lines(same, low[same])]
                gone = np.zeros(len(self.release), bool)
                gone[same] = True
                self.last[low[same]] = late
                self.place[late, both[gone[mine]]] = -1

    def _coded_alike(self, early: int, late: int) -> bool:
        one, other = self.shown[early].table, self.shown[late].table
        return one.values == other.values and np.array_equal(one.masked, other.masked)

    def _same_lines(self, mine: Ints, other: Ints) -> Bools:
        same = np.asarray(self.lengths[mine] == self.lengths[other])
        left, right = mine[same], other[same]
        owner, here = self.entries(left)
        _, there = self.entries(right)
        differ = (self.code[here] != self.code[there]) | (self.count[here] != self.count[there])
        same[same] = np.bincount(owner, differ, len(left)) == 0
        return same

    @cached_property
    def sizes(self) -> Ints:
        """How many people each group has."""
        return self.summed(self.count)

    @cached_property
    def component(self) -> IntArray:
        """The component of each group."""
        from scipy import sparse
        from scipy.sparse.csgraph import connected_components

        ones, others = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        known = np.full(self.table.rows, -1, np.int64)
        for place in self.place:
            both = np.flatnonzero((known >= 0) & (place >= 0))
            pairs = np.unique(known[both] * len(self.release) + place[both])
            ones.append(pairs // len(self.release))
            others.append(pairs % len(self.release))
            known = np.where(place >= 0, place, known)
        left, right = np.concatenate(ones), np.concatenate(others)
        shape = (len(self.release), len(self.release))
        graph = sparse.coo_array((np.ones(len(left), np.int8), (left, right)), shape=shape)
        return np.asarray(connected_components(graph, directed=False)[1])

    @cached_property
    def row_component(self) -> Ints:
        """The component of each row, -1 where no release has it."""
        group = self.place.max(axis=0)
        return np.where(group >= 0, self.component[group], -1)

    def shows(self, release: int, *, pooled: bool) -> IntArray:
        """As which code a group of a release publishes each value of the table."""
        own = self.shown[release].table
        told = np.zeros(len(self.table.values), np.int32)
        told[self.table.member_value] = own.member_value
        return own.masked[told] if pooled else told

    @cached_property
    def held(self) -> Ints:
        """groups x events: how many people of each group have each event, as it is published."""
        held = np.zeros((len(self.release), len(self.table.events)), np.int64)
        group = self.owner
        for release, one in enumerate(self.shown):
            event = np.full(len(one.table.values) + 1, -1)
            event[self.shows(release, pooled=False)] = self.table.value_event
            mine = np.flatnonzero((self.release[group] == release) & (event[self.code] >= 0))
            np.add.at(held, (group[mine], event[self.code[mine]]), self.count[mine])
        return held
