"""The people of one filler value, the carriers given to it, and the groups made of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art.asked import Asked
from shoal.anonymizers.art.assembly import Assembly
from shoal.anonymizers.art.columns import Columns
from shoal.anonymizers.art.kernels.boxes import boxes_of
from shoal.anonymizers.art.kernels.candidates import People
from shoal.anonymizers.art.kernels.cut import cut
from shoal.anonymizers.art.kernels.fill import Filled, Terms, fill
from shoal.anonymizers.art.pooling import deal_people
from shoal.anonymizers.art.seeds import Seeds, spread
from shoal.grouping.partition import ragged

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
LARGEST_ODDS = 1e5
"""Whoever has larger odds in some column holds a value that is nearly impossible there."""
NOISE = np.float32(1e-3)
CHANCES_COUNT = 0.3
"""How much everybody's chance by all counts counts in who is alike, beside the widest feature."""


class Waiting(NamedTuple):
    """People who wait for a group: carriers by signature, and those sampled with them by cell."""

    signature: NDArray[np.integer]
    number: Ints
    """Carriers of each line."""
    sampled: Ints
    """Of each cell of the table."""


class Lookalikes:
    """People by *kind*, which is a signature: all of a kind are alike. y is `len(table.values)`
    where values are pooled."""

    def __init__(
        self,
        groups: Assembly,
        asked: Asked,
        waiting: Waiting,
        x: int,
        y: int,
        random: np.random.Generator,
        *,
        all_views: bool,
        balanced: bool,
    ) -> None:
        cells, signature = groups.cells, waiting.signature
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
        self._waiting, self._there = waiting, np.isin(signature, self._kinds)
        self._carrier_kind = np.searchsorted(self._kinds, signature[self._there])
        self._share = self._columns.share if asked.masks else self._most(asked)
        self._chance = asked.counted(self._event)[self._kinds] if balanced else None

    @property
    def _event(self) -> int:
        return int(self._groups.table.value_event[self._x])

    def _most(self, asked: Asked) -> Floats:
        return np.asarray(asked.most(self._event)[self._kinds])

    def hide(self, smallest: int, terms: Terms, *, join: bool, part: bool) -> tuple[Ints, Ints]:
        """Makes groups from cells of at least `smallest` people, joined where they hold too many
        carriers if that is asked for, and parted where they find nobody; how many carriers of each
        line, and how many sampled people of each cell of the table, are left over."""
        left, over = self._waiting.number.copy(), np.zeros(len(self._cells.free), np.int64)
        if not self._there.any():
            return left, self._waiting.sampled * self._mine()
        kinds, random = len(self._kinds), self._random
        free, sampled = (self._by_kind(one) for one in (self._cells.free, self._waiting.sampled))
        waiting = self._waiting.number[self._there]
        carrying = np.bincount(self._carrier_kind, waiting, kinds).astype(np.int64)
        place = self._places(free + carrying)
        noise = random.random(kinds, np.float32) * NOISE
        cells = cut(place, sampled + carrying, noise, smallest)
        share = self._share if join else np.ones(kinds)
        seeds = Seeds.dealt(*cells, carrying, share, random)
        taken = (seeds.people - seeds.carrying) * seeds.copies[seeds.cell]
        free -= np.bincount(seeds.kind, taken, kinds).astype(np.int64)
        people = People(self._columns.weights, boxes_of(place), free)
        hidden = np.zeros(kinds, np.int64)
        for parted in (False, True)[: 1 + part]:
            now = seeds.parted(random) if parted else seeds
            need = self._columns.need(now.kind, now.start[:-1], free + carrying) * now.carriers
            now = now.ordered(np.argsort(need, kind="stable"))
            filled = fill(now.for_kernel(), people, terms)
            hidden += self._add(now, filled)
            safe = np.bincount(filled.seed, filled.copies, len(now)).astype(np.int64)
            seeds = now.some(now.copies - safe)
            if not len(seeds):
                break
        left[self._there] = waiting - _given(self._carrier_kind, waiting, hidden)
        held = (seeds.people - seeds.carrying) * seeds.copies[seeds.cell]
        unhidden = np.bincount(seeds.kind, held, kinds).astype(np.int64)
        over[self._filler] = spread(
            self._filler_kind, self._cells.free[self._filler], unhidden, random
        )
        return left, over

    def _mine(self) -> NDArray[np.bool_]:
        """Which cells of the table people are taken from."""
        mine = np.zeros(len(self._cells.free), bool)
        mine[self._filler] = True
        return mine

    def _by_kind(self, of_cell: Ints) -> Ints:
        counted = np.bincount(self._filler_kind, of_cell[self._filler], len(self._kinds))
        return counted.astype(np.int64)

    def _places(self, everybody: Ints) -> NDArray[np.float32]:
        """Where kinds are: who is near is alike, to readers of one view and of all."""
        place = self._columns.places(everybody)
        if self._chance is None:
            return place
        logs = np.log(self._chance / (1.0 - self._chance))
        middle = np.average(logs, weights=everybody)
        spread_out = np.sqrt(np.average((logs - middle) ** 2, weights=everybody))
        widest = CHANCES_COUNT * float(np.sqrt(place.var(axis=0).max(initial=0.0)))
        feature = np.clip((logs - middle) / max(spread_out, 1e-12), -4.0, 4.0) * widest
        return np.ascontiguousarray(np.column_stack([place, feature]), np.float32)

    def _add(self, seeds: Seeds, filled: Filled) -> Ints:
        """The groups that seeds became; how many carriers of each kind are hidden in them."""
        owner, entry = ragged(seeds.start, filled.seed)
        kind, carrying = seeds.kind[entry], seeds.carrying[entry]
        hidden = np.bincount(kind, carrying * filled.copies[owner], len(self._kinds))
        mine, rest = np.flatnonzero(carrying), np.flatnonzero(seeds.people[entry] > carrying)
        added = np.repeat(np.arange(len(filled.seed)), np.diff(filled.start))
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
            members = carriers.followed_by(filler._replace(kind=place))
            self._groups.add_many(*members, filled.copies, "pure")
        return hidden.astype(np.int64)

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
        start = np.searchsorted(carriers.owner, np.arange(len(copies) + 1))
        group, entry = ragged(start, made.source)
        mine = _Lines(
            group, carriers.kind[entry], carriers.number[entry], np.ones(len(entry), bool)
        )
        others = _Lines(made.group, made.cell, made.number, made.mark.astype(bool))
        self._groups.add_many(*mine.followed_by(others), made.copies, "pooled")


class _Lines(NamedTuple):
    """People of groups: so many of a kind, or of a cell."""

    owner: NDArray[np.integer]
    kind: NDArray[np.integer]
    number: NDArray[np.integer]
    sampled: NDArray[np.bool_]

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
    before = np.cumsum(want) - want
    before -= before[np.searchsorted(mine, mine)]
    given = np.empty(len(owner), np.int64)
    given[order] = np.clip(there[mine] - before, 0, want)
    return given
