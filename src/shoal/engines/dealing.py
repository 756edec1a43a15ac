"""Dealing: which of a table's rows are the people that a grouping counts.

People of one line are alike in all that is published, so any of the rows with that signature and
value will do; which ones is drawn at random.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.engines.kernels import rows_by_cell
from shoal.grouping import SUPPRESSED, Grouping
from shoal.table import IntArray, Table


class Dealt(NamedTuple):
    """A grouping row by row."""

    group: IntArray
    """The number of each row's group, copies counted; -1 where it is suppressed."""
    value: IntArray
    """The value code that each row is published with, before pooling."""


def deal(table: Table, grouping: Grouping, *, seed: int = 0) -> Dealt:
    """Draws the rows of every line of a grouping."""
    signature, value, cell_rows = table.cells
    start = np.concatenate([[0], np.cumsum(cell_rows)])
    drawn = np.random.default_rng(seed).permutation(np.arange(table.rows, dtype=np.int32))
    ordered = rows_by_cell(
        drawn,
        table.row_signature,
        table.row_value,
        np.searchsorted(signature, np.arange(len(table.signatures) + 1)),
        np.ascontiguousarray(value),
        start,
    )
    width = len(table.values)
    cell = np.searchsorted(
        signature.astype(np.int64) * width + value,
        grouping.signature.astype(np.int64) * width + grouping.value,
    )
    by_cell = np.argsort(cell, kind="stable")
    people, cell = grouping.people[by_cell], cell[by_cell]
    line = np.repeat(by_cell, people)
    turn = np.arange(len(line)) - np.repeat(np.cumsum(people) - people, people)
    rows = ordered[start[np.repeat(cell, people)] + _turn_in_cell(cell, people)]
    copy = turn // grouping.rows[line]
    group = np.full(table.rows, SUPPRESSED, np.int32)
    group[rows] = grouping.first_number[grouping.group[line]] + copy
    published = table.row_value if grouping.shown is None else table.row_value.copy()
    if grouping.shown is not None:
        published[rows] = grouping.shown[line]
    return Dealt(group, published)


def _turn_in_cell(cell: NDArray[np.int64], people: NDArray[np.int64]) -> NDArray[np.int64]:
    """For every person of the lines, the how manieth they are of their cell's."""
    total = np.cumsum(people) - people
    first = np.flatnonzero(np.diff(cell, prepend=-1))
    before = np.repeat(total[first], np.diff(np.append(first, len(cell))))
    return np.asarray(np.arange(int(people.sum())) - np.repeat(before, people))
