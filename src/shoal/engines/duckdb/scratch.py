"""A connection to DuckDB for one piece of work, and rows that it is given."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import polars as pl

from shoal.data.sources.streamed import Rows
from shoal.errors import InputError, missing_extra
from shoal.memory import allowed_memory

SHARE = 4
"""DuckDB gets one part in so many of the memory that may be taken: the cells come after it."""


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
