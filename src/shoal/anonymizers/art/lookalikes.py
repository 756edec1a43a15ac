"""The free people of one filler value, the carriers given to it, and the groups made of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art.asked import Asked
from shoal.anonymizers.art.cells import Assembly
from shoal.anonymizers.art.columns import Columns
from shoal.anonymizers.art.kernels.cut import cut
from shoal.anonymizers.art.kernels.fill import People, Terms, fill
from shoal.anonymizers.art.seeds import Seeds

Ints = NDArray[np.int64]
LARGEST_ODDS = 1e5
"""Whoever has larger odds in some column holds a value that is nearly impossible there."""
NOISE = np.float32(1e-3)


class Lookalikes:
    """People by *kind*, which is a signature: all of a kind are alike. `signature` are those of the
    carriers of x that were given to y; y is `len(table.values)` where values are pooled."""

    def __init__(
        self,
        groups: Assembly,
        asked: Asked,
        signature: NDArray[np.integer],
        x: int,
        y: int,
        random: np.random.Generator,
    ) -> None:
        cells = groups.cells
        self._groups, self._cells, self._random = groups, cells, random
        self._x, self._pooled = x, y == len(groups.table.values)
        holds = cells.event < 0 if self._pooled else cells.value == y
        filler = np.flatnonzero(holds & (cells.free > 0))
        kinds = np.unique(np.concatenate([cells.signature[filler], signature]))
        columns = Columns.of(asked, kinds, x, y)
        usable = np.all(columns.odds < LARGEST_ODDS, axis=1)
        self._kinds, self._columns = kinds[usable], columns.some(usable)
        self._filler = filler[np.isin(cells.signature[filler], self._kinds)]
        """The cells that people are taken from, in the order of their kinds."""
        self._filler_kind = np.searchsorted(self._kinds, cells.signature[self._filler])
        self._there = np.isin(signature, self._kinds)
        self._carrier_kind = np.searchsorted(self._kinds, signature[self._there])

    def hide(self, smallest: int, terms: Terms, *, wide: bool = True) -> NDArray[np.bool_]:
        """Makes groups from cells of at least `smallest` people, joined where they hold too many
        carriers if they are to be `wide`; True for carriers left over."""
        left = ~self._there
        if left.all():
            return left
        kinds, random = len(self._kinds), self._random
        free = np.bincount(self._filler_kind, self._cells.free[self._filler], kinds).astype(
            np.int64
        )
        carrying = np.bincount(self._carrier_kind, minlength=kinds)
        everybody = free + carrying
        place = self._columns.places(everybody)  # 2
        noise = random.random(kinds, np.float32) * NOISE
        cells = cut(place, everybody, noise, smallest)  # 3
        share = self._columns.share if wide else np.ones(kinds)
        seeds = Seeds.dealt(*cells, carrying, share, random)
        np.subtract.at(free, seeds.kind[~seeds.carries], 1)
        people = People(self._columns.odds, self._columns.strength, place, free)
        hidden = np.zeros(kinds, np.int64)
        for parted in (False, True):
            now = seeds.parted(random) if parted else seeds  # 5
            need = self._columns.need(now.kind, now.start[:-1], everybody) * now.carriers
            now = now.ordered(np.argsort(need, kind="stable"))
            safe, begin, added = fill(now.for_kernel(), people, terms)  # 4
            start = now.start
            for i in np.flatnonzero(safe):
                mine = slice(start[i], start[i + 1])
                kind, carries = now.kind[mine], now.carries[mine]
                self._add(np.append(kind[~carries], added[begin[i] : begin[i + 1]]), kind[carries])
                np.add.at(hidden, kind[carries], 1)
            seeds = now.some(~safe)
            if not len(seeds):
                break
        left[self._there] = self._left(hidden)
        return left

    def _left(self, hidden: Ints) -> NDArray[np.bool_]:
        """Which carriers are left over, when so many of each kind are hidden; those of one kind
        are alike."""
        order = np.argsort(self._carrier_kind, kind="stable")
        kind = self._carrier_kind[order]
        left = np.empty(len(kind), bool)
        left[order] = np.arange(len(kind)) - np.searchsorted(kind, kind) >= hidden[kind]
        return left

    def _add(self, filler: Ints, carriers: Ints) -> None:
        """One group of people of these kinds."""
        cells = self._cells
        members = [cells.find(self._kinds[carriers], self._x)]
        if self._pooled:
            members += [
                self._taken(int(kind), int(number))
                for kind, number in zip(*np.unique(filler, return_counts=True), strict=True)
            ]
        else:
            members.append(self._filler[np.searchsorted(self._filler_kind, filler)])
        together = np.concatenate(members)
        np.subtract.at(cells.free, together, 1)
        self._groups.add(together, "pooled" if self._pooled else "pure")

    def _taken(self, kind: int, number: int) -> Ints:
        """People of one kind, at random among those of its values who are free."""
        first, last = np.searchsorted(self._filler_kind, [kind, kind + 1])
        behind = self._filler[first:last]
        return self._random.permutation(np.repeat(behind, self._cells.free[behind]))[:number]
