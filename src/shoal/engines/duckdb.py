"""The DuckDB engine: counts files within a limit of memory, and tables of databases where they are.

Rows of a database never come here, so that nothing can be said of single ones; those of files are
read again to be dealt, as by the Polars engine.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from shoal.engines.cells import read_cells
from shoal.engines.counting import Counted, columns_of, count_name, count_rows, refuse_cells
from shoal.engines.dealing import dealt_parts
from shoal.engines.engine import Dealt, Part
from shoal.engines.runs import Runs
from shoal.errors import InputError, missing_extra
from shoal.grouping import Grouping
from shoal.grouping.grouping import Progress, silent
from shoal.memory import allowed_memory
from shoal.sources import read_table, write_parts
from shoal.sources.database import count_database, quoted_name
from shoal.sources.streamed import Rows, open_rows
from shoal.spec import Spec
from shoal.storage.location import parse_url
from shoal.table import Table
from shoal.table.table import check_roles

SHARE = 4
"""DuckDB gets one part in so many of the memory that may be taken: the cells come after it."""


class DuckDBEngine:
    """Counts a file, a folder of Parquet files, or a table of a database."""

    name = "duckdb"

    def __init__(self, *, separator: str | None = None, encoding: str | None = None) -> None:
        self._separator, self._encoding = separator, encoding

    def count(self, source: Any, spec: Spec, *, progress: Progress = silent) -> Table:
        rows = self._open(source)
        counted = read_cells(source) or self._counted(source, rows, spec)
        return counted.table(spec)

    def counted(self, source: Any, spec: Spec, *, progress: Progress = silent) -> Counted:
        return self._counted(source, self._open(source), spec)

    def _open(self, source: Any) -> Rows | None:
        if not isinstance(source, str | Path):
            raise InputError(
                "engine-source",
                f"The DuckDB engine counts files and databases, not a {type(source).__name__}.",
                "Give a path or a URL, or leave the engine out.",
            )
        return open_rows(source, separator=self._separator, encoding=self._encoding)

    def _counted(self, source: str | Path, rows: Rows | None, spec: Spec) -> Counted:
        columns, url = columns_of(spec), parse_url(str(source))
        needed, name = [*columns, *spec.identifiers], count_name(columns)
        if url is not None:
            cells = count_database(url, columns, needed, name)
        elif rows is None:
            cells = count_rows([read_table(source, columns=needed)], columns)
        else:
            check_roles(rows.names, spec)
            cells = _counted(rows, columns, name)
        refuse_cells(cells, columns)
        return Counted.of(cells, columns, rows)

    def deal(self, table: Table, grouping: Grouping, *, seed: int) -> Dealt | None:
        return None

    def parts(self, table: Table, grouping: Grouping, *, seed: int) -> Iterator[Part] | None:
        return dealt_parts(table, grouping, seed=seed)

    def write(self, runs: Runs, path: Path) -> None:
        write_parts(runs.slices(), path)


def _counted(rows: Rows, columns: list[str], name: str) -> pl.DataFrame:
    """The distinct combinations and their counts."""
    listed = ", ".join(quoted_name(column) for column in columns)
    with scratch_connection() as scratch:
        given = given_rows(scratch, rows, columns)
        counted = given.aggregate(f"{listed}, count(*) as {quoted_name(name)}", listed)
        found = pl.DataFrame(counted.to_arrow_table())
    kinds = {column: rows.schema[column] for column in columns}
    return found.with_columns(pl.col(one).cast(kind) for one, kind in kinds.items())


class Scratch(NamedTuple):
    """A connection, and what was wrong with rows that it was given."""

    connection: Any
    refused: list[InputError]


@contextmanager
def scratch_connection() -> Iterator[Scratch]:
    """A connection that gets its share of the memory. What does not fit into it DuckDB lays aside,
    in a folder of its own that nobody else can read."""
    try:
        import duckdb
    except ImportError:
        raise missing_extra("The DuckDB engine", "duckdb") from None
    with tempfile.TemporaryDirectory() as folder:
        config: dict[str, Any] = {
            "memory_limit": f"{allowed_memory() // SHARE}B",
            "temp_directory": folder,
            "preserve_insertion_order": "false",
        }
        with duckdb.connect(config=config) as connection:
            refused: list[InputError] = []
            try:
                yield Scratch(connection, refused)
            except duckdb.Error:
                if refused:
                    raise refused[0] from None
                raise


def given_rows(scratch: Scratch, rows: Rows, columns: list[str]) -> Any:
    """Rows as a relation. DuckDB reads Parquet files itself; texts are split as everywhere else."""
    if rows.files:
        return scratch.connection.read_parquet(rows.files, hive_partitioning=False)
    return scratch.connection.from_arrow(_reader(rows, columns, scratch.refused))


def _reader(rows: Rows, columns: list[str], refused: list[InputError]) -> Any:
    """Rows as a stream of Arrow batches. DuckDB tells of what goes wrong in words of its own, so
    that `refused` takes what is to be said instead."""
    import pyarrow as pa

    empty = pl.DataFrame(schema={column: rows.schema[column] for column in columns}).to_arrow()

    def batches() -> Iterator[pa.RecordBatch]:
        try:
            for frame in rows.frames(columns):
                for batch in frame.to_arrow().to_batches():
                    yield batch.cast(empty.schema)
        except InputError as error:
            refused.append(error)
            raise

    return pa.RecordBatchReader.from_batches(empty.schema, batches())
