"""Who is in groups, as lines."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.grouping.pairs import ragged, starts

Ints = NDArray[np.int64]


class Members(NamedTuple):
    """Who is in groups: lines of so many people of a cell, group after group."""

    start: Ints
    """Where the lines of each group begin, and where the last ends."""
    cell: Ints
    number: Ints
    sampled: NDArray[np.bool_]
    """Whether they are of the matched sample; others were added by need."""

    @property
    def owner(self) -> Ints:
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def of(self, groups: Ints) -> Members:
        """Those of some groups."""
        owner, line = ragged(self.start, groups)
        start = starts(owner, len(groups))
        return Members(start, self.cell[line], self.number[line], self.sampled[line])

    def followed_by(self, other: Members) -> Members:
        """All groups, one after another."""
        return Members(
            np.append(self.start, self.start[-1] + other.start[1:]),
            np.append(self.cell, other.cell),
            np.append(self.number, other.number),
            np.append(self.sampled, other.sampled),
        )

    def joined_by(self, group: Ints, cell: Ints) -> Members:
        """The same groups with one more person of each cell, added by need."""
        owner = np.append(self.owner, group)
        order = np.argsort(owner, kind="stable")
        return Members(
            starts(owner[order], len(self.start) - 1),
            np.append(self.cell, cell)[order],
            np.append(self.number, np.ones_like(cell))[order],
            np.append(self.sampled, np.zeros(len(cell), bool))[order],
        )

    def summed(self, numbers: NDArray[np.generic]) -> NDArray[np.float64]:
        """A number of each line, added up by group."""
        return np.asarray(np.bincount(self.owner, numbers, len(self.start) - 1), np.float64)
