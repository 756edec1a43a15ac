"""The Polars engine: codes frames; counts and deals large files some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from shoal.data.sources import read_table, write_parts
from shoal.data.sources.streamed import Rows, open_rows
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.data.table.frames import to_polars
from shoal.data.table.persons import check_identifiers, check_streamed
from shoal.engines.counting import CountedTable, cells_of, columns_of, count_rows
from shoal.engines.dealing import deal, dealt_parts
from shoal.engines.engine import Dealt, Part
from shoal.engines.persons import frame_by_person, rows_by_person
from shoal.engines.runs import Runs
from shoal.groups import Grouping
from shoal.groups.grouping import Progress, silent
from shoal.names import Reading

LARGE = 1 << 28
"""A file that would take more bytes in memory is read some rows at a time."""


class PolarsEngine:
    """Takes a frame, or reads a path or URL."""

    name = "polars"

    def __init__(self, *, large: int = LARGE, **reading: Unpack[Reading]) -> None:
        self.reading, self._large = reading, large

    def count(self, source: Any, spec: Spec, *, progress: Progress = silent) -> Table:
        if not isinstance(source, str | Path):
            return Table.from_frame(source, spec)
        cells = cells_of(self._open(source))
        if cells is not None:
            return cells.table(spec)
        held = self.opened(source)
        if isinstance(held, pl.DataFrame):
            return Table.from_frame(held, spec)
        return self.counted(source, spec, progress=progress).table(spec)

    def opened(self, source: str | Path) -> pl.DataFrame | Rows:
        """The rows of a source, at once; or, of a large file, some after the other."""
        rows = self._open(source)
        return self.read(source) if rows is None or rows.weight < self._large else rows

    def counted(self, source: Any, spec: Spec, *, progress: Progress = silent) -> CountedTable:
        columns = columns_of(spec)
        rows = self._open(source) if isinstance(source, str | Path) else None
        if rows is not None:
            left, persons = rows_by_person(rows, spec)
            check_streamed(lambda: left.frames(spec.identifiers), spec)
            cells = count_rows(left.coded_frames(columns), columns, progress=progress)
            cells = cells.cast({name: left.schema[name] for name in columns})
            return CountedTable.of(cells, columns, left, persons)
        frame = self.read(source) if isinstance(source, str | Path) else to_polars(source)
        frame, persons = frame_by_person(frame, spec)
        check_identifiers(frame, spec)
        cells = count_rows([frame.select(columns)], columns)
        return CountedTable.of(cells, columns, persons=persons)

    def _open(self, source: str | Path) -> Rows | None:
        return open_rows(source, **self.reading)

    def read(self, source: str | Path) -> pl.DataFrame:
        """All rows of a source, at once."""
        return read_table(source, **self.reading)

    def deal(self, table: Table, grouping: Grouping, *, seed: int) -> Dealt | None:
        return None if table.people is None else deal(table, grouping, seed=seed)

    def parts(self, table: Table, grouping: Grouping, *, seed: int) -> Iterator[Part] | None:
        return dealt_parts(table, grouping, seed=seed)

    def write(self, runs: Runs, path: Path) -> None:
        write_parts(runs.slices(), path)
