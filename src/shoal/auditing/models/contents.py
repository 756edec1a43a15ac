"""What groups hold, as other models of privacy see it: published values and people, as counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.data.table import Table
from shoal.groups import Grouping
from shoal.groups.ragged import Counts


@dataclass(frozen=True, eq=False)
class Contents:
    """The published values of every group. Groups with the same content are one with `copies`."""

    copies: Ints
    values: Counts
    """Published value codes; `len(table.values)` stands for the pooled value."""
    people: Counts
    """The signatures of each group's people."""

    @classmethod
    def of(cls, table: Table, grouping: Grouping) -> Contents:
        group, rows, count = grouping.group, grouping.rows, len(grouping.copies)
        values = Counts.of_lines(group, grouping.published_values(table), rows, count)
        return cls(grouping.copies, values, Counts.of_lines(group, grouping.signature, rows, count))

    @cached_property
    def sizes(self) -> Ints:
        """How many people each group has."""
        return self.values.summed(self.values.count)

    @cached_property
    def shares(self) -> Floats:
        """Of each line: the value's share in its group."""
        return np.asarray(self.values.count / self.values.spread(self.sizes))

    @cached_property
    def whole(self) -> Floats:
        """Each published value's share among all published people."""
        people = np.bincount(self.values.code, self.values.times(self.copies))
        return np.asarray(people / people.sum())
