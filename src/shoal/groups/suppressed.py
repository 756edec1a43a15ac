"""Who is suppressed, as counts: of the table's cells, and where a label stands for several values.

A grouping says how many people of a cell are published. Which of the values behind the label the
others have is chance, and drawn from counts: in whatever order the rows stand, or wherever they
are, the same table and seed lose the same.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Bools, IntArray, Ints, Whole
from shoal.data.table import Table
from shoal.data.table.table import Cells
from shoal.groups.grouping import Grouping

BLOCK = 1 << 20
"""So many lines of a grouping are looked up at once."""


def cell_keys(table: Table) -> Ints:
    """Signature and value of each of the table's cells as one number, in order."""
    return cell_key(table, table.cells.signature, table.cells.value)


def cell_key(table: Table, signature: IntArray, value: IntArray) -> Ints:
    """Signatures and values of some people as one number each."""
    return signature * np.int64(len(table.values)) + value


def left_out(table: Table, grouping: Grouping) -> Ints:
    """How many people of each of the table's cells are in no group."""
    keys, left = cell_keys(table), table.cells.rows.copy()
    for first in range(0, len(grouping.group), BLOCK):
        some = slice(first, first + BLOCK)
        place = np.searchsorted(
            keys, cell_key(table, grouping.signature[some], grouping.value[some])
        )
        people = grouping.rows[some] * grouping.copies[grouping.group[some]]
        left -= np.bincount(place, people, len(left)).astype(np.int64)
    return left


def missing_people(table: Table, left: Ints) -> Cells:
    """The cells of a table of whose people some are left, so many of each cell."""
    gone = np.flatnonzero(left)
    return Cells(table.cells.signature[gone], table.cells.value[gone], left[gone])


def cells_of_members(table: Table) -> Ints:
    """Of each of the table's member cells, which of its cells it is of."""
    signature, member, _ = table.member_cells
    return np.searchsorted(cell_keys(table), cell_key(table, signature, table.member_value[member]))


def lost_members(table: Table, grouping: Grouping, *, seed: int) -> Ints:
    """How many people of each of the table's member cells are in no group."""
    lost, rows = left_out(table, grouping), table.member_cells.rows
    if not lost.any():
        return np.zeros(len(rows), np.int64)
    cell = cells_of_members(table)
    losing = np.flatnonzero(lost[cell])
    people = np.random.default_rng(seed).permutation(np.repeat(losing, rows[losing]))
    gone = people[among_first(cell[people], lost)]
    return np.bincount(gone, minlength=len(rows)).astype(np.int64)


def among_first(owner: Whole, wanted: Ints) -> Bools:
    """Which entries are among the first of their owner's, of whom each wants so many."""
    by_owner = np.argsort(owner, kind="stable")
    owner = owner[by_owner]
    chosen = np.empty(len(owner), bool)
    chosen[by_owner] = np.arange(len(owner)) - np.searchsorted(owner, owner) < wanted[owner]
    return chosen
