"""ART's view of a table: cells of free rows, and the groups made of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art.asked import Asked
from shoal.anonymizers.art.kernels.links import largest_links
from shoal.grouping import Grouping
from shoal.table import IntArray, Table

GroupKind = Literal["pure", "pooled", "mixed", "bound", "alike", "open"]
"""Alike: of people of one signature, whatever they hold; open: of people without an event."""
TOLERANCE = 1e-12
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cells:
    """(signature, value) cells in lexicographic order; `free` shrinks as rows are grouped."""

    table: Table
    signature: IntArray
    value: IntArray
    event: IntArray
    """The event of the cell's value, or -1."""
    rows: NDArray[np.int64]
    free: NDArray[np.int64]

    @classmethod
    def of(cls, table: Table) -> Cells:
        signature, value, rows = table.cells
        return cls(table, signature, value, table.value_event[value], rows, rows.copy())

    def find(self, signature: NDArray[np.integer], value: int) -> NDArray[np.int64]:
        """The cells of people with these signatures and that value, who are there."""
        keys = np.asarray(signature, np.int64) * len(self.table.values) + value
        return np.searchsorted(self._keys, keys)

    @cached_property
    def _keys(self) -> NDArray[np.int64]:
        """A number for each cell that rises with them."""
        return self.signature.astype(np.int64) * len(self.table.values) + self.value

    @property
    def waiting(self) -> int:
        """How many carriers are still free."""
        return int(self.free[self.event >= 0].sum())

    def filler_suffices(self) -> bool:
        """Whether there are enough rows without an event to hide every carrier among them."""
        carriers = np.bincount(
            self.event[self.event >= 0],
            weights=self.free[self.event >= 0],
            minlength=len(self.table.events),
        )
        needed = (np.ceil(self.table.event_r) - 1) @ carriers
        return bool(needed <= self.free[self.event < 0].sum())


