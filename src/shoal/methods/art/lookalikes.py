"""The free people of one filler value, the carriers given to it, and the groups made of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Bools, Ints, Singles, Whole
from shoal.groups.ragged import Ragged
from shoal.methods.art.asked import Asked
from shoal.methods.art.assembly import Assembly, GroupKind
from shoal.methods.art.columns import Columns
from shoal.methods.art.kernels.boxes import boxes_of
from shoal.methods.art.kernels.candidates import Candidates
from shoal.methods.art.kernels.cut import cut
from shoal.methods.art.kernels.deal import JOINED
from shoal.methods.art.kernels.fill import Filled, Terms, fill
from shoal.methods.art.pooling import deal_people
from shoal.methods.art.seeds import Seeds, spread

LARGEST_ODDS = 1e5
"""Whoever has larger odds in some column holds a value that is nearly impossible there."""
NOISE = np.float32(1e-3)
MORE_JOINED = 8
"""Most cells of a matched sample that are joined to one."""
CHANCES_COUNT = 0.3
"""How much everybody's chance by all counts counts in who is alike, beside the widest feature."""


class Lookalikes:
    """People by *kind*, which is a signature: all of a kind are alike. `signature` and `number` are
    the carriers of x that were given to y, line by line; y is `len(table.values)` where values are
    pooled."""

    def __init__(
        self,
        groups: Assembly,
        asked: Asked,
        signature: Whole,
        number: Ints,
        x: int,
        y: int,
        random: np.random.Generator,
        *,
        sampled: Ints | None = None,
        all_views: bool = False,
    ) -> None:
        """`sampled`: of each cell of the table, who is of a matched sample; None: everybody who is
        free. `all_views`: whether groups answer whoever takes all counts together."""
        cells = groups.cells
        self._groups, self._cells, self._random = groups, cells, random
        self._x, self._pooled = x, y == len(groups.table.values)
        holds = cells.event < 0 if self._pooled else cells.value == y
        filler = np.flatnonzero(holds & (cells.free > 0))
        kinds = np.unique(np.concatenate([cells.signature[filler], signature]))
        columns = Columns.of(asked, kinds, x, y, all_views=all_views)
        usable = columns.below(LARGEST_ODDS)
        self._kinds, self._columns = kinds[usable], columns.reduced(usable)
        self._filler = filler[np.isin(cells.signature[filler], self._kinds)]
        """The cells that people are taken from, in the order of their kinds."""
        self._filler_kind = np.searchsorted(self._kinds, cells.signature[self._filler])
        self._number, self._there = number, np.isin(signature, self._kinds)
        self._carrier_kind = np.searchsorted(self._kinds, signature[self._there])
        self._sampled, self._share, self._chance = sampled, self._columns.share, None
        if sampled is not None:
            event = int(groups.table.value_event[x])
            self._share = asked.most(event)[self._kinds]
            self._chance = asked.counted(event)[self._kinds]
        self.over = np.zeros(len(cells.free), np.int64)
        """Of each cell of the table: sampled people whose seed found nobody."""

    def hide(self, smallest: int, terms: Terms, *, wide: bool, parting: bool) -> Ints:
        """Makes groups from cells of at least `smallest` people, joined where they hold too many
        carriers if they are to be `wide`, and parted where they find nobody if that is allowed;
        how many carriers of each line are left over."""
        left = self._number.copy()
        if not self._there.any():
            if self._sampled is not None:
                self.over[self._filler] = self._sampled[self._filler]
            return left
        kinds, random = len(self._kinds), self._random
        free = self._by_kind(self._cells.free)
        sampled = free if self._sampled is None else self._by_kind(self._sampled)
        waiting = self._number[self._there]
        carrying = np.bincount(self._carrier_kind, waiting, kinds).astype(np.int64)
        everybody = free + carrying
        place = self._places(everybody)  # 2
        noise = random.random(kinds, np.float32) * NOISE
        cells = cut(place, sampled + carrying, noise, smallest)  # 3
        share = self._share if wide else np.ones(kinds)
        together = JOINED if self._sampled is None else MORE_JOINED
        seeds = Seeds.dealt(*cells, carrying, share, random, together)
        taken = (seeds.people - seeds.carrying) * seeds.copies[seeds.cell]
        free -= np.bincount(seeds.kind, taken, kinds).astype(np.int64)
        people = Candidates(self._columns.weights, boxes_of(place), free)
        hidden = np.zeros(kinds, np.int64)
        for parted in (False, True)[: 1 + parting]:
            now = seeds.parted(random) if parted else seeds  # 6
            need = self._columns.need(now.kind, now.start[:-1], everybody) * now.carriers
            now = now.ordered(np.argsort(need, kind="stable"))
            filled = fill(now.for_kernel(), people, terms)  # 4
            hidden += self._add(now, filled)
            safe = np.bincount(filled.seed, filled.copies, len(now)).astype(np.int64)
            seeds = now.some(now.copies - safe)
            if not len(seeds):
                break
        left[self._there] = waiting - _given(self._carrier_kind, waiting, hidden)
        if self._sampled is not None:
            held = (seeds.people - seeds.carrying) * seeds.copies[seeds.cell]
            unhidden = np.bincount(seeds.kind, held, kinds).astype(np.int64)
            still = self._cells.free[self._filler]
            self.over[self._filler] = spread(self._filler_kind, still, unhidden, random)
        return left

    def _by_kind(self, of_cell: Ints) -> Ints:
        counted = np.bincount(self._filler_kind, of_cell[self._filler], len(self._kinds))
        return counted.astype(np.int64)

    def _places(self, everybody: Ints) -> Singles:
        """Where kinds are: who is near is alike, to readers of one view, and of all if people are
        sampled."""
        place = self._columns.places(everybody)
        if self._chance is None:
            return place
        logs = np.log(self._chance / (1.0 - self._chance))
        middle = np.average(logs, weights=everybody)
        apart = np.sqrt(np.average((logs - middle) ** 2, weights=everybody))
        widest = CHANCES_COUNT * float(np.sqrt(place.var(axis=0).max(initial=0.0)))
        feature = np.clip((logs - middle) / max(float(apart), 1e-12), -4.0, 4.0) * widest
        return np.ascontiguousarray(np.column_stack([place, feature]), np.float32)

    def _add(self, seeds: Seeds, filled: Filled) -> Ints:
        """The groups that seeds became; how many carriers of each kind are hidden in them."""
        owner, entry = Ragged(seeds.start).entries(filled.seed)
        kind, carrying = seeds.kind[entry], seeds.carrying[entry]
        hidden = np.bincount(kind, carrying * filled.copies[owner], len(self._kinds))
        mine, rest = np.flatnonzero(carrying), np.flatnonzero(seeds.people[entry] > carrying)
        added = Ragged(filled.start).owner
        cell = self._cells.find(self._kinds[kind[mine]], self._x)
        carriers = _Lines(owner[mine], cell, carrying[mine], np.ones(len(mine), bool))
        filler = _Lines(
            np.concatenate([owner[rest], added]),
            np.concatenate([kind[rest], filled.kind]),
            np.concatenate([(seeds.people[entry] - carrying)[rest], np.ones_like(added)]),
            np.arange(len(rest) + len(added)) < len(rest),
        )
        if self._pooled:
            self._add_pooled(carriers, filler, filled.copies)
        else:
            place = self._filler[np.searchsorted(self._filler_kind, filler.kind)]
            self._hand_over(carriers.followed_by(filler._replace(kind=place)), filled.copies)
        return hidden.astype(np.int64)

    def _hand_over(self, lines: _Lines, copies: Ints) -> None:
        kind: GroupKind = "pooled" if self._pooled else "pure"
        self._groups.add_many(lines.owner, lines.kind, lines.number, copies, kind, lines.sampled)

    def _add_pooled(self, carriers: _Lines, filler: _Lines, copies: Ints) -> None:
        """Who of a kind is taken, is drawn."""
        kinds = 2 * len(self._kinds)
        code = 2 * filler.kind.astype(np.int64) + filler.sampled
        keys, line = np.unique(filler.owner * kinds + code, return_inverse=True)
        number = np.bincount(line, filler.number, len(keys)).astype(np.int64)
        behind = (self._filler_kind, self._filler, self._cells.free[self._filler])
        code = (keys % kinds).astype(np.int64)
        made = deal_people(keys // kinds, code // 2, number, copies, behind, self._random, code % 2)
        carriers = carriers.in_order()
        group, entry = Ragged.of_owners(carriers.owner, len(copies)).entries(made.source)
        mine = _Lines(
            group, carriers.kind[entry], carriers.number[entry], np.ones(len(entry), bool)
        )
        others = _Lines(made.group, made.cell, made.number, made.mark.astype(bool))
        self._hand_over(mine.followed_by(others), made.copies)


class _Lines(NamedTuple):
    """People of groups: so many of a kind, or of a cell."""

    owner: Whole
    kind: Whole
    number: Whole
    sampled: Bools

    def followed_by(self, other: _Lines) -> _Lines:
        """All lines, group after group."""
        together = (np.concatenate(pair) for pair in zip(self, other, strict=True))
        return _Lines(*together).in_order()

    def in_order(self) -> _Lines:
        order = np.argsort(self.owner, kind="stable")
        return _Lines(self.owner[order], self.kind[order], self.number[order], self.sampled[order])


def _given(owner: Ints, wanted: Ints, there: Ints) -> Ints:
    """How many each line gets, when its owner has so many to give: the first ones first."""
    order = np.argsort(owner, kind="stable")
    mine, want = owner[order], wanted[order]
    before = Ragged.of_owners(mine, len(there)).before(want)
    given = np.empty(len(owner), np.int64)
    given[order] = np.clip(there[mine] - before, 0, want)
    return given
