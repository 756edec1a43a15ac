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

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from shoal.arrays import Bools, Floats, IntArray, Ints, Whole
from shoal.knowledge.entropy import Strata
from shoal.methods.art.asked import Asked, Promise
from shoal.methods.art.assembly import Assembly
from shoal.methods.art.classes import Lack, Waiting, class_counts
from shoal.methods.art.columns import Columns

MARGIN = 1 + 1e-9
OPEN = 20_000
"""Most groups that can be joined, of those with the same values; by chance where there are more."""
FIRST = 64
"""So many groups, the nearest, are tried before all others."""
PLENTY = 1.5
"""So many times r people for each carrier are in groups with the event, of strata that only whoever
takes all counts together knows."""
ALREADY_POOLED = 0.1
"""How much nearer a group counts that is pooled already."""


def add_decoys(groups: Assembly, asked: Asked, random: np.random.Generator, crowd: Floats) -> None:
    """Takes free filler into groups until no class lacks members, or nobody who helps fits.
    `crowd`, of each signature: of its strata, so many times r people more are wanted."""
    table, cells = groups.table, groups.cells
    if not cells.free[cells.event < 0].any():
        return
    for event, promise in enumerate(asked.promises):
        lacking, inside = _lacking(groups, asked, promise)
        more = _lacking_strata(groups, asked, event, inside, crowd)
        lack = Lack(asked.knowledge, lacking, more=more)
        if asked.masks is not None:
            _join_alike(groups, promise, lack, random)
        mine = {
            values: which
            for values, which in groups.by_values().items()
            if promise.holds[values[0]]
        }
        for (x, y), which in mine.items():
            filler = np.flatnonzero((cells.value == y) & (cells.free > 0))
            join_nearest(groups, asked, which, x, y, filler, lack, random)
        for x in {x for x, _ in mine}:
            which = np.concatenate([some for values, some in mine.items() if values[0] == x])
            filler = np.flatnonzero((cells.event < 0) & (cells.free > 0))
            join_nearest(groups, asked, which, x, len(table.values), filler, lack, random)
    part_unsafe(groups, asked)


def part_unsafe(groups: Assembly, asked: Asked) -> None:
    """Groups that became unsafe by whoever joined them are as before."""
    joined = groups.joined
    for (x, y), which in groups.by_values().items() if joined else ():
        which = which[np.isin(which, joined)]
        for i in which[~groups.are_safe(which, x, y, asked)]:
            groups.part_again(int(i))


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


def _lacking(groups: Assembly, asked: Asked, promise: Promise) -> tuple[list[Ints], Ints]:
    """For each view and class: how many more people must be in groups that hold the event; and of
    each signature, how many there are."""
    cells, inside = groups.cells, groups.people_with(promise.holds)
    missing = cells.free[promise.holds[cells.value]].sum() > 0
    if missing:
        inside = inside + groups.missing_people()
    lacking = []
    there = class_counts(asked.knowledge, inside)
    for chance, n, m in zip(promise.chances, asked.people, there, strict=True):
        wanted = np.ceil(promise.r * n * chance - 1e-6).astype(np.int64)
        lacking.append(np.minimum(n, wanted) - m)
    return lacking, inside


def _lacking_strata(
    groups: Assembly, asked: Asked, event: int, inside: Ints, crowd: Floats
) -> Iterator[tuple[IntArray, Ints]]:
    """The same for whoever takes all counts together: of those alone who may carry by all counts;
    and of people who are in a class, but in no class that is a part of it, whose carriers are those
    of the class less those of its parts. Only where some lack people."""
    cells, promise = groups.cells, asked.promises[event]
    strata = Strata.of(asked.whole, asked.knowledge)
    carriers = np.bincount(cells.signature, cells.rows * promise.holds[cells.value], len(inside))
    may = asked.possible(event)
    counts = [
        strata.cases(np.where(may, of, 0).astype(np.float64))
        for of in (asked.whole.signature_rows, inside, carriers)
    ]
    for view, *of_view in zip(strata.views, *counts, strict=True):
        yield from _lacking_of(view.index, may, of_view, promise.r, crowd)
    for coarse, fine, outer in strata.nested:
        rests = [
            of[coarse] - np.bincount(outer[1:], of[fine][1:], len(of[coarse])) for of in counts
        ]
        rest = may & (strata.views[fine].index == 0)
        yield from _lacking_of(strata.views[coarse].index, rest, rests, promise.r, crowd)


