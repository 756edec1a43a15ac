"""Seeds: the cells in which somebody carries, those that are alike once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.groups.ragged import Ragged
from shoal.methods.art.kernels import fill as kernels
from shoal.methods.art.kernels.deal import JOINED, deal

MOST_DRAWN = 10**9
"""NumPy draws from fewer people than that."""


@dataclass(frozen=True, eq=False)
class Seeds:
    """People of the cells that hold a carrier, cell after cell, by kind."""

    cell: Ints
    """Of each entry; cells are numbered from 0."""
    kind: Ints
    people: Ints
    """How many people of the kind are in the cell."""
    carrying: Ints
    """How many of them carry."""
    copies: Ints
    """Of each cell: how many there are like it."""

    def __len__(self) -> int:
        return len(self.copies)

    @classmethod
    def dealt(
        cls,
        cell: Ints,
        kind: Ints,
        number: Ints,
        times: Ints,
        carrying: Ints,
        share: Floats,
        random: np.random.Generator,
        together: int = JOINED,
    ) -> Seeds:
        """From cells cut blindly (`number` people of a kind in each of `times` cells) and how many
        of each kind carry: who of a kind it is, is chance. `share` of the people of each kind may
        carry: cells with more carriers than that are joined to others. Who finds the seed of a
        group, and knows from the release how many of it carry, would name one of them too often
        otherwise."""
        carriers = spread(kind, number * times, carrying, random)
        cell = _joined(cell, times, carriers, number * share[kind], together)
        seed = int(random.integers(2**31))
        name, kind, people, mine, copies = deal(
            cell, kind, number, times, carriers, share, seed, together
        )
        return cls(name, kind, people, mine, copies[np.flatnonzero(np.diff(name, prepend=-1))])

    @property
    def _lines(self) -> Ragged:
        return Ragged.of_owners(self.cell, len(self))

    @property
    def start(self) -> Ints:
        """Where each cell begins, and where the last ends."""
        return self._lines.start

    @property
    def carriers(self) -> Ints:
        """How many of each cell carry."""
        return np.bincount(self.cell, self.carrying, len(self)).astype(np.int64)

    def some(self, copies: Ints) -> Seeds:
        """The cells with other numbers of copies; none without any."""
        which = copies > 0
        names, kept = np.cumsum(which) - 1, which[self.cell]
        return Seeds(
            names[self.cell[kept]],
            self.kind[kept],
            self.people[kept],
            self.carrying[kept],
            copies[which],
        )

    def ordered(self, order: Ints) -> Seeds:
        """The cells in another order."""
        cell, by = self._lines.entries(order)
        return Seeds(
            cell.astype(np.int64),
            self.kind[by],
            self.people[by],
            self.carrying[by],
            self.copies[order],
        )

    def parted(self, random: np.random.Generator) -> Seeds:
        """Every cell dealt out, at random, into as many parts as it has carriers, one in each; the
        cells that are alike in the same way."""
        entry = np.repeat(np.arange(len(self.cell)), self.people)
        carries = _ranks(entry) < self.carrying[entry]
        by = random.permutation(len(entry))
        owner = 2 * self.cell[entry[by]] + carries[by]
        by = by[np.argsort(owner, kind="stable")]
        owner, parts = self.cell[entry[by]], self.carriers
        part = _ranks(2 * owner + carries[by]) % parts[owner]
        cell = (np.cumsum(parts) - parts)[owner] + part
        kinds = int(self.kind.max(initial=0)) + 1
        keys, line = np.unique(cell * kinds + self.kind[entry[by]], return_inverse=True)
        return Seeds(
            keys // kinds,
            keys % kinds,
            np.bincount(line, minlength=len(keys)),
            np.bincount(line, carries[by], len(keys)).astype(np.int64),
            np.repeat(self.copies, parts),
        )

    def for_kernel(self) -> kernels.SeedArrays:
        return kernels.SeedArrays(self.start, self.kind, self.people, self.carriers, self.copies)


def _joined(cell: Ints, times: Ints, carriers: Ints, room: Floats, together: int) -> Ints:
    """The cells' numbers, the same for those that are joined: blocks of two, four and so on that
    lie side by side, where one half of a block has no room for its carriers. Which half it was
    cannot be told from the block, so that nobody learns on which side the carriers are; a cell that
    was joined to the next would tell. Runs of alike cells are left as they are."""
    names, index = np.unique(cell, return_inverse=True)
    sums = [np.bincount(index, one, len(names)) for one in (carriers, room, times > 1)]
    over, size, number = (sums[0] > sums[1]) & (sums[2] == 0), 1, np.arange(len(names))
    while 2 * size <= together and over.any():
        size *= 2
        half = np.arange(len(over)) // 2
        rich = np.bincount(half, over) > 0
        sums = [np.bincount(half, one) for one in sums]
        block = np.arange(len(names)) // size
        joined = rich & (sums[2] == 0)
        number = np.where(joined[block], block * size, number)
        over = joined & (sums[0] > sums[1])
    return number[index]


def spread(kind: Ints, slots: Ints, drawn: Ints, random: np.random.Generator) -> Ints:
    """How many of those `drawn` of each kind are in each entry, everybody of the kind being as
    likely as any other."""
    dealt, left = np.zeros(len(kind), np.int64), drawn.copy()
    room = np.bincount(kind, slots, len(drawn)).astype(np.int64)
    order = np.argsort(kind, kind="stable")
    rank = _ranks(kind[order])
    for some in np.split(
        order[np.argsort(rank, kind="stable")],
        np.cumsum(np.bincount(rank))[:-1] if len(rank) else [],
    ):
        mine = kind[some]
        room[mine] -= slots[some]
        dealt[some] = _drawn(slots[some], room[mine], left[mine], random)
        left[mine] -= dealt[some]
    return dealt


def _drawn(good: Ints, bad: Ints, sample: Ints, random: np.random.Generator) -> Ints:
    """How many good ones are in samples without replacement; of more people than can be drawn from,
    with replacement, which comes to the same."""
    many = good + bad >= MOST_DRAWN
    drawn = random.hypergeometric(*(np.where(many, 0, one) for one in (good, bad, sample)))
    share = good[many] / (good + bad)[many]
    drawn[many] = random.binomial(sample[many], share)
    return np.asarray(np.clip(drawn, np.maximum(0, sample - bad), np.minimum(good, sample)))


def _ranks(numbers: Ints) -> Ints:
    """The place of each within its stretch of equal numbers."""
    first = np.flatnonzero(np.diff(numbers, prepend=-1))
    return np.arange(len(numbers)) - np.repeat(first, np.diff(np.append(first, len(numbers))))
