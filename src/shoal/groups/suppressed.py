"""Who of a cell is suppressed, where a label stands for several values.

A grouping says how many people of a cell are published. Which of the values behind the label the
others have is chance, and drawn from counts: in whatever order the rows stand, or wherever they
are, the same table and seed lose the same.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Bools, Ints, Whole
from shoal.data.table import Table
from shoal.groups.grouping import Grouping


def lost_members(table: Table, grouping: Grouping, *, seed: int) -> Ints:
    """How many people of each of the table's member cells are in no group."""
    signature, value, rows = table.cells
    width = np.int64(len(table.values))
    keys = signature * width + value
    line = np.searchsorted(keys, grouping.signature * width + grouping.value)
    lost = rows - np.bincount(line, grouping.people, len(rows)).astype(np.int64)
    member_signature, member, member_rows = table.member_cells
    if not lost.any():
        return np.zeros(len(member), np.int64)
    cell = np.searchsorted(keys, member_signature * width + table.member_value[member])
    losing = np.flatnonzero(lost[cell])
    people = np.random.default_rng(seed).permutation(np.repeat(losing, member_rows[losing]))
    gone = people[among_first(cell[people], lost)]
    return np.bincount(gone, minlength=len(member)).astype(np.int64)


def among_first(owner: Whole, wanted: Ints) -> Bools:
    """Which entries are among the first of their owner's, of whom each wants so many."""
    by_owner = np.argsort(owner, kind="stable")
    owner = owner[by_owner]
    chosen = np.empty(len(owner), bool)
    chosen[by_owner] = np.arange(len(owner)) - np.searchsorted(owner, owner) < wanted[owner]
    return chosen
