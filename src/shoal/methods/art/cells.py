"""ART's view of a table: cells of rows, and how many of them are free."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.arrays import IntArray, Ints, Whole
from shoal.data.table import Table


@dataclass(frozen=True, eq=False)
class Cells:
    """(signature, value) cells in lexicographic order; `free` shrinks as rows are grouped."""

    table: Table
    signature: IntArray
    value: IntArray
    event: IntArray
    """The event of the cell's value, or -1."""
    rows: Ints
    free: Ints

    @classmethod
    def of(cls, table: Table) -> Cells:
        signature, value, rows = table.cells
        return cls(table, signature, value, table.value_event[value], rows, rows.copy())

    def find(self, signature: Whole, value: int | Whole) -> Ints:
        """The cells of people with these signatures and that value, or those, who are there."""
        keys = np.asarray(signature, np.int64) * len(self.table.values) + value
        return np.searchsorted(self._keys, keys)

    @cached_property
    def _keys(self) -> Ints:
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
