"""The Polars engine: rows are read and coded here, and dealt from a random order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from shoal.engines.engine import Dealt
from shoal.engines.kernels import deal_lines, rows_by_cell
from shoal.engines.runs import Runs
from shoal.grouping import SUPPRESSED, Grouping
from shoal.grouping.grouping import Counts
from shoal.grouping.suppressed import among_first, lost_members
from shoal.sources import read_table, write_parts
from shoal.spec import Spec
from shoal.table import IntArray, Table


class PolarsEngine:
    """Takes a frame, or reads a path or URL; the table's people are in memory."""

    name = "polars"

    def count(self, source: Any, spec: Spec) -> Table:
        frame = read_table(source) if isinstance(source, str | Path) else source
        return Table.from_frame(frame, spec)

    def deal(self, table: Table, grouping: Grouping, *, seed: int) -> Dealt | None:
        return None if table.people is None else deal(table, grouping, seed=seed)

    def write(self, runs: Runs, path: Path) -> None:
        write_parts(runs.slices(), path)


def deal(table: Table, grouping: Grouping, *, seed: int = 0) -> Dealt:
    """Draws the rows of every line of a grouping, of a table whose rows are here."""
    signature, value, cell_rows = table.cells
    start = np.concatenate([[0], np.cumsum(cell_rows)])
    drawn = np.random.default_rng(seed).permutation(np.arange(table.rows, dtype=np.int32))
    drawn = _lost_last(table, drawn, lost_members(table, grouping, seed=seed))
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
    group = np.full(table.rows, SUPPRESSED, np.int32)
    published = table.row_value if grouping.shown is None else table.row_value.copy()
    shown = grouping.value if grouping.shown is None else grouping.shown
    deal_lines(
        ordered,
        start,
        cell,
        grouping.first_number[grouping.group],
        grouping.rows,
        grouping.copies[grouping.group],
        shown,
        group,
        published,
    )
    return Dealt(group, published)


def _lost_last(table: Table, drawn: IntArray, lost: Counts) -> IntArray:
    """The rows in the order drawn, but so many of each member cell at the end as are lost."""
    if not lost.any():
        return drawn
    signature, member, _ = table.member_cells
    losing = np.zeros(len(table.signatures), bool)
    losing[signature[lost > 0]] = True
    some = drawn[losing[table.row_signature[drawn]]]
    width = np.int64(len(table.members))
    cell = np.searchsorted(
        signature * width + member, table.row_signature[some] * width + table.row_member[some]
    )
    gone = np.zeros(table.rows, bool)
    gone[some[among_first(cell, lost)]] = True
    return np.concatenate([drawn[~gone[drawn]], drawn[gone[drawn]]])
