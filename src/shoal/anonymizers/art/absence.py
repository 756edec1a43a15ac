"""Absence: who is missing with the carriers that found no group.

If only carriers were left out, whoever is missing would be one. So lookalikes are left out with
them, until among the missing of every class of every view at most one in r carries (or, under the
honest limit, the class's own share), or the whole class is missing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art.asked import Asked
from shoal.anonymizers.art.cells import Assembly
from shoal.anonymizers.art.classes import Lack, class_counts
from shoal.anonymizers.art.columns import Columns
from shoal.anonymizers.art.kernels.fill import People, Seeds, Terms, fill
from shoal.knowledge import event_chances

Ints = NDArray[np.int64]
ROUNDS = 25
"""How often groups are asked for a member."""
NEAR = 300
"""Kinds of people that may take a member's place."""
MORE = 40
"""Most people who take the place of one."""


def leave_out_lookalikes(groups: Assembly, asked: Asked, random: np.random.Generator) -> bool:
    """Withholds lookalikes of the carriers who are still free: those who are free too, then members
    that groups can do without. Whether there were enough."""
    cells, enough = groups.cells, True
    for event in range(len(groups.table.events)):
        lost = np.bincount(
            cells.signature,
            np.where(cells.event == event, cells.free, 0),
            len(groups.table.signatures),
        )
        if not lost.any():
            continue
        lack = _lacking(groups, asked, event, lost.astype(np.int64))
        filler = np.flatnonzero((cells.event < 0) & (cells.free > 0))
        while (pick := lack.pick(cells.signature[filler], cells.free[filler], random)) >= 0:
            groups.withhold(int(filler[pick]))
            lack.take(int(cells.signature[filler[pick]]))
        for _ in range(ROUNDS):
            if not lack.helps.any() or not _pull_out(groups, asked, lack):
                break
        enough = enough and not lack.helps.any()
    return enough


def _lacking(groups: Assembly, asked: Asked, event: int, lost: Ints) -> Lack:
    """How many more people of each class must be missing."""
    table, r = groups.table, float(groups.table.event_r[event])
    everybody = class_counts(asked.knowledge, table.signature_rows)
    carriers = class_counts(asked.knowledge, lost)
    missing = class_counts(asked.knowledge, groups.missing_people())
    lacking = []
    for view, n, k, m in zip(asked.knowledge.views, everybody, carriers, missing, strict=True):
        share = np.full(len(n), 1 / r)
        if asked.prior:
            share = np.maximum(share, event_chances(view, table)[:, event])
        lacking.append(np.minimum(n, np.ceil(k / share - 1e-9).astype(np.int64)) - m)
    enough = min(table.rows, int(np.ceil(r * lost.sum() - 1e-9)))
    return Lack(asked.knowledge, lacking, enough - int(groups.missing_people().sum()))


def _pull_out(groups: Assembly, asked: Asked, lack: Lack) -> int:
    """Takes members whom the missing lack out of groups that stay safe, or become so with other
    people in their place; at most one of each group. How many were taken."""
    pulled = 0
    for (x, y), which in groups.by_values().items():
        if y < len(groups.table.values) and lack.helps.any():
            pulled += _pull_out_of(groups, asked, which, x, y, lack)
    return pulled


def _pull_out_of(
    groups: Assembly, asked: Asked, which: list[int], x: int, y: int, lack: Lack
) -> int:
    cells = groups.cells
    chosen: list[tuple[int, int]] = []
    for i in which:
        members = groups.members(i)
        filler = members[cells.value[members] == y]
        helps = lack.helps[cells.signature[filler]]
        if helps.max(initial=0) > 0:
            cell = int(filler[np.argmax(helps)])
            lack.take(int(cells.signature[cell]))
            chosen.append((i, cell))
    if not chosen:
        return 0
    free = np.flatnonzero((cells.value == y) & (cells.free > 0))
    rest = [_without(groups.members(i), cell) for i, cell in chosen]
    signature = np.concatenate([cells.signature[free], *(cells.signature[one] for one in rest)])
    kinds, kind = np.unique(signature, return_inverse=True)
    columns = Columns.of(asked, kinds, x, y)
    there = np.zeros(len(kinds), np.int64)
    there[kind[: len(free)]] = cells.free[free]
    there[~np.all(columns.odds < np.inf, axis=1)] = 0
    columns.odds[~np.all(columns.odds < np.inf, axis=1)] = 1.0
    place = columns.places(np.ones(len(kinds), np.int64))
    start = np.concatenate([[0], np.cumsum([len(one) for one in rest])]).astype(np.int64)
    carriers = np.array([(cells.value[one] == x).sum() for one in rest], np.int64)
    safe, begin, added = fill(
        Seeds(start, kind[len(free) :].astype(np.int64), carriers),
        People(columns.odds, columns.strength, place, there),
        Terms(NEAR, MORE, 1),
    )
    for j, (i, cell) in enumerate(chosen):
        if safe[j]:
            groups.pull_out(i, cell, cells.find(kinds[added[begin[j] : begin[j + 1]]], y))
        else:
            lack.give(int(cells.signature[cell]))
    return int(safe.sum())


def _without(members: Ints, cell: int) -> Ints:
    return np.delete(members, int(np.flatnonzero(members == cell)[0]))
