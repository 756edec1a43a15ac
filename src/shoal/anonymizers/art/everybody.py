"""Nobody alone: people whom no carrier needs, in groups of lookalikes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art.asked import Asked
from shoal.anonymizers.art.assembly import Assembly
from shoal.anonymizers.art.columns import Columns
from shoal.anonymizers.art.kernels.cut import cut
from shoal.anonymizers.art.lookalikes import NOISE
from shoal.errors import InputError

Ints = NDArray[np.int64]


def gather_everybody(
    groups: Assembly, asked: Asked, smallest: int, random: np.random.Generator
) -> None:
    """Groups of at least `smallest` people for everybody without an event who is free, cut as
    carriers' cells are, whatever value they hold. Fewer people than that are left out."""
    cells, table = groups.cells, groups.table
    small = groups.smallest()
    if small is not None and small < smallest:
        raise InputError(
            "smallest-group",
            f"A group of {small} people finds no {smallest - small} more who could join it.",
            "Ask for a smaller smallest_group, or for a larger r.",
        )
    filler = np.flatnonzero((cells.event < 0) & (cells.free > 0))
    if cells.free[filler].sum() < smallest:
        for cell in np.repeat(filler, cells.free[filler]):
            groups.withhold(int(cell))
        return
    kinds, kind = np.unique(cells.signature[filler], return_inverse=True)
    x = int(np.flatnonzero(table.value_event >= 0)[0])
    _, columns = Columns.of(asked, kinds, x, len(table.values)).finite()
    people = np.bincount(kind, cells.free[filler], len(kinds)).astype(np.int64)
    noise = random.random(len(kinds), np.float32)
    owner, of_kind, number = _one_by_one(
        *cut(columns.places(people), people, noise * NOISE, smallest)
    )
    # People of one kind are dealt to its cells at random, whatever they hold.
    person = random.permutation(np.repeat(filler, cells.free[filler]))
    person = person[np.argsort(cells.signature[person], kind="stable")]
    by_kind = np.argsort(of_kind, kind="stable")
    group = np.repeat(owner[by_kind], number[by_kind])
    order = np.argsort(group, kind="stable")
    np.subtract.at(cells.free, person, 1)
    for members in np.split(person[order], np.flatnonzero(np.diff(group[order])) + 1):
        groups.add(members, "open")


def _one_by_one(cell: Ints, kind: Ints, number: Ints, times: Ints) -> tuple[Ints, Ints, Ints]:
    """Cells that were cut, those that are alike one after another."""
    each = np.repeat(np.arange(len(cell)), times)
    within = np.arange(len(each)) - np.repeat(np.cumsum(times) - times, times)
    before = np.cumsum(np.maximum.reduceat(times, np.flatnonzero(np.diff(cell, prepend=-1))))
    return np.append(0, before)[cell[each]] + within, kind[each], number[each]
