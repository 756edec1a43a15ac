"""Tables from DuckDB files and PostgreSQL servers, through their own drivers, only ever reading.

The password of a PostgreSQL server comes from PGPASSWORD or the driver's ~/.pgpass; it is no part
of a URL, and is struck out of everything that a driver says.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from urllib.parse import quote

import polars as pl

from shoal.data.sources.delimited import check_columns, plain
from shoal.data.sources.numbers import typed
from shoal.data.sources.text import COPIES
from shoal.data.storage.location import DatabaseUrl, check_readable
from shoal.errors import InputError, missing_extra, nearest
from shoal.memory import refuse_memory

CONNECT_SECONDS = 10
BATCH = 1 << 16
"""So many rows are taken at a time."""
_ASKS = {"StatementType.SELECT", "StatementType.MULTI"}  # a PIVOT is a MULTI
"""Statements that DuckDB answers with rows. Others write files, even where the database is only
read: COPY, EXPORT, ATTACH."""
_DUCKDB_TABLES = """
    select table_schema, table_name, table_schema = current_schema()
    from information_schema.tables where table_catalog = current_database()
    order by 1, 2
"""
_POSTGRES_TABLES = """
    select s.nspname, t.relname, pg_table_is_visible(t.oid)
    from pg_class t join pg_namespace s on s.oid = t.relnamespace
    where t.relkind in ('r', 'v', 'm', 'f', 'p')
      and s.nspname not in ('pg_catalog', 'information_schema') and s.nspname not like 'pg_toast%'
    order by 1, 2
"""


def read_database(url: DatabaseUrl, columns: Sequence[str] | None) -> pl.DataFrame:
    """The table or the result of the query that a URL names."""
    table = _read(url)
    names = table.column_names
    for name in names:
        if names.count(name) > 1:
            raise InputError(
                "header-twice",
                f'{url.shown} gives two columns named "{name}".',
                "Name each column of the query with AS.",
            )
    if columns is not None:
        check_columns(columns, names)
    return _from_arrow(table.select(list(columns or names)))


def repeats_database(
    url: DatabaseUrl, needed: Sequence[str], identifiers: Sequence[str]
) -> dict[str, tuple[int, int]]:
    """How many rows have an identifier, and how many of these are distinct, counted there; `needed`
    are all columns that must exist."""
    import pyarrow as pa

    empty = _read(url, lambda sql: f"select * from ({sql}) t limit 0")
    check_columns(needed, empty.column_names)
    counts: dict[str, tuple[int, int]] = {}
    for name in identifiers:
        kind = empty.schema.field(name).type
        text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        asked = distinct_sql(name, text=text, floating=pa.types.is_floating(kind))
        found = _selected(url, asked)
        named, distinct = (column[0].as_py() for column in found.columns)
        counts[name] = named, distinct
    return counts


def _selected(url: DatabaseUrl, asked: str) -> Any:
    return _read(url, lambda sql: f"select {asked} from ({sql}) t")


def distinct_sql(name: str, *, text: bool, floating: bool) -> str:
    """What to select for how many rows have an identifier, and how many of these are distinct;
    an empty text is none."""
    quoted = quoted_name(name)
    held = f"nullif({quoted}, '')" if text else quoted
    # As numbers DuckDB may compare with what a file says of its largest, which passes over NaN.
    held = f"nullif(lower(cast({quoted} as varchar)), 'nan')" if floating else held
    return f"count({held}) as named, count(distinct {held}) as different"


def count_database(url: DatabaseUrl, columns: Sequence[str], count: str) -> pl.DataFrame:
    """The distinct combinations of some columns and how many rows have each, counted there."""
    listed = ", ".join(quoted_name(name) for name in columns)
    counted = f"count(*) as {quoted_name(count)}"
    table = _read(url, lambda sql: f"select {listed}, {counted} from ({sql}) t group by {listed}")
    return plain(_from_arrow(table))


def _read(url: DatabaseUrl, ask: Callable[[str], str] = str) -> Any:
    """What a database answers; `ask` turns the SQL of the URL's table into what is asked."""
    return (_read_duckdb if url.scheme == "duckdb" else _read_postgres)(url, ask)


def _read_duckdb(url: DatabaseUrl, ask: Callable[[str], str]) -> Any:
    try:
        import duckdb
    except ImportError:
        raise missing_extra("A DuckDB database", "duckdb") from None
    path = url.path
    assert path is not None
    check_readable(path)
    try:
        with duckdb.connect(
            path, read_only=True, config={"autoinstall_known_extensions": "false"}
        ) as connection:
            sql = url.query
            if sql is None:
                sql = _select(url, connection.sql(_DUCKDB_TABLES).fetchall())
            if not {str(one.type) for one in connection.extract_statements(sql)} <= _ASKS:
                raise _no_rows(url)
            answer = connection.sql(ask(sql))
            if answer is None:
                raise _no_rows(url)
            return _counted(answer.to_arrow_reader(BATCH), url)
    except duckdb.Error as error:
        raise _database_error(url, str(error)) from None


