"""Pairs by DuckDB, which joins files by a key within its part of the memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from shoal.data.sources.database import quoted_name
from shoal.data.sources.delimited import check_columns
from shoal.data.sources.streamed import Rows
from shoal.engines.duckdb.scratch import Scratch, given_rows, scratch_connection
from shoal.engines.pairs import KeyCounts, Pairs, check_keys, check_named


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
