"""JSON lines: an object in each line, its keys the columns.

Numbers keep every digit that they are written with until the type of their column is found, as in
any text table: a column is of numbers, of truths or of text by all of its cells. A key that a line
lacks, and null, are missing values.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from shoal.data.sources.delimited import check_columns
from shoal.data.sources.numbers import typed
from shoal.data.sources.text import COPIES, REMEDY, TEXT, TextFile
from shoal.errors import InputError
from shoal.memory import refuse_memory
from shoal.plain import once

LINES_AT_ONCE = 1 << 14
_TRUTHS = {True: "true", False: "false"}


class _Number(str):
    """A number as it is written."""


def read_json_lines(
    path: Path, columns: Sequence[str] | None, encoding: str | None
) -> pl.DataFrame:
    """The table that a file of JSON lines holds."""
    kinds: dict[str, set[type]] = {}
    parts, taken = [], 0
    with TextFile(path, encoding, whole=True) as file:
        lines = enumerate(BufferedReader(file), start=1)
        while some := list(islice(lines, LINES_AT_ONCE)):
            part = _texts({at: _object(line, at, path) for at, line in some}, kinds, path)
            taken += int(part.estimated_size()) + TEXT * part.height * part.width
            refuse_memory(max(file.size + taken, COPIES * taken), f'To read "{path}"', REMEDY)
            parts.append(part)
    if not kinds:
        raise InputError("file-empty", f'"{path}" is empty.', "Give an object in each line.")
    check_columns(columns or [], list(kinds))
    frame = pl.concat(parts, how="diagonal").select(columns or list(kinds))
    return frame.with_columns(_finished(column, kinds[column.name]) for column in frame)


def _object(line: bytes, at: int, path: Path) -> dict[str, Any] | None:
    if not line.strip():
        return None
    try:
        found = json.loads(line, **_EXACT)
    except (ValueError, RecursionError):
        raise _no_row(path, at, "is no JSON, or names something twice") from None
    if not isinstance(found, dict):
        raise _no_row(path, at, "holds no object")
    return found


_EXACT: dict[str, Any] = {
    "object_pairs_hook": once,
    **dict.fromkeys(("parse_int", "parse_float", "parse_constant"), _Number),
}


def _texts(
    rows: dict[int, dict[str, Any] | None], kinds: dict[str, set[type]], path: Path
) -> pl.DataFrame:
    """Rows as texts, empty ones left out; `kinds` learns what there is in each column."""
    columns: dict[str, list[str | None]] = {}
    given = [row for row in rows.values() if row is not None]
    for name in dict.fromkeys(name for row in given for name in row):
        cells = [row.get(name) for row in given]
        found = set(map(type, cells))
        if found & {dict, list}:
            at = next(
                at for at, row in rows.items() if row and isinstance(row.get(name), dict | list)
            )
            raise _no_row(path, at, f'holds a list or an object in "{name}"')
        kinds.setdefault(name, set()).update(found)
        if bool in found:
            cells = [_TRUTHS[cell] if isinstance(cell, bool) else cell for cell in cells]
        columns[name] = cells
    try:
        return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    except UnicodeEncodeError:
        raise _no_row(path, min(rows), "or one of the next holds half of a character") from None


def _no_row(path: Path, at: int, why: str) -> InputError:
    return InputError(
        "json-line",
        f'Line {at} of "{path}" {why}.',
        "Give an object of names and plain values in each line.",
    )


def _finished(column: pl.Series, kinds: set[type]) -> pl.Series:
    """The column in the type that all of its cells have; as text if they have several."""
    kinds = kinds - {type(None)}
    if kinds == {bool}:
        return column == _TRUTHS[True]
    return typed(column.to_frame(), decimal=".").to_series() if kinds == {_Number} else column
