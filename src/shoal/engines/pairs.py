"""Pairs: what a table says of people beside what another tool published of them, as counts.

DuckDB joins the two by a key, within its part of the memory, and counts the combinations; neither
table's rows come here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from shoal.engines.duckdb import Scratch, given_rows, scratch_connection
from shoal.errors import InputError, nearest
from shoal.sources.database import quoted_name
from shoal.sources.streamed import Rows, open_rows


@dataclass(frozen=True, eq=False)
class Pairs:
    """Distinct pairs of lines, and how many people have each; one line for each in either frame."""

    table: pl.DataFrame
    released: pl.DataFrame
    there: pl.Series
    """Whether they are in the release; if not, its columns are missing."""
    count: pl.Series


def joined_pairs(
    table: str | Path,
    released: str | Path,
    columns: Sequence[str],
    shown: Sequence[str],
    key: str,
    **text: str | None,
) -> Pairs:
    """Pairs of some columns of a table and those of `shown` that a released file has; `text` says
    how CSV is written, if that is not to be found out."""
    sources = {"table": _opened(table, **text), "release": _opened(released, **text)}
    for name, rows in sources.items():
        if key not in rows.names:
            raise InputError(
                "key-missing",
                f'The {name} has no key column "{key}"{nearest(key, rows.names)}.',
                "Name a column that both have.",
            )
    told = [name for name in shown if name in sources["release"].names]
    with scratch_connection() as scratch:
        connection = scratch.connection
        _register(scratch, "o", sources["table"], columns, key)
        _register(scratch, "r", sources["release"], told, key)
        _check_keys(connection, key)
        parts = [f"o.c{place} as o{place}" for place in range(len(columns))]
        parts += [f"r.c{place} as r{place}" for place in range(len(told))]
        found = pl.DataFrame(
            connection.sql(
                f"select {', '.join(parts)}, r.k is not null as there, count(*) as people "
                "from o left join r on o.k = r.k group by all"
            ).to_arrow_table()
        )
    return Pairs(
        _finished(found, "o", columns, sources["table"]),
        _finished(found, "r", told, sources["release"]),
        found["there"],
        found["people"].cast(pl.Int64),
    )


def _opened(source: str | Path, **text: str | None) -> Rows:
    rows = open_rows(source, **text)
    if rows is None:
        raise InputError(
            "engine-source",
            f'"{source}" is of a kind that is read as a whole only.',
            "Give CSV or Parquet, or leave the engine out.",
        )
    return rows


def _register(scratch: Scratch, name: str, rows: Rows, columns: Sequence[str], key: str) -> None:
    """A table of the connection with the columns as c0, c1 and so on, and the key as text."""
    given_rows(scratch, rows, list(dict.fromkeys([*columns, key]))).create_view(f"{name}_given")
    listed = [f"{quoted_name(column)} as c{place}" for place, column in enumerate(columns)]
    listed.append(f"cast({quoted_name(key)} as varchar) as k")
    scratch.connection.sql(
        f"create temp table {name} as select {', '.join(listed)} from {name}_given"
    )


def _check_keys(connection: Any, key: str) -> None:
    for name, words in (("o", "table"), ("r", "release")):
        keys = connection.sql(f"select count(*), count(distinct k) from {name}").fetchall()[0]
        if keys[0] != keys[1]:
            raise InputError(
                "key-twice", f'The key "{key}" repeats in the {words}.', "Use a unique key."
            )
        if not keys[0]:
            raise InputError(
                "released-empty", f"The {words} has no rows.", "Give one with people in it."
            )
    stray = connection.sql("select k from r anti join o using (k) limit 1").fetchall()
    if stray:
        raise InputError(
            "key-stray",
            f'The release has the key "{stray[0][0]}", which the table lacks.',
            "Release rows of the table only.",
        )


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
