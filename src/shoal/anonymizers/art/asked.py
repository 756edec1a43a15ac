"""What is asked of ART's groups: whom they must answer, and how far a link may go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.knowledge import Knowledge, Reader, View, event_chances, with_pool
from shoal.table import IntArray, Table

Floats = NDArray[np.float64]


class Column(NamedTuple):
    """One reader's odds in one view."""

    view: View
    odds: Floats
    """distributions x values."""
    strength: Floats
    """Of each distribution: one over the limit."""


@dataclass(frozen=True, eq=False)
class Asked:
    """Every posterior of every reader in every view stays within its limit: 1/r, or, under the
    honest limit, what the view says of the person beforehand if that is more."""

    table: Table
    knowledge: Knowledge
    readers: tuple[Reader, ...]

    @property
    def prior(self) -> bool:
        """Whether the limit is the honest one."""
        return self.table.spec.limit == "prior"

    @property
    def width(self) -> int:
        """The number of columns: views times readers."""
        return len(self.knowledge.views) * len(self.readers)

    def columns(self, x: int, y: IntArray) -> Iterator[Column]:
        """Every reader's odds of the event value x against the values y, view by view."""
        event = int(self.table.value_event[x])
        for reader in self.readers:
            for view in self.knowledge.views:
                odds = reader.odds(view, self.table, x, y)
                yield Column(view, odds, self.strength(view, event))

    def alike(self, view: View, x: int, y: int) -> IntArray:
        """A number for each of the view's distributions: equal where x, y and the event have the
        same probabilities, so that no reader of a group of x and y tells them apart."""
        chance = with_pool(view, self.table)[:, [x, y]]
        event = event_chances(view, self.table)[:, int(self.table.value_event[x])]
        known = np.column_stack([chance, event])
        return np.unique(known, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32)

    def strength(self, view: View, event: int) -> Floats:
        """r, or one over the event's probability where the honest limit is more than 1/r."""
        r, chance = float(self.table.event_r[event]), event_chances(view, self.table)[:, event]
        strength = np.full(len(chance), r)
        if self.prior:
            known = chance * r > 1.0
            strength[known] = 1.0 / chance[known]
        return strength
