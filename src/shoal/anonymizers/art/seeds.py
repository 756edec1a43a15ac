"""Seeds: the cells in which somebody carries, person by person."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art.kernels import fill as kernels

Ints = NDArray[np.int64]
JOINED = 4
"""Most cells that are joined to one."""


@dataclass(frozen=True, eq=False)
class Seeds:
    """People of the cells that hold a carrier, cell after cell."""

    cell: Ints
    """Of each person; cells are numbered from 0."""
    kind: Ints
    carries: NDArray[np.bool_]

    def __len__(self) -> int:
        return int(self.cell[-1]) + 1 if len(self.cell) else 0

    @classmethod
    def dealt(
        cls,
        cell: Ints,
        kind: Ints,
        number: Ints,
        carrying: Ints,
        share: NDArray[np.float64],
        random: np.random.Generator,
    ) -> Seeds:
        """From cells cut blindly (`number` people of a kind in a cell) and how many of each kind
        carry: who of a kind it is, is chance. `share` of the people of each kind may carry: cells
        with more carriers than that are joined to the next ones."""
        person = np.repeat(np.arange(len(kind)), np.where(carrying[kind] > 0, number, 0))
        person = random.permutation(person)
        person = person[np.argsort(kind[person], kind="stable")]
        rank = _ranks(kind[person])
        chosen = person[rank < carrying[kind[person]]]
        carriers = np.bincount(chosen, minlength=len(kind))
        cell = _wide_enough(cell, number * share[kind], carriers)
        held = np.zeros(cell.max(initial=-1) + 1, bool)
        held[cell[chosen]] = True
        entry = np.repeat(np.flatnonzero(held[cell]), number[held[cell]])
        names = np.cumsum(held) - 1
        return cls(names[cell[entry]], kind[entry], _ranks(entry) < carriers[entry])

    @property
    def start(self) -> Ints:
        """Where each cell begins, and where the last ends."""
        return np.searchsorted(self.cell, np.arange(len(self) + 1)).astype(np.int64)

    @property
    def carriers(self) -> Ints:
        """How many of each cell carry."""
        return np.bincount(self.cell[self.carries], minlength=len(self))

    def some(self, which: NDArray[np.bool_]) -> Seeds:
        """Some of the cells."""
        names, kept = np.cumsum(which) - 1, which[self.cell]
        return Seeds(names[self.cell[kept]], self.kind[kept], self.carries[kept])

    def ordered(self, order: Ints) -> Seeds:
        """The cells in another order."""
        names = np.empty(len(self), np.int64)
        names[order] = np.arange(len(self))
        by = np.argsort(names[self.cell], kind="stable")
        return Seeds(names[self.cell][by], self.kind[by], self.carries[by])

    def parted(self, random: np.random.Generator) -> Seeds:
        """Every cell dealt out, at random, into as many parts as it has carriers, one in each."""
        by = random.permutation(len(self.cell))
        by = by[np.argsort(2 * self.cell[by] + self.carries[by], kind="stable")]
        parts = self.carriers
        part = _ranks(2 * self.cell[by] + self.carries[by]) % parts[self.cell[by]]
        cell = (np.cumsum(parts) - parts)[self.cell[by]] + part
        then = np.argsort(cell, kind="stable")
        return Seeds(cell[then], self.kind[by][then], self.carries[by][then])

    def for_kernel(self) -> kernels.Seeds:
        return kernels.Seeds(self.start, self.kind, self.carriers)


def _wide_enough(cell: Ints, room: NDArray[np.float64], carriers: Ints) -> Ints:
    """The cells, numbered anew: one without room for all its carriers is joined to the next, which
    was its neighbour before the cut. Who finds the seed of a group, and knows from the release how
    many of it carry, would name one of them too often otherwise."""
    rooms, held = np.bincount(cell, room), np.bincount(cell, carriers)
    names, first, name = np.empty(len(rooms), np.int64), 0, -1
    wanted, got = 0.0, 0.0
    for i in range(len(rooms)):
        if got >= wanted or i - first >= JOINED:
            first, name, wanted, got = i, name + 1, 0.0, 0.0
        names[i] = name
        wanted, got = wanted + held[i], got + rooms[i]
    return names[cell]


def _ranks(numbers: Ints) -> Ints:
    """The place of each within its stretch of equal numbers."""
    first = np.flatnonzero(np.diff(numbers, prepend=-1))
    return np.arange(len(numbers)) - np.repeat(first, np.diff(np.append(first, len(numbers))))
