"""Dealing carriers out to cells that are alike, and joining those of one kind that hold too many.

A run of alike cells is gone through once, but what comes of it is written down as how many seeds
there are with so many people and carriers.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.compiling import kernel
from shoal.methods.art.kernels.growing import widened

JOINED = 4
"""Most cells that are joined to one, unless it is said otherwise."""
SEED, KIND, PEOPLE, CARRIERS, COPIES = 0, 1, 2, 3, 4


@kernel
def deal(
    cell: Ints,
    kind: Ints,
    number: Ints,
    times: Ints,
    carriers: Ints,
    share: Floats,
    seed: int,
    together: int = JOINED,
) -> Ints:
    """The cells in which somebody carries, those that are alike once. One of a run of alike cells
    without room for all its carriers is joined to the next of them. Returns, one seed after
    another, the seed, kind, people and carriers of each entry, and the seed's copies.

    cell, kind, number, times: entries as they are cut (kernels/cut.py).
    carriers: of each entry, in all cells that it stands for.
    share: of the people of each kind, how many may carry.
    together: most cells that are joined.
    """
    np.random.seed(seed)
    made, at, seeds = np.empty((5, 2 * len(kind) + 16), np.int64), 0, 0
    open_, entries, joined = np.empty((3, len(kind) + 1), np.int64), 0, 0
    wanted, got = 0.0, 0.0
    most = 1
    for e in range(len(kind)):
        most = max(most, times[e])
    held, tally, alike = np.zeros(most, np.int64), np.empty((3, 64), np.int64), 0
    for e in range(len(kind)):
        m = times[e]
        if m == 1:
            held[0] = carriers[e]
        else:
            _scatter(carriers[e], number[e], held[:m])
        for i in range(m):
            begins = m > 1 or e == 0 or cell[e] != cell[e - 1]
            if entries > 0 and begins and (i == 0 or got >= wanted or joined >= together):
                if made.shape[1] < at + entries + 64:
                    made = widened(made, entries + 64)
                if wanted > 0.0 and entries == 1 and open_[0, 0] == kind[e]:  # these are counted
                    alike = _count(tally, alike, open_[1, 0], open_[2, 0])
                    if alike == tally.shape[1]:
                        at, seeds = _write_alike(made, at, seeds, kind[e], tally[:, :alike])
                        alike = 0
                elif wanted > 0.0:
                    at, seeds = _write(made, at, seeds, open_[:, :entries]), seeds + 1
                entries, joined, wanted, got = 0, 0, 0.0, 0.0
            if m > 1 and entries == 0 and held[i] == 0:
                continue
            joined += begins
            if entries > 0 and open_[0, entries - 1] == kind[e]:
                open_[1, entries - 1] += number[e]
                open_[2, entries - 1] += held[i]
            else:
                open_[0, entries], open_[1, entries], open_[2, entries] = (
                    kind[e],
                    number[e],
                    held[i],
                )
                entries += 1
            wanted, got = wanted + held[i], got + number[e] * share[kind[e]]
        while m > 1 and alike > 0 and got < wanted:  # the last of a run has none after it
            t = _poorest(tally, alike)
            if t < 0:
                break
            tally[2, t] -= 1
            open_[1, 0] += tally[0, t]
            open_[2, 0] += tally[1, t]
            wanted, got = wanted + tally[1, t], got + tally[0, t] * share[kind[e]]
        if m > 1 and entries > 0:
            alike = _count(tally, alike, open_[1, 0], open_[2, 0])
            entries, joined, wanted, got = 0, 0, 0.0, 0.0
        if made.shape[1] < at + alike:
            made = widened(made, alike)
        at, seeds = _write_alike(made, at, seeds, kind[e], tally[:, :alike])
        alike = 0
    if made.shape[1] < at + entries:
        made = widened(made, entries)
    if wanted > 0.0:
        at = _write(made, at, seeds, open_[:, :entries])
    return made[:, :at]


@kernel
def _scatter(carriers: int, size: int, held: Ints) -> None:
    """Deals carriers out to cells of one size, every person being as likely as any other."""
    people = len(held) * size
    few = 2 * carriers <= people
    for i in range(len(held)):
        held[i] = 0
    for _ in range(carriers if few else people - carriers):
        while True:
            place = min(people - 1, int(np.random.random() * people))
            if place % size >= held[place // size]:  # the first ones of a cell are taken
                held[place // size] += 1
                break
    if not few:
        for i in range(len(held)):
            held[i] = size - held[i]


@kernel
def _count(tally: Ints, alike: int, people: int, carriers: int) -> int:
    """Counts a seed of so many people and carriers; how many kinds of seeds there are then."""
    for t in range(alike):
        if tally[0, t] == people and tally[1, t] == carriers:
            tally[2, t] += 1
            return alike
    tally[0, alike], tally[1, alike], tally[2, alike] = people, carriers, 1
    return alike + 1


@kernel
def _poorest(tally: Ints, alike: int) -> int:
    """Those of the seeds that are left with fewest carriers of their people; -1 if none is left."""
    best, least = -1, np.inf
    for t in range(alike):
        if tally[2, t] > 0 and tally[1, t] < least * tally[0, t]:
            best, least = t, tally[1, t] / tally[0, t]
    return best


@kernel
def _write_alike(made: Ints, at: int, seeds: int, kind: int, tally: Ints) -> tuple[int, int]:
    for t in range(tally.shape[1]):
        if tally[2, t] == 0:
            continue
        made[SEED, at], made[KIND, at] = seeds, kind
        made[PEOPLE, at], made[CARRIERS, at], made[COPIES, at] = (
            tally[0, t],
            tally[1, t],
            tally[2, t],
        )
        at, seeds = at + 1, seeds + 1
    return at, seeds


@kernel
def _write(made: Ints, at: int, seed: int, entries: Ints) -> int:
    for i in range(entries.shape[1]):
        made[SEED, at], made[COPIES, at] = seed, 1
        made[KIND, at], made[PEOPLE, at], made[CARRIERS, at] = (
            entries[0, i],
            entries[1, i],
            entries[2, i],
        )
        at += 1
    return at