def _read_postgres(url: DatabaseUrl, ask: Callable[[str], str]) -> Any:
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise missing_extra("A PostgreSQL database", "adbc-driver-postgresql") from None
    options = {"connect_timeout": str(CONNECT_SECONDS), **dict(url.options)}
    text = "&".join(f"{name}={quote(value, safe='')}" for name, value in options.items())
    try:
        with (
            dbapi.connect(f"postgresql://{url.place}?{text}", autocommit=True) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute("set session characteristics as transaction read only")
            sql = url.query
            if sql is None:
                cursor.execute(_POSTGRES_TABLES)
                sql = _select(url, cursor.fetchall())
            cursor.execute(ask(sql))
            table = _counted(cursor.fetch_record_batch(), url)
            if not table.num_columns:
                raise _no_rows(url)
            return table
    except dbapi.Error as error:
        raise _database_error(url, str(error)) from None


def _counted(reader: Any, url: DatabaseUrl) -> Any:
    """The rows that a database sends, unless they take too much memory."""
    import pyarrow as pa

    batches, taken = [], 0
    for batch in reader:
        taken += batch.nbytes
        refuse_memory(COPIES * taken, f"To read {url.shown}", "Ask for fewer rows or columns.")
        batches.append(batch)
    return pa.Table.from_batches(batches, reader.schema)


def _select(url: DatabaseUrl, tables: Iterable[tuple[str, str, bool]]) -> str:
    """SQL for the table that the URL names, which may be `name` or `schema.name`."""
    known: dict[str, str] = {}
    for schema, name, visible in tables:
        known[f"{schema}.{name}"] = f"{quoted_name(schema)}.{quoted_name(name)}"
        if visible:
            known[name] = known[f"{schema}.{name}"]
    if url.table not in known:
        shown = [name for name in known if "." not in name] or list(known)
        raise InputError(
            "database-table",
            f'The database has no table "{url.table}"{nearest(str(url.table), known)}.',
            f"Tables: {', '.join(shown)}." if shown else "It holds no table at all.",
        )
    return f"select * from {known[str(url.table)]}"


def quoted_name(name: str) -> str:
    """A name of a table or column in SQL."""
    return '"' + name.replace('"', '""') + '"'


def _from_arrow(table: Any) -> pl.DataFrame:
    import pyarrow as pa

    columns: list[pl.Series] = []
    for field, data in zip(table.schema, table.columns, strict=True):
        kind = str(getattr(field.type, "type_name", None) or field.type)
        if pa.types.is_interval(field.type):
            raise InputError(
                "database-error",
                f'The column "{field.name}" holds intervals, which shoal does not read.',
                "Read the other columns only, or turn it into text with a query.",
            )
        if isinstance(field.type, pa.BaseExtensionType):
            data = pa.chunked_array(
                [chunk.storage for chunk in data.chunks], field.type.storage_type
            )
        column = pl.Series(field.name, data)
        if kind == "numeric":
            column = typed(column.to_frame()).to_series()
        elif "uuid" in kind:
            column = _uuid_text(column)
        columns.append(column)
    return pl.DataFrame(columns)


def _uuid_text(column: pl.Series) -> pl.Series:
    digits = column.cast(pl.Binary).bin.encode("hex")
    return digits.str.replace(r"^(.{8})(.{4})(.{4})(.{4})(.{12})$", "$1-$2-$3-$4-$5")


def _no_rows(url: DatabaseUrl) -> InputError:
    return InputError(
        "database-error", f"The query of {url.shown} gives no table.", "Write a SELECT."
    )


def _database_error(url: DatabaseUrl, said: str) -> InputError:
    if "password authentication failed" in said:
        return InputError(
            "database-password",
            f"{url.shown} did not accept the user name and password.",
            "Name the user in the address, and set PGPASSWORD or write ~/.pgpass.",
        )
    if "no password supplied" in said:
        return InputError(
            "database-password",
            f"{url.shown} asks for a password, and none was found.",
            "Set PGPASSWORD, or write ~/.pgpass.",
        )
    return InputError(
        "database-error",
        f'{url.shown} said: "{_sentence(said)}".',
        "Check the address, the rights of the user, and the query.",
    )


def _sentence(said: str) -> str:
    """The one sentence of a driver's message that says what is wrong, without secrets."""
    match = re.search(r"(?:ERROR|FATAL):\s*(.+)", said) or re.search(
        r"(?:Error|connect): (.+)", said
    )
    sentence = (match[1] if match else said.partition("\n")[0]).strip().rstrip(".!")
    password = os.environ.get("PGPASSWORD")
    return sentence.replace(password, "***") if password else sentence
