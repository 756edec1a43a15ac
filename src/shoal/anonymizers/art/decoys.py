"""Decoys: people who join finished groups so that counting over all groups tells no more than they.

Somebody of the value y can join any pure group of y if their own link stays within its limit; the
links of all others fall. With one carrier that is o / b <= sum o, their own odds in it; with c of
them c o / b <= sum o is asked, and a group that a strict check finds unsafe gets none. Classes that
lack members are those whose carriers were hidden among others, so that decoys are mostly of low
odds and nearly always fit. Where nobody of a group's value is left, somebody of another value
joins, and the group is published pooled: then only the odds against everything outside the events
count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art.asked import Asked, Promise
from shoal.anonymizers.art.cells import Assembly
from shoal.anonymizers.art.classes import Lack, class_counts
from shoal.anonymizers.art.columns import Columns

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
MARGIN = 1 + 1e-9
ALREADY_POOLED = 0.1
"""How much nearer a group counts that is pooled already."""


def add_decoys(groups: Assembly, asked: Asked, random: np.random.Generator) -> None:
    """Takes free filler into groups until no class lacks members, or nobody who helps fits."""
    table, cells, before = groups.table, groups.cells, groups.snapshot()
    if not cells.free[cells.event < 0].any():
        return
    for promise in asked.promises:
        lack = Lack(asked.knowledge, _lacking(groups, asked, promise))
        if asked.masks is not None:
            _join_alike(groups, promise, lack, random)
        mine = {
            values: which
            for values, which in groups.by_values().items()
            if promise.holds[values[0]]
        }
        for (x, y), which in mine.items():
            filler = np.flatnonzero((cells.value == y) & (cells.free > 0))
            _join(groups, asked, which, x, y, filler, lack, random)
        for x in {x for x, _ in mine}:
            which = [i for values, some in mine.items() if values[0] == x for i in some]
            filler = np.flatnonzero((cells.event < 0) & (cells.free > 0))
            _join(groups, asked, which, x, len(table.values), filler, lack, random)
    for (x, y), which in groups.by_values().items():
        for i in np.flatnonzero(~groups.are_safe(which, x, y, asked)):
            groups.restore(which[i], before)


def _join_alike(
    groups: Assembly, promise: Promise, lack: Lack, random: np.random.Generator
) -> None:
    """Lets free filler into groups of their own signature, who cannot be told from it."""
    cells = groups.cells
    open_ = {
        groups.signature_of(i): i
        for i in groups.of_kind("alike")
        if promise.holds[cells.value[groups.members(i)]].any()
    }
    filler = np.flatnonzero((cells.event < 0) & (cells.free > 0))
    filler = filler[np.isin(cells.signature[filler], list(open_))]
    while (pick := lack.pick(cells.signature[filler], cells.free[filler], random)) >= 0:
        signature = int(cells.signature[filler[pick]])
        groups.join(open_[signature], int(filler[pick]))
        lack.take(signature)


def _lacking(groups: Assembly, asked: Asked, promise: Promise) -> list[Ints]:
    """For each view and class: how many more people must be in groups that hold the event."""
    table, cells = groups.table, groups.cells
    inside = groups.people_with(promise.holds)
    missing = cells.free[promise.holds[cells.value]].sum() > 0
    if missing:
        inside = inside + groups.missing_people()
    lacking = []
    everybody = class_counts(asked.knowledge, table.signature_rows)
    there = class_counts(asked.knowledge, inside)
    for chance, n, m in zip(promise.chances, everybody, there, strict=True):
        wanted = np.ceil(promise.r * n * chance - 1e-6).astype(np.int64)
        lacking.append(np.minimum(n, wanted) - m)
    return lacking


class _Open(NamedTuple):
    """Groups that can be joined, by column."""

    total: Floats
    """groups x columns: the odds of all members."""
    middle: Floats
    carriers: Ints


def _join(
    groups: Assembly,
    asked: Asked,
    which: list[int],
    x: int,
    y: int,
    filler: Ints,
    lack: Lack,
    random: np.random.Generator,
) -> None:
    """Lets free filler into groups of x and y, those first who help most classes, each into the
    nearest group that they fit into."""
    cells, pooled = groups.cells, y == len(groups.table.values)
    if pooled:  # groups that become pooled must be safe as such
        which = [
            i for i, safe in zip(which, groups.are_safe(which, x, y, asked), strict=True) if safe
        ]
    filler = filler[lack.helps[cells.signature[filler]] > 0]
    if not len(filler) or not which:
        return
    members = [groups.members(i) for i in which]
    signature = np.concatenate(
        [cells.signature[filler], *(cells.signature[one] for one in members)]
    )
    kinds, kind = np.unique(signature, return_inverse=True)
    columns = Columns.of(asked, kinds, x, y)
    usable = columns.finite()
    place = columns.places(np.ones(len(kinds), np.int64))
    mine, kind = kind[: len(filler)], kind[len(filler) :]
    start = np.concatenate([[0], np.cumsum([len(one) for one in members])])[:-1]
    open_ = _Open(
        np.add.reduceat(columns.odds[kind], start),
        np.add.reduceat(place[kind], start, dtype=np.float64)
        / np.diff(np.append(start, len(kind)))[:, None],
        np.array([(cells.value[one] == x).sum() for one in members]),
    )
    nearer = np.where([groups.is_pooled(i) for i in which], ALREADY_POOLED, 1.0)
    while (pick := lack.pick(cells.signature[filler], cells.free[filler], random)) >= 0:
        odds, strength = columns.odds[mine[pick]], columns.strength[mine[pick]]
        demand = open_.carriers[:, None] * (odds * strength) * MARGIN
        fits = np.flatnonzero((demand <= open_.total + odds).all(axis=1))
        if not len(fits) or not usable[mine[pick]]:
            filler, mine = np.delete(filler, pick), np.delete(mine, pick)
            continue
        apart = ((open_.middle[fits] - place[mine[pick]]) ** 2).sum(axis=1)
        chosen = int(fits[np.argmin(apart * (nearer[fits] if pooled else 1.0))])
        open_.total[chosen] += odds
        nearer[chosen] = ALREADY_POOLED if pooled else nearer[chosen]
        groups.join(which[chosen], int(filler[pick]), pooled=pooled)
        lack.take(int(cells.signature[filler[pick]]))
