"""Absence: who is missing with the carriers that found no group.

If only carriers were left out, whoever is missing would be one. So lookalikes are left out with
them, until among the missing of every class of every view at most one in r carries (or, under the
honest limit, the class's own share), or the whole class is missing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art.asked import Asked, Promise
from shoal.anonymizers.art.cells import Assembly
from shoal.anonymizers.art.classes import Lack, class_counts
from shoal.anonymizers.art.columns import Columns
from shoal.anonymizers.art.kernels.fill import People, Seeds, Terms, fill

Ints = NDArray[np.int64]
ROUNDS = 12
"""How often groups are asked for a member."""
NEAR = 300
"""Kinds of people that may take a member's place."""
GIVERS = 50_000
"""Most groups of the same values that are asked, by chance where there are more."""
MORE = 40
"""Most people who take the place of one."""


def leave_out_lookalikes(
    groups: Assembly,
    asked: Asked,
    random: np.random.Generator,
    least: int,
    most_lost: float = np.inf,
) -> bool:
    """Withholds lookalikes of the carriers who are still free: those who are free too, then members
    that groups can do without, of at least `least` people then; no more than `most_lost` carriers
    may be lost with them. Whether there were enough."""
    if asked.masks is not None:
        return _leave_out_of_several(groups, asked, random, most_lost)
    enough = True
    for promise in asked.promises:
        lost = _lost(groups, promise)
        if not lost.any():
            continue
        lack = _lacking(groups, asked, promise, lost)
        _withhold_free(groups, lack, random)
        giving = [
            _Givers(groups, asked, groups.open_up(which, GIVERS, random), x, y)
            for (x, y), which in (groups.by_values().items() if lack.helps.any() else ())
            if y < len(groups.table.values)
        ]
        for _ in range(ROUNDS):
            if not lack.helps.any() or not sum(one.give(lack, least) for one in giving):
                break
        enough = enough and not lack.helps.any()
    return enough


def _leave_out_of_several(
    groups: Assembly, asked: Asked, random: np.random.Generator, most_lost: float
) -> bool:
    """The same for several sensitive columns: people who are free, then whole groups, first those
    who carry least of what is lost. If too many carriers are lost with them, all groups stay."""
    before = groups.saved()
    while True:
        lacks = []
        for promise in asked.promises:
            lost = _lost(groups, promise)
            if lost.any():
                lacks.append((promise, _lacking(groups, asked, promise, lost)))
                _withhold_free(groups, lacks[-1][1], random)
        lacks = [(promise, lack) for promise, lack in lacks if lack.helps.any()]
        group = _least_needed(groups, lacks) if lacks else -1
        if group < 0 or groups.cells.waiting > most_lost:
            break
        groups.dissolve(group)
    if lacks or groups.cells.waiting > most_lost:
        groups.put_back(before)
        return False
    return True


def _least_needed(groups: Assembly, lacks: list[tuple[Promise, Lack]]) -> int:
    """The group whose absence helps most: by its people beyond what its own carriers need, and of
    equal ones by its people, in classes that lack some. -1 if none helps."""
    owner, member = groups.everybody()
    signature, value = groups.cells.signature[member], groups.cells.value[member]
    spare, people = np.zeros(len(member)), np.zeros(len(member))
    for promise, lack in lacks:
        people += lack.helps[signature]
        spare += lack.helps[signature] * (1.0 - promise.r * promise.holds[value])
    helping = np.bincount(owner, people)
    worth = np.where(helping > 0, np.bincount(owner, spare), -np.inf)
    best = np.lexsort((helping, worth))[-1] if len(worth) else -1
    return int(best) if len(worth) and helping[best] > 0 else -1


def _lost(groups: Assembly, promise: Promise) -> Ints:
    """Of each signature: how many carriers of an event are in no group."""
    cells = groups.cells
    free = np.where(promise.holds[cells.value], cells.free, 0)
    return np.bincount(cells.signature, free, len(groups.table.signatures)).astype(np.int64)


def _withhold_free(groups: Assembly, lack: Lack, random: np.random.Generator) -> None:
    """Leaves out people without an event who are in no group, as long as that helps."""
    cells = groups.cells
    filler = np.flatnonzero((cells.event < 0) & (cells.free > 0))
    while (pick := lack.pick(cells.signature[filler], cells.free[filler], random)) >= 0:
        groups.withhold(int(filler[pick]))
        lack.take(int(cells.signature[filler[pick]]))


def _lacking(groups: Assembly, asked: Asked, promise: Promise, lost: Ints) -> Lack:
    """How many more people of each class must be missing."""
    table, r = groups.table, promise.r
    everybody = class_counts(asked.knowledge, table.signature_rows)
    carriers = class_counts(asked.knowledge, lost)
    missing = class_counts(asked.knowledge, groups.missing_people())
    lacking = []
    for chance, n, k, m in zip(promise.chances, everybody, carriers, missing, strict=True):
        share = np.full(len(n), 1 / r)
        if asked.prior:
            share = np.maximum(share, chance)
        lacking.append(np.minimum(n, np.ceil(k / share - 1e-9).astype(np.int64)) - m)
    enough = min(table.rows, int(np.ceil(r * lost.sum() - 1e-9)))
    return Lack(asked.knowledge, lacking, enough - int(groups.missing_people().sum()))


class _Givers:
    """Groups of one event value and one other, who give members that the missing lack."""

    def __init__(self, groups: Assembly, asked: Asked, which: Ints, x: int, y: int) -> None:
        cells = groups.cells
        self._groups, self._which, self._x, self._y = groups, which.tolist(), x, y
        self._kinds = np.unique(cells.signature[(cells.value == y) | (cells.value == x)])
        self._columns = Columns.of(asked, self._kinds, x, y)
        usable = self._columns.finite()
        self._place = self._columns.places(np.ones(len(self._kinds), np.int64))
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
            People(self._columns.odds, self._columns.strength, self._place, free),
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


def _seeds(cells: list[Ints], carriers: Ints) -> Seeds:
    """Cells as the kernel takes them, from the kind of each of their people."""
    start = np.concatenate([[0], np.cumsum([len(one) for one in cells])]).astype(np.int64)
    kind, each = np.concatenate(cells), np.ones(len(cells), np.int64)
    return Seeds(start, kind, np.ones_like(kind), carriers, each)
