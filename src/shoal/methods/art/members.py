"""Who is in groups, as lines."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.groups.pairs import ragged, starts

Ints = NDArray[np.int64]


class Members(NamedTuple):
    """Who is in groups: lines of so many people of a cell, group after group."""

    start: Ints
    """Where the lines of each group begin, and where the last ends."""
    cell: Ints
    number: Ints
    sampled: NDArray[np.bool_] | None = None
    """Whether they are of a matched sample; None: nobody is."""

    @property
    def is_sampled(self) -> NDArray[np.bool_]:
        return np.zeros(len(self.cell), bool) if self.sampled is None else self.sampled

    @property
    def owner(self) -> Ints:
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def of(self, groups: Ints) -> Members:
        """Those of some groups."""
        owner, line = ragged(self.start, groups)
        start = starts(owner, len(groups))
        return Members(start, self.cell[line], self.number[line], self.is_sampled[line])

    def with_one_more(self, cell: int) -> Members:
        """The same groups, with one more person of that cell in each."""
        ends = self.start[1:]
        return Members(
            self.start + np.arange(len(self.start)),
            np.insert(self.cell, ends, cell),
            np.insert(self.number, ends, 1),
        )

    def summed(self, numbers: NDArray[np.generic]) -> NDArray[np.float64]:
        """A number of each line, added up by group."""
        return np.asarray(np.bincount(self.owner, numbers, len(self.start) - 1), np.float64)
