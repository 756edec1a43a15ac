"""What groups hold, as other models of privacy see it: published values and people, as counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.arrays import Floats, IntArray, Ints
from shoal.data.table import Table
from shoal.groups import Grouping


@dataclass(frozen=True, eq=False)
class Contents:
    """The published values of every group, in the order of (group, value). Groups with the same
    content are one with `copies`; the values of group g are `start[g]` to `start[g+1]`."""

    copies: Ints
    start: Ints
    value: IntArray
    """Published value codes; `len(table.values)` stands for the pooled value."""
    count: Ints
    """How many people of one copy are published with the value."""
    pair_start: Ints
    pair_signature: IntArray
    pair_size: Ints
    """How many people of one copy have the signature."""

    @classmethod
    def of(cls, table: Table, grouping: Grouping) -> Contents:
        shown = grouping.published_values(table)
        start, value, count = _summed(grouping, shown, len(table.values) + 1)
        pair_start, signature, size = _summed(grouping, grouping.signature, len(table.signatures))
        return cls(grouping.copies, start, value, count, pair_start, signature, size)

    @cached_property
    def group(self) -> Ints:
        """The group of each line."""
        return np.repeat(np.arange(len(self.copies)), np.diff(self.start))

    @cached_property
    def sizes(self) -> Ints:
        """How many people each group has."""
        return np.add.reduceat(self.count, self.start[:-1])

    @cached_property
    def shares(self) -> Floats:
        """Of each line: the value's share in its group."""
        return np.asarray(self.count / self.sizes[self.group])

    @cached_property
    def whole(self) -> Floats:
        """Each published value's share among all published people."""
        people = np.bincount(self.value, self.count * self.copies[self.group])
        return np.asarray(people / people.sum())


def _summed(grouping: Grouping, codes: IntArray, width: int) -> tuple[Ints, IntArray, Ints]:
    """Where each group's distinct codes start, these codes, and how many people have them."""
    keys, line = np.unique(grouping.group.astype(np.int64) * width + codes, return_inverse=True)
    group, code = np.divmod(keys, width)
    start = np.searchsorted(group, np.arange(len(grouping.copies) + 1)).astype(np.int64)
    rows = np.bincount(line, grouping.rows, len(keys)).astype(np.int64)
    return start, code.astype(np.int32), rows
