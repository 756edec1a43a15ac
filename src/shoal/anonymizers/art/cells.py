"""ART's view of a table: cells of free rows, and the groups made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shoal.grouping import Grouping
from shoal.knowledge import Knowledge, with_pool
from shoal.table import IntArray, Table

GroupKind = Literal["pure", "pooled", "mixed", "bound"]
TOLERANCE = 1e-12


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

    def filler_suffices(self) -> bool:
        """Whether there are enough rows without an event to hide every carrier among them."""
        carriers = np.bincount(
            self.event[self.event >= 0],
            weights=self.rows[self.event >= 0],
            minlength=len(self.table.events),
        )
        needed = (np.ceil(self.table.event_r) - 1) @ carriers
        return bool(needed <= self.rows[self.event < 0].sum())


class Assembly:
    """The groups made so far, as lists of cells."""

    def __init__(self, table: Table, cells: Cells) -> None:
        self.table, self.cells = table, cells
        self._groups: list[NDArray[np.int64]] = []
        self._kinds: list[GroupKind] = []

    def add(self, members: NDArray[np.int64], kind: GroupKind) -> None:
        """One group; its cells' rows have been taken out of `cells.free` already."""
        self._groups.append(np.asarray(members, np.int64))
        self._kinds.append(kind)

    def count(self, kind: GroupKind) -> int:
        return self._kinds.count(kind)

    def grouping(self) -> Grouping:
        """The groups as counts, and rows without an event that nobody needs alone; carriers who
        are still free are in no group."""
        cells, table = self.cells, self.table
        alone = np.flatnonzero((cells.event < 0) & (cells.free > 0))
        count = len(self._groups)
        sizes = [len(group) for group in self._groups]
        owner = np.concatenate([np.repeat(np.arange(count), sizes), count + np.arange(len(alone))])
        member = np.concatenate([np.zeros(0, np.int64), *self._groups, alone])
        pooled = np.array([kind == "pooled" for kind in self._kinds] + [False] * len(alone))
        return Grouping.of_lines(
            table,
            owner.astype(np.int32),
            cells.signature[member],
            cells.value[member],
            np.ones(len(member), np.int64),
            copies=np.concatenate([np.ones(count, np.int64), cells.free[alone]]),
            pooled=pooled if pooled.any() else None,
        )

    def drop_unsafe(self, knowledge: Knowledge) -> None:
        """Checks pure and pooled groups in double precision and takes apart what fails."""
        closed = [i for i, kind in enumerate(self._kinds) if kind in ("pure", "pooled")]
        unsafe = {closed[i] for i in np.flatnonzero(~self._are_safe(closed, knowledge))}
        for i in unsafe:
            np.add.at(self.cells.free, self._groups[i], 1)
        kept = [i for i in range(len(self._groups)) if i not in unsafe]
        self._groups = [self._groups[i] for i in kept]
        self._kinds = [self._kinds[i] for i in kept]

    def _are_safe(self, which: list[int], knowledge: Knowledge) -> NDArray[np.bool_]:
        """Closed form: r max o <= sum o with o = G(x)/G(y), y the group's value or the pool."""
        if not which:
            return np.zeros(0, bool)
        cells, table = self.cells, self.table
        sizes = np.array([len(self._groups[i]) for i in which])
        member = np.concatenate([self._groups[i] for i in which])
        starts = np.cumsum(sizes) - sizes
        carrier = member[starts]
        event, x = cells.event[carrier], cells.value[carrier]
        pooled = np.array([self._kinds[i] == "pooled" for i in which])
        y = np.where(pooled, len(table.values), cells.value[member[starts + 1]])
        r = table.event_r[event]
        safe = np.ones(len(which), bool)
        for view in knowledge.views:
            chance = with_pool(view, table)
            row = view.index[cells.signature[member]]
            held, shown = chance[row, np.repeat(x, sizes)], chance[row, np.repeat(y, sizes)]
            odds = held / shown
            worst = np.maximum.reduceat(odds, starts) / np.add.reduceat(odds, starts)
            # Only tuples with the same probabilities are surely alike to the auditor too: equal
            # odds of unequal ones may differ in the last bit there.
            alike = _constant(held, starts) & _constant(shown, starts)
            safe &= np.where(alike, r <= sizes, r * (worst + TOLERANCE) <= 1.0)
        return safe


def _constant(numbers: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether all numbers of a stretch are equal, for the stretches that begin at `starts`."""
    return np.asarray(
        np.maximum.reduceat(numbers, starts) == np.minimum.reduceat(numbers, starts), bool
    )