class Assembly:
    """The groups made so far, as lists of cells."""

    def __init__(self, table: Table, cells: Cells) -> None:
        self.table, self.cells = table, cells
        self._groups: list[NDArray[np.int64]] = []
        self._kinds: list[GroupKind] = []
        self.withheld = np.zeros(len(cells.free), np.int64)
        """Of each cell: how many people are left out though they carry nothing."""

    def add(self, members: NDArray[np.int64], kind: GroupKind) -> None:
        """One group; its cells' rows have been taken out of `cells.free` already."""
        self._groups.append(np.asarray(members, np.int64))
        self._kinds.append(kind)

    def count(self, kind: GroupKind) -> int:
        return self._kinds.count(kind)

    def members(self, group: int) -> NDArray[np.int64]:
        """The cells of a group, one for each member."""
        return self._groups[group]

    def everybody(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The group and the cell of everybody who is in one."""
        sizes = [len(one) for one in self._groups]
        owner = np.repeat(np.arange(len(sizes)), sizes)
        return owner, np.concatenate([np.zeros(0, np.int64), *self._groups])

    def of_kind(self, kind: GroupKind) -> list[int]:
        """The groups of a kind."""
        return [i for i, one in enumerate(self._kinds) if one == kind and len(self._groups[i])]

    def signature_of(self, group: int) -> int:
        """The signature of a group's first member."""
        return int(self.cells.signature[self._groups[group][0]])

    def saved(self) -> tuple[list[NDArray[np.int64]], NDArray[np.int64], NDArray[np.int64]]:
        """Who is where, to come back to."""
        return list(self._groups), self.cells.free.copy(), self.withheld.copy()

    def put_back(
        self, saved: tuple[list[NDArray[np.int64]], NDArray[np.int64], NDArray[np.int64]]
    ) -> None:
        """Everybody is where they were."""
        self._groups = list(saved[0])
        self.cells.free[:], self.withheld[:] = saved[1], saved[2]

    def dissolve(self, group: int) -> None:
        """Nobody of a group is published: its carriers are free, all others are left out."""
        members = self._groups[group]
        carries = self.cells.event[members] >= 0
        np.add.at(self.cells.free, members[carries], 1)
        np.add.at(self.withheld, members[~carries], 1)
        self._groups[group] = members[:0]

    def smallest(self) -> int | None:
        """The size of the smallest group, if there is one."""
        return min((len(one) for one in self._groups if len(one)), default=None)

    def is_pooled(self, group: int) -> bool:
        return self._kinds[group] == "pooled"

    def join(self, group: int, cell: int, *, pooled: bool = False) -> None:
        """One more member of a group; `pooled`: which is published pooled from now on."""
        self.cells.free[cell] -= 1
        self._groups[group] = np.append(self._groups[group], cell)
        if pooled:
            self._kinds[group] = "pooled"

    def snapshot(self) -> list[tuple[NDArray[np.int64], GroupKind]]:
        """The groups as they are."""
        return list(zip(self._groups, self._kinds, strict=True))

    def restore(self, group: int, before: list[tuple[NDArray[np.int64], GroupKind]]) -> None:
        """A group as it was; who joined it since is free again."""
        joined = self._groups[group][len(before[group][0]) :]
        np.add.at(self.cells.free, joined, 1)
        self._groups[group], self._kinds[group] = before[group]

    def without(self, group: int, cell: int) -> NDArray[np.int64]:
        """The members of a group but one of that cell."""
        members = self._groups[group]
        return np.delete(members, int(np.flatnonzero(members == cell)[0]))

    def pull_out(self, group: int, cell: int, instead: NDArray[np.int64]) -> None:
        """Leaves a member of a group out, and takes others in its place."""
        self._groups[group] = np.concatenate([self.without(group, cell), instead])
        np.subtract.at(self.cells.free, instead, 1)
        self.withheld[cell] += 1

    def withhold(self, cell: int) -> None:
        """Somebody without an event who is left out."""
        self.cells.free[cell] -= 1
        self.withheld[cell] += 1

    def people_with(self, values: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Of each signature: how many people are in groups that hold one of some values."""
        cells = values[self.cells.value]
        holding = [one for one in self._groups if cells[one].any()]
        inside = np.concatenate([np.zeros(0, np.int64), *holding])
        return np.bincount(self.cells.signature[inside], minlength=len(self.table.signatures))

    def missing_people(self) -> NDArray[np.int64]:
        """Of each signature: how many people are left out, carriers who are still free among
        them."""
        cells = self.cells
        missing = self.withheld + np.where(cells.event >= 0, cells.free, 0)
        return np.bincount(cells.signature, missing, len(self.table.signatures)).astype(np.int64)

    def grouping(self, hidden: tuple[GroupKind, ...] = ("pooled",)) -> Grouping:
        """The groups as counts, those of the `hidden` kinds published pooled, and rows without an
        event that nobody needs alone; carriers who are still free are in no group."""
        cells, table = self.cells, self.table
        alone = np.flatnonzero((cells.event < 0) & (cells.free > 0))
        count = len(self._groups)
        sizes = [len(group) for group in self._groups]
        owner = np.concatenate([np.repeat(np.arange(count), sizes), count + np.arange(len(alone))])
        member = np.concatenate([np.zeros(0, np.int64), *self._groups, alone])
        pooled = np.array([kind in hidden for kind in self._kinds] + [False] * len(alone))
        return Grouping.of_lines(
            table,
            owner.astype(np.int32),
            cells.signature[member],
            cells.value[member],
            np.ones(len(member), np.int64),
            copies=np.concatenate([np.ones(count, np.int64), cells.free[alone]]),
            pooled=pooled if pooled.any() else None,
        )

    def drop_unsafe(self, asked: Asked) -> None:
        """Checks pure and pooled groups in double precision and takes apart what fails."""
        unsafe: set[int] = set()
        for (x, y), which in self.by_values().items():
            unsafe |= {which[i] for i in np.flatnonzero(~self.are_safe(which, x, y, asked))}
        for i in unsafe:
            np.add.at(self.cells.free, self._groups[i], 1)
        kept = [i for i, one in enumerate(self._groups) if i not in unsafe and len(one)]
        self._groups = [self._groups[i] for i in kept]
        self._kinds = [self._kinds[i] for i in kept]

    def are_safe(self, which: list[int], x: int, y: int, asked: Asked) -> NDArray[np.bool_]:
        """Whether every posterior is within its limit, by the closed form (kernels/links.py)."""
        safe = np.ones(len(which), bool)
        if not which:
            return safe
        sizes = np.array([len(self._groups[i]) for i in which])
        member = np.concatenate([self._groups[i] for i in which])
        starts = np.concatenate([[0], np.cumsum(sizes)])
        signature = self.cells.signature[member]
        carriers = np.add.reduceat(self.cells.value[member] == x, starts[:-1], dtype=np.int64)
        for odds, strength, known in _columns(asked, signature, x, y):
            links = largest_links(odds, strength, starts, carriers, TOLERANCE)
            # Only tuples with the same probabilities are surely alike to the auditor too: equal
            # odds of unequal ones may differ in the last bit there.
            alike = np.logical_and.reduce([_constant(one, starts[:-1]) for one in known])
            # A quotient times one over itself is never above 1: the limit itself is allowed.
            enough = carriers / sizes * strength[starts[:-1]] <= 1.0
            safe &= np.where(alike, enough, links <= 1.0)
        return safe

    def by_values(self) -> dict[tuple[int, int], list[int]]:
        """The pure and pooled groups by their event value and by the value of the others (for
        pooled ones `len(table.values)`)."""
        cells, other = self.cells, len(self.table.values)
        by_values: dict[tuple[int, int], list[int]] = {}
        for i, (members, kind) in enumerate(zip(self._groups, self._kinds, strict=True)):
            if kind not in ("pure", "pooled") or not len(members):
                continue
            value, carries = cells.value[members], cells.event[members] >= 0
            filler = value[~carries]
            y = other if kind == "pooled" or not len(filler) else int(filler[0])
            by_values.setdefault((int(value[carries][0]), y), []).append(i)
        return by_values


def _columns(
    asked: Asked, signature: IntArray, x: int, y: int
) -> Iterator[tuple[Floats, Floats, list[Floats]]]:
    """Of people by their signatures, column by column: the odds of x against y, one over the limit,
    and the probabilities that a reader knows of them."""
    if asked.masks is not None:
        for block in asked.masks.blocks(x):
            for view in range(block.odds.shape[1]):
                odds, strength, *known = (
                    one[signature, view]
                    for one in (block.odds, block.strength, block.chance, *block.values)
                )
                yield odds, strength, known
        return
    for column in asked.columns(x, np.array([y], np.int32)):
        row = column.view.index[signature]
        known = [column.chance[row], *column.values[row].T]
        yield column.odds[row, 0], column.strength[row], known


def _constant(numbers: NDArray[np.generic], starts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether all numbers of a stretch are equal, for the stretches that begin at `starts`."""
    return np.asarray(
        np.maximum.reduceat(numbers, starts) == np.minimum.reduceat(numbers, starts), bool
    )
