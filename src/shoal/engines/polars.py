"""The Polars engine: rows are read and coded here, and dealt from a random order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.engines.engine import Dealt
from shoal.engines.kernels import rows_by_cell
from shoal.grouping import SUPPRESSED, Grouping
from shoal.sources import read_table, write_table
from shoal.spec import Spec
from shoal.table import Table


class PolarsEngine:
    """Takes a frame, or reads a path or URL; the table's people are in memory."""

    name = "polars"

    def count(self, source: Any, spec: Spec) -> Table:
        frame = read_table(source) if isinstance(source, str | Path) else source
        return Table.from_frame(frame, spec)

    def deal(self, table: Table, grouping: Grouping, *, seed: int) -> Dealt | None:
        return None if table.people is None else deal(table, grouping, seed=seed)

    def write(self, frame: Any, path: Path) -> None:
        write_table(frame, path)


def deal(table: Table, grouping: Grouping, *, seed: int = 0) -> Dealt:
    """Draws the rows of every line of a grouping, of a table whose rows are here."""
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
