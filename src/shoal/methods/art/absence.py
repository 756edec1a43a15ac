"""Absence: who is missing with the carriers that found no group.

If only carriers were left out, whoever is missing would be one. So lookalikes are left out with
them, until among the missing of every class of every view at most one in r carries (or, under the
honest limit, the class's own share), or the whole class is missing.

Steps (the same numbers stand in the code)
1. People who are in no group are left out.
2. Where few are lacking, groups are asked for members that they can do without.
3. Groups are given up that hold more lookalikes than their own carriers need. Their people are
   free: some are left out, and among the others carriers look for a group again, while whoever is
   left out needlessly is let in.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.groups.ragged import Ragged
from shoal.methods.art.asked import Asked, Promise
from shoal.methods.art.assembly import Assembly
from shoal.methods.art.classes import Counts, Lack, class_counts
from shoal.methods.art.columns import Columns
from shoal.methods.art.kernels.boxes import boxes_of
from shoal.methods.art.kernels.candidates import Candidates
from shoal.methods.art.kernels.fill import SeedArrays, Terms, fill

ROUNDS = 12
"""How often groups are asked for a member."""
NEAR = 300
"""Kinds of people that may take a member's place."""
GIVERS = 50_000
"""Most groups of the same values that are asked, by chance where there are more."""
MORE = 40
"""Most people who take the place of one."""
FEW = 30
"""Groups are asked for members where no class lacks more than so many."""
TURNS = 80
"""How often groups are given up, and carriers look for others."""
STILL = 10
"""So many turns without a gain are enough."""
GIVEN_UP = 9
"""Most groups that are given up in one turn."""
HOPES = (1.0, 0.2)
"""What share of the carriers of such groups is taken to be lost, first and where that leaves no
group."""
FAR = 2.0
"""No more is given up if so many times the carriers are lost that may be."""


def leave_out_lookalikes(
    groups: Assembly,
    asked: Asked,
    random: np.random.Generator,
    least: int,
    most_lost: float = np.inf,
    hide_again: Callable[[], None] | None = None,
) -> bool:
    """Withholds lookalikes of the carriers who are still free; groups keep at least `least` people.
    No more than `most_lost` carriers may be lost in the end; `hide_again` finds groups for those
    that it can. Whether there were enough."""
    lacks = _withhold_free(groups, asked, random)  # 1
    if lacks and asked.masks is None and _most(lacks) <= FEW:
        lacks = _ask_for_members(groups, asked, lacks, random, least)  # 2
    if not lacks:
        return True
    before, fewest, still = groups.saved(), _total(lacks), 0
    for _ in range(TURNS):  # 3
        if lacks and not _give_up(groups, asked, lacks, random):
            break
        lacks = _withhold_free(groups, asked, random)
        if hide_again is not None:
            _let_in(groups, asked, random)
            hide_again()
            lacks = _withhold_free(groups, asked, random)
        if not lacks and groups.cells.waiting <= most_lost:
            _let_in(groups, asked, random)
            return True
        still = 0 if _total(lacks) < fewest else still + 1
        fewest = min(fewest, _total(lacks))
        if still == STILL or groups.cells.waiting > FAR * most_lost:
            break
    groups.put_back(before)
    return False


Lacks = list[tuple[Promise, Lack]]
"""What events still lack, those that do."""


def _withhold_free(groups: Assembly, asked: Asked, random: np.random.Generator) -> Lacks:
    """Leaves out people without an event who are in no group, as long as that helps; what is still
    lacking then."""
    cells, lacks = groups.cells, []
    for promise in asked.promises:
        if not _lost(groups, promise).any():
            continue
        lack = Lack(asked.knowledge, *_lacking(groups, asked, promise))
        filler = np.flatnonzero((cells.event < 0) & (cells.free > 0))
        while (pick := lack.pick(cells.signature[filler], cells.free[filler], random)) >= 0:
            groups.withhold(int(filler[pick]))
            lack.take(int(cells.signature[filler[pick]]))
        if lack.helps.any():
            lacks.append((promise, lack))
    return lacks


def _ask_for_members(
    groups: Assembly, asked: Asked, lacks: Lacks, random: np.random.Generator, least: int
) -> Lacks:
    """Groups give members, as far as they can; what is lacking then."""
    giving = [
        _Givers(groups, asked, groups.open_up(which, GIVERS, random), x, y)
        for (x, y), which in groups.by_values().items()
        if y < len(groups.table.values)
    ]
    for _, lack in lacks:
        for _ in range(ROUNDS):
            if not lack.helps.any() or not sum(one.give(lack, least) for one in giving):
                break
    return [(promise, lack) for promise, lack in lacks if lack.helps.any()]


