"""Who is in groups, as lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Bools, Floats, Ints
from shoal.groups.ragged import Ragged


@dataclass(frozen=True, eq=False)
class Members(Ragged):
    """Who is in groups: lines of so many people of a cell, group after group."""

    cell: Ints
    number: Ints
    sampled: Bools | None = None
    """Whether they are of a matched sample; None: nobody is."""

    @property
    def is_sampled(self) -> Bools:
        return np.zeros(len(self.cell), bool) if self.sampled is None else self.sampled

    @staticmethod
    def joined(parts: Sequence[Members]) -> Members:
        """All groups of the parts, one part after another."""
        return Members(
            Ragged.of_lengths(np.concatenate([one.lengths for one in parts])).start,
            np.concatenate([one.cell for one in parts]),
            np.concatenate([one.number for one in parts]),
            np.concatenate([one.is_sampled for one in parts]),
        )

    def some(self, groups: Ints) -> Members:
        """Those of some groups."""
        line = self.entries(groups)[1]
        start = Ragged.of_lengths(self.lengths[groups]).start
        return Members(start, self.cell[line], self.number[line], self.is_sampled[line])

    def summed(self, numbers: NDArray[np.generic]) -> Floats:
        """A number of each line, added up by group, line by line."""
        return np.asarray(np.bincount(self.owner, numbers, self.owners), np.float64)
