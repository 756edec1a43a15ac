"""The DuckDB engine: counts files within a limit of memory, and tables of databases where they are.

Rows of a database never come here, so that nothing can be said of single ones; those of files are
read again to be dealt, as by the Polars engine.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import polars as pl

from shoal.data.sources import read_table, write_parts
from shoal.data.sources.database import count_database, distinct_sql, quoted_name, repeats_database
from shoal.data.sources.delimited import check_columns
from shoal.data.sources.streamed import Rows, open_rows
from shoal.data.spec import Spec
from shoal.data.storage.location import parse_url
from shoal.data.table import Table
from shoal.data.table.persons import (
    Persons,
    check_identifiers,
    checked_identifiers,
    refuse_elsewhere,
    refuse_repeats,
)
from shoal.engines.counting import (
    CountedTable,
    cells_of,
    columns_of,
    count_name,
    count_rows,
    refuse_cells,
)
from shoal.engines.dealing import dealt_parts
from shoal.engines.engine import Dealt, KeyCounts, Pairs, Part, check_keys, check_named
from shoal.engines.persons import frame_by_person, rows_by_person
from shoal.engines.runs import Runs
from shoal.errors import InputError, missing_extra
from shoal.groups import Grouping
from shoal.groups.grouping import Progress, silent
from shoal.memory import allowed_memory
from shoal.names import Reading

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


def joined_pairs(table: Rows, released: Rows, columns: Sequence[str], key: str) -> Pairs:
    """Pairs of some columns of a table and those of the same names that a released file has."""
    check_named(key, table=table.names, release=released.names)
    check_columns(columns, table.names)
    told = [name for name in columns if name in released.names]
    with scratch_connection() as scratch:
        connection = scratch.connection
        _register(scratch, "o", table, columns, key)
        _register(scratch, "r", released, told, key)
        stray = connection.sql("select k from r anti join o using (k) limit 1").fetchall()
        check_keys(
            key,
            table=_keys(connection, "o"),
            release=_keys(connection, "r"),
            stray=[str(line[0]) for line in stray],
        )
        parts = [f"o.c{place} as o{place}" for place in range(len(columns))]
        parts += [f"r.c{place} as r{place}" for place in range(len(told))]
        found = pl.DataFrame(
            connection.sql(
                f"select {', '.join(parts)}, r.k is not null as there, count(*) as people "
                "from o left join r on o.k = r.k group by all"
            ).to_arrow_table()
        )
    return Pairs(
        _finished(found, "o", columns, table),
        _finished(found, "r", told, released),
        found["there"],
        found["people"].cast(pl.Int64),
    )


def _register(scratch: Scratch, name: str, rows: Rows, columns: Sequence[str], key: str) -> None:
    """A table of the connection with the columns as c0, c1 and so on, and the key as text."""
    given_rows(scratch, rows, list(dict.fromkeys([*columns, key]))).create_view(f"{name}_given")
    listed = [f"{quoted_name(column)} as c{place}" for place, column in enumerate(columns)]
    listed.append(f"cast({quoted_name(key)} as varchar) as k")
    scratch.connection.sql(
        f"create temp table {name} as select {', '.join(listed)} from {name}_given"
    )


def _keys(connection: Any, name: str) -> KeyCounts:
    counts = "count(*), count(distinct k) + least(count(*) - count(k), 1)"
    return KeyCounts(*connection.sql(f"select {counts} from {name}").fetchall()[0])


def _finished(found: pl.DataFrame, front: str, names: Sequence[str], rows: Rows) -> pl.DataFrame:
    """Columns as `read_table` would give them."""
    return rows.finished(
        pl.DataFrame(
            [
                found[f"{front}{place}"].cast(rows.schema[name]).alias(name)
                for place, name in enumerate(names)
            ]
        )
    )


class DuckDBEngine:
    """Counts a file, a folder of Parquet files, or a table of a database."""

    name = "duckdb"

    def __init__(self, **reading: Unpack[Reading]) -> None:
        self.reading = reading

    def count(self, source: Any, spec: Spec, *, progress: Progress = silent) -> Table:
        rows = self._open(source)
        counted = cells_of(rows) or self._counted(source, rows, spec)
        return counted.table(spec)

    def counted(self, source: Any, spec: Spec, *, progress: Progress = silent) -> CountedTable:
        return self._counted(source, self._open(source), spec)

    def _open(self, source: Any) -> Rows | None:
        if not isinstance(source, str | Path):
            raise InputError(
                "engine-source",
                f"The DuckDB engine counts files and databases, not a {type(source).__name__}.",
                "Give a path or a URL, or leave the engine out.",
            )
        return open_rows(source, **self.reading)

    def _counted(self, source: str | Path, rows: Rows | None, spec: Spec) -> CountedTable:
        columns, url = columns_of(spec), parse_url(str(source))
        name, persons = count_name(columns), None
        if url is not None:
            who = [*checked_identifiers(spec), *spec.named_person]
            for one, counts in repeats_database(url, [*columns, *who], who).items():
                if one == spec.person:
                    refuse_elsewhere(spec, *counts)
                    persons = Persons(counts[0], counts[1])
                else:
                    refuse_repeats(one, *counts)
            cells = count_database(url, columns, name)
        elif rows is None:
            frame, persons = frame_by_person(read_table(source, **self.reading), spec)
            check_identifiers(frame, spec)
            cells = count_rows([frame.select(columns)], columns)
        else:
            rows, persons = rows_by_person(rows, spec)
            _check_identifiers(rows, checked_identifiers(spec))
            cells = _counted(rows, columns, name)
        refuse_cells(cells, columns)
        return CountedTable.of(cells, columns, rows, persons)

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
        rows = self._opened(table)
        _check_identifiers(rows, once)
        return joined_pairs(rows, self._opened(released), columns, key)

    def _opened(self, source: Any) -> Rows:
        rows = self._open(source)
        if rows is None:
            raise InputError(
                "engine-source",
                f'"{source}" has a format that is read as a whole only.',
                "Give CSV or Parquet, or leave the engine out.",
            )
        return rows

    def deal(self, table: Table, grouping: Grouping, *, seed: int) -> Dealt | None:
        return None

    def parts(self, table: Table, grouping: Grouping, *, seed: int) -> Iterator[Part] | None:
        return dealt_parts(table, grouping, seed=seed)

    def write(self, runs: Runs, path: Path) -> None:
        write_parts(runs.slices(), path)


def _check_identifiers(rows: Rows, identifiers: Sequence[str]) -> None:
    """An InputError for an identifier that repeats."""
    check_columns(identifiers, rows.names)
    for name in identifiers:
        kind = rows.schema[name]
        asked = distinct_sql(name, text=kind == pl.String, floating=kind.is_float())
        with scratch_connection() as scratch:
            ((named, distinct),) = given_rows(scratch, rows, [name]).aggregate(asked).fetchall()
        refuse_repeats(name, named, distinct)


def _counted(rows: Rows, columns: list[str], name: str) -> pl.DataFrame:
    """The distinct combinations and their counts."""
    listed = ", ".join(quoted_name(column) for column in columns)
    with scratch_connection() as scratch:
        given = given_rows(scratch, rows, columns)
        counted = given.aggregate(f"{listed}, count(*) as {quoted_name(name)}", listed)
        found = pl.DataFrame(counted.to_arrow_table())
    kinds = {column: rows.schema[column] for column in columns}
    return found.with_columns(pl.col(one).cast(kind) for one, kind in kinds.items())
