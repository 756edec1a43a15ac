"""The Spark engine: counts cells on the cluster, deals nothing, and lets the cluster write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from shoal.data.sources.numbers import typed
from shoal.data.sources.read import refuse_unused
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.data.table.frames import is_spark_frame
from shoal.engines.counting import CountedTable, count_name, read_cells
from shoal.engines.engine import Dealt, Pairs
from shoal.engines.runs import Runs
from shoal.engines.spark.cells import check_repeats, joined_pairs, spark_cells
from shoal.engines.spark.jobs import watched
from shoal.engines.spark.parts import as_frame, write_frame, write_parts
from shoal.engines.spark.rows import SparkRows, row_groups
from shoal.engines.spark.source import failures_told, is_text, open_session, open_source
from shoal.errors import InputError
from shoal.groups import Grouping, Progress, silent
from shoal.names import Reading

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_CELLS = 20_000_000
"""So many cells are brought to the driver, unless it is told otherwise."""


class SparkEngine:
    """Takes a Spark frame, or what `open_source` opens; rows never come here.

    Cells come here through a scratch folder, which is private and removed at the end: the setting
    `spark.shoal.scratch` of the session names the folder that it is made in. That one and whatever
    releases are saved to have to be seen by this machine and all executors under the same name, as
    they are on one machine, or in a file system that they share.
    """

    name = "spark"

    def __init__(
        self,
        session: SparkSession | None = None,
        *,
        most_cells: int = MOST_CELLS,
        progress: Progress = silent,
        **reading: Unpack[Reading],
    ) -> None:
        self.session = open_session() if session is None else session
        self.reading = reading
        self.most_cells, self.progress = most_cells, progress

    def count(self, source: Any, spec: Spec, *, progress: Progress = silent) -> Table:
        if isinstance(source, str | Path) and (cells := read_cells(source)) is not None:
            refuse_unused("cells", **self.reading)
            return cells.table(spec)
        counted, rows = self._counted(source, spec, progress)
        return replace(counted.table(spec), source=rows)

    def counted(self, source: Any, spec: Spec, *, progress: Progress = silent) -> CountedTable:
        return self._counted(source, spec, progress)[0]

    def _counted(
        self, source: Any, spec: Spec, progress: Progress
    ) -> tuple[CountedTable, SparkRows]:
        told = self.progress if progress is silent else progress
        with watched(self.session, "counting on Spark", told):
            frame = self._frame(source)
            with failures_told():
                cells, rows, persons = spark_cells(frame, spec, most=self.most_cells)
        cells = _typed(cells, source, self.reading.get("decimal"))
        counts = pl.Series(count_name(cells.columns), rows.counts)
        return CountedTable(cells, counts, persons=persons), rows

    def _frame(self, source: DataFrame | str | Path) -> DataFrame:
        if isinstance(source, str | Path):
            return open_source(source, self.session, **self.reading)
        if not is_spark_frame(source):
            raise InputError(
                "engine-source",
                "The Spark engine takes Spark frames, files and tables of a catalog, not a "
                f"{type(source).__name__} of {type(source).__module__.partition('.')[0]}.",
                "Give a Spark frame or an address, or leave the engine out.",
            )
        return source

    def pairs(
        self,
        table: Any,
        released: Any,
        columns: Sequence[str],
        *,
        key: str,
        once: Sequence[str] = (),
        progress: Progress = silent,
    ) -> Pairs:
        decimal = self.reading.get("decimal")
        told = self.progress if progress is silent else progress
        with watched(self.session, "joining on Spark", told):
            mine, theirs = self._frame(table), self._frame(released)
            with failures_told():
                check_repeats(mine, once)
                found = joined_pairs(mine, theirs, columns, key, most=self.most_cells)
        return replace(
            found,
            table=_typed(found.table, table, decimal),
            released=_typed(found.released, released, decimal),
        )

    def deal(self, table: Table, grouping: Grouping, *, seed: int) -> Dealt | None:
        return None

    def parts(self, table: Table, grouping: Grouping, *, seed: int) -> None:
        """Rows are not brought here: `write_rows` deals them where they are."""

    def row_groups(self, table: Table, grouping: Grouping, *, seed: int) -> Any:
        """What identifies everybody, with the gid of their group, as a Spark frame: for the
        publisher only. -1 where somebody is suppressed."""
        return row_groups(table, grouping, seed=seed)

    def write_rows(self, dealt: Any, path: Path, *, rows: int) -> None:
        """Writes the same as a folder of parts, whole or not at all."""
        write_frame(dealt, path, rows=rows, progress=self.progress)

    def frame(self, runs: Runs) -> Any:
        """A published table as a Spark frame."""
        return as_frame(self.session, runs)

    def write(self, runs: Runs, path: Path) -> None:
        """Writes one published table as a folder of parts, whole or not at all."""
        write_parts(self.session, runs, path, self.progress)


def _typed(lines: pl.DataFrame, source: Any, decimal: str | None) -> pl.DataFrame:
    """Lines with the types that the values of text files have."""
    return (
        typed(lines, decimal=decimal)
        if isinstance(source, str | Path) and is_text(source)
        else lines
    )
