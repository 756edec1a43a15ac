"""Which values are left for whom, by what releases publish alone.

Whoever is in a group has one of its values. A value that as many people can have as the group
publishes, is theirs; one that as many have for sure, is nobody else's. A partner meets their own
value again in every release, a case does not: so values that are left become fewer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Bools, Ints
from shoal.auditing.releases.constraints import Constraints


class _Block(NamedTuple):
    """People of one release whose groups show values by the same codes."""

    rows: Ints
    order: Ints
    """The table's values, those that are shown alike together."""
    first: Ints
    """Where each code begins among them."""
    column: Ints
    """The code of each of the table's values, as a column of `line`."""
    line: Ints
    """rows x codes: the line of the group that publishes the code, or one beyond all lines."""


def values_left(told: Constraints, rows: Ints) -> Bools:
    """rows x values: what each of some rows can have; they are those of whole components. Nothing
    is left where releases contradict each other."""
    blocks = [
        made
        for release in range(len(told.shown))
        for pooled in (False, True)
        if (made := _block(told, rows, release, pooled=pooled)) is not None
    ]
    count = np.append(told.count, -1)
    left = np.ones((len(rows), len(told.table.values)), bool)
    while True:
        before = int(left.sum())
        for block in blocks:
            can = np.logical_or.reduceat(left[np.ix_(block.rows, block.order)], block.first, axis=1)
            can &= count[block.line] > 0
            can = _forced(can, block.line, count)
            left[block.rows] &= can[:, block.column]
        if int(left.sum()) == before:
            return left


def _forced(can: Bools, line: Ints, count: Ints) -> Bools:
    """What is left of codes once those are told that nobody else can have, or that all who have
    them are known to have."""
    able = np.bincount(line[can], minlength=len(count))
    must = can & (able == count)[line]
    can = np.where(must.any(axis=1)[:, None], must, can)
    settled = can & (can.sum(axis=1) == 1)[:, None]
    taken = np.bincount(line[settled], minlength=len(count)) == count
    return np.asarray(can & (settled | ~taken[line]))


def _block(told: Constraints, rows: Ints, release: int, *, pooled: bool) -> _Block | None:
    group = told.place[release, rows]
    mine = np.flatnonzero((group >= 0) & (told.pooled[group] == pooled))
    if not len(mine):
        return None
    shows = told.shows(release, pooled=pooled)
    codes, column = np.unique(shows, return_inverse=True)
    order = np.argsort(column, kind="stable")
    first = np.searchsorted(column[order], np.arange(len(codes)))
    width = len(told.shown[release].table.values) + 1
    keys = told.owner * width + told.code
    asked = group[mine][:, None] * width + codes
    place = np.searchsorted(keys, asked).clip(max=len(keys) - 1)
    line = np.where(keys[place] == asked, place, len(keys))
    return _Block(mine, order, first, column, line)