def _give_up(groups: Assembly, asked: Asked, lacks: Lacks, random: np.random.Generator) -> int:
    """Takes the groups apart whose people help most beyond what their own carriers need, or would
    need if some of these found a group again. How many they were."""
    mine = np.setdiff1d(np.arange(len(groups)), groups.of_kind("told"))
    cells, members = groups.cells, groups.lines(mine)
    signature, value = cells.signature[members.cell], cells.value[members.cell]
    helps, price = np.zeros(len(members.cell)), np.zeros(len(members.cell))
    for promise, lack in lacks:
        each = lack.weighed([1 / share for share in _shares(asked, promise)], promise.r)
        helps += lack.helps[signature]
        price += np.where(promise.holds[value], each[signature], 0.0)
    for hope in HOPES:
        worth = members.summed((helps - hope * price) * members.number)
        best = np.argsort(-worth, kind="stable")[: max(1, min(GIVEN_UP, _most(lacks) // 3))]
        best = best[worth[best] > 0]
        if len(best):
            break
    for group in mine[best]:
        groups.dissolve(int(groups.open_up(np.array([group]), 1, random)[0]))
    return len(best)


def _let_in(groups: Assembly, asked: Asked, random: np.random.Generator) -> None:
    """Whoever is left out though nobody's absence needs it is free again."""
    spare: Counts | None = None
    overall = np.iinfo(np.int64).max
    for promise in asked.promises:
        lacking, everywhere = _lacking(groups, asked, promise)
        more = [-one for one in lacking]
        spare = (
            more if spare is None else [np.minimum(*two) for two in zip(spare, more, strict=True)]
        )
        overall = min(overall, -everywhere)
    room = Lack(asked.knowledge, spare or [], overall)
    classes = room.classes
    withheld = random.permutation(np.repeat(np.arange(len(groups.withheld)), groups.withheld))
    for cell in withheld:
        signature = int(groups.cells.signature[cell])
        if room.helps[signature] == classes[signature]:
            groups.let_in(int(cell))
            room.take(signature)


def _lost(groups: Assembly, promise: Promise) -> Ints:
    """Of each signature: how many carriers of an event are in no group."""
    cells = groups.cells
    free = np.where(promise.holds[cells.value], cells.free, 0)
    return np.bincount(cells.signature, free, len(groups.table.signatures)).astype(np.int64)


def _shares(asked: Asked, promise: Promise) -> list[Floats]:
    """By view and class: how many of the missing may carry."""
    least = 1 / promise.r
    return [np.maximum(least, chance if asked.prior else 0.0) for chance in promise.chances]


def _lacking(groups: Assembly, asked: Asked, promise: Promise) -> tuple[Counts, int]:
    """How many more people of each class must be missing, and how many of all; below zero, how many
    fewer could be."""
    table, lost = groups.table, _lost(groups, promise)
    carriers = class_counts(asked.knowledge, lost)
    missing = class_counts(asked.knowledge, groups.missing_people())
    lacking = [
        np.minimum(n, np.ceil(k / share - 1e-9).astype(np.int64)) - m
        for share, n, k, m in zip(
            _shares(asked, promise), asked.people, carriers, missing, strict=True
        )
    ]
    enough = min(table.rows, int(np.ceil(promise.r * lost.sum() - 1e-9)))
    return lacking, enough - int(groups.missing_people().sum())


def _most(lacks: Lacks) -> int:
    """What the class lacks that lacks most."""
    return max(lack.most for _, lack in lacks)


def _total(lacks: Lacks) -> int:
    """What all classes lack."""
    return sum(lack.total for _, lack in lacks)


class _Givers:
    """Groups of one event value and one other, who give members that the missing lack."""

    def __init__(self, groups: Assembly, asked: Asked, which: Ints, x: int, y: int) -> None:
        cells = groups.cells
        self._groups, self._which, self._x, self._y = groups, which.tolist(), x, y
        self._kinds = np.unique(cells.signature[(cells.value == y) | (cells.value == x)])
        usable, columns = Columns.of(asked, self._kinds, x, y).finite()
        self._weights = columns.weights
        self._boxes = boxes_of(columns.places(np.ones(len(self._kinds), np.int64)))
        self._free = np.flatnonzero(
            (cells.value == y) & np.isin(cells.signature, self._kinds[usable])
        )

    def give(self, lack: Lack, least: int) -> int:
        """Leaves out a member of each group that stays safe without it, or becomes so with other
        people in its place. How many were given."""
        cells, chosen = self._groups.cells, self._wanted(lack)
        if not chosen:
            return 0
        rest = [self._groups.without(i, cell) for i, cell in chosen]
        free = np.zeros(len(self._kinds), np.int64)
        free[self._kind(self._free)] = cells.free[self._free]
        filled = fill(
            _seeds(
                [self._kind(one) for one in rest],
                np.array([(cells.value[one] == self._x).sum() for one in rest], np.int64),
            ),
            Candidates(self._weights, self._boxes, free),
            Terms(NEAR, MORE, least),
        )
        instead = {
            int(j): filled.kind[filled.start[i] : filled.start[i + 1]]
            for i, j in enumerate(filled.seed)
        }
        for j, (i, cell) in enumerate(chosen):
            if j in instead:
                self._groups.pull_out(i, cell, cells.find(self._kinds[instead[j]], self._y))
            else:
                lack.give(int(cells.signature[cell]))
        return len(instead)

    def _wanted(self, lack: Lack) -> list[tuple[int, int]]:
        """The member of each group who would help most, as (group, cell); taken from `lack`."""
        cells, chosen = self._groups.cells, []
        for i in self._which:
            members = self._groups.members(i)
            filler = members[cells.value[members] == self._y]
            helps = lack.helps[cells.signature[filler]]
            if helps.max(initial=0) > 0:
                cell = int(filler[np.argmax(helps)])
                lack.take(int(cells.signature[cell]))
                chosen.append((i, cell))
        return chosen

    def _kind(self, cells: Ints) -> Ints:
        return np.searchsorted(self._kinds, self._groups.cells.signature[cells])


def _seeds(cells: list[Ints], carriers: Ints) -> SeedArrays:
    """Cells as the kernel takes them, from the kind of each of their people."""
    start = Ragged.of_lengths(np.array([len(one) for one in cells], np.int64)).start
    kind, each = np.concatenate(cells), np.ones(len(cells), np.int64)
    return SeedArrays(start, kind, np.ones_like(kind), carriers, each)