def _lacking_of(
    index: Whole, there: Bools, counts: list[Floats], r: float, crowd: Floats
) -> Iterator[tuple[IntArray, Ints]]:
    """From everybody, those inside and the carriers of strata; which of the people of an index are
    `there`, and how many of them each carrier wants who is one of them."""
    n, m, k = counts
    each = np.zeros(len(n))
    np.maximum.at(each, index[there], crowd[there])
    wanted = np.where(k > 0, r * (PLENTY * k + each), 0.0)
    lack = (np.minimum(n, np.ceil(wanted - 1e-6)) - m).astype(np.int64)
    if (lack > 0).any():
        yield np.where(there, index + 1, 0).astype(np.int32), np.append(0, lack)


class _Open(NamedTuple):
    """Groups that can be joined, by column."""

    total: Floats
    """groups x columns: the odds of all members."""
    middle: Floats
    carriers: Floats


def join_nearest(
    groups: Assembly,
    asked: Asked,
    which: Ints,
    x: int,
    y: int,
    filler: Ints,
    lack: Lack,
    random: np.random.Generator,
) -> None:
    """Lets free filler into groups of x and y, those first who help most classes, each into the
    nearest group that they fit into."""
    cells, pooled = groups.cells, y == len(groups.table.values)
    filler = filler[lack.helps[cells.signature[filler]] > 0]
    if pooled and len(filler):  # groups that become pooled must be safe as such
        which = which[groups.are_safe(which, x, y, asked)]
    if not len(filler) or not len(which):
        return
    which = groups.open_up(which, OPEN, random)
    members = groups.lines(which)
    signature = np.concatenate([cells.signature[filler], cells.signature[members.cell]])
    kinds, kind = np.unique(signature, return_inverse=True)
    usable, columns = Columns.of(asked, kinds, x, y).finite()
    place = columns.places(np.ones(len(kinds), np.int64))
    mine, kind = kind[: len(filler)], kind[len(filler) :]
    sizes = members.summed(members.number)
    open_ = _Open(
        np.column_stack(
            [members.summed(members.number * columns.column(w, kind)) for w in range(columns.width)]
        ),
        np.column_stack([members.summed(members.number * one[kind]) for one in place.T])
        / sizes[:, None],
        members.summed(np.where(cells.value[members.cell] == x, members.number, 0)),
    )
    nearer = np.where(groups.is_pooled(which), ALREADY_POOLED, 1.0)
    waiting = Waiting(lack, cells.signature[filler])
    while (pick := waiting.pick(random)) >= 0:
        odds, strength = columns.row(int(mine[pick]))
        apart = ((open_.middle - place[mine[pick]]) ** 2).sum(axis=1)
        apart *= nearer if pooled else 1.0
        chosen = _nearest_fit(open_, apart, odds, strength) if usable[mine[pick]] else -1
        if chosen < 0:
            waiting.drop(pick)
            continue
        open_.total[chosen] += odds
        nearer[chosen] = ALREADY_POOLED if pooled else nearer[chosen]
        groups.join(int(which[chosen]), int(filler[pick]), pooled=pooled)
        if cells.free[filler[pick]] == 0:
            waiting.drop(pick)
        lack.take(int(cells.signature[filler[pick]]), waiting)


def _nearest_fit(open_: _Open, apart: Floats, odds: Floats, strength: Floats) -> int:
    """The nearest group that somebody with these odds and limits fits into; -1 if there is none."""
    near = np.argpartition(apart, FIRST)[:FIRST] if len(apart) > FIRST else np.arange(len(apart))
    for some in (near, np.arange(len(apart))):
        demand = open_.carriers[some, None] * (odds * strength) * MARGIN
        fits = some[(demand <= open_.total[some] + odds).all(axis=1)]
        if len(fits):
            return int(fits[np.argmin(apart[fits])])
    return -1
