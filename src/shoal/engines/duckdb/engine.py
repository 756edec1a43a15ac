"""The DuckDB engine: counts files within a limit of memory, and tables of databases where they are.

Rows of a database never come here, so that nothing can be said of single ones; those of files are
read again to be dealt, as by the Polars engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from shoal.data.sources import read_table, write_parts
from shoal.data.sources.database import count_database, distinct_sql, quoted_name, repeats_database
from shoal.data.sources.delimited import check_columns
from shoal.data.sources.streamed import Rows, open_rows
from shoal.data.spec import Spec
from shoal.data.storage.location import parse_url
from shoal.data.table import Table
from shoal.data.table.identifiers import check_identifiers, checked_identifiers, refuse_repeats
from shoal.data.table.persons import Persons, refuse_elsewhere
from shoal.engines.cells import cells_of
from shoal.engines.counting import CountedTable, columns_of, count_name, count_rows, refuse_cells
from shoal.engines.dealing import dealt_parts
from shoal.engines.duckdb.pairs import joined_pairs
from shoal.engines.duckdb.scratch import given_rows, scratch_connection
from shoal.engines.engine import Dealt, Part
from shoal.engines.pairs import Pairs
from shoal.engines.persons import frame_by_person, rows_by_person
from shoal.engines.runs import Runs
from shoal.errors import InputError
from shoal.groups import Grouping
from shoal.groups.grouping import Progress, silent
from shoal.names import Reading


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
                f'"{source}" is of a kind that is read as a whole only.',
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
