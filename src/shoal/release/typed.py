"""Published columns as they were before they became cells of a file, by what the data package says.

CSV has no types: each column's is written into the data package, and what could not be read back as
it was is refused before anything is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from shoal.data.sources import read_table
from shoal.data.sources.guard import guarded_text, risky_texts, unguarded
from shoal.data.sources.labelled import codes_of, write_labelled
from shoal.data.sources.streamed import Rows, open_rows
from shoal.engines import GID, Runs, gather
from shoal.errors import InputError
from shoal.memory import read_text
from shoal.release import Release
from shoal.release.labelled import LABELLED, read_release_table
from shoal.release.numbering import as_enum

PACKAGE = "datapackage.json"
UNIT, ZONE = "timeUnit", "timeZone"
"""What a datetime column is read with, where it is not in microseconds or has a time zone."""


def read_published(path: Path, fields: dict[str, dict[str, Any]]) -> pl.DataFrame:
    """One published table, with values and types as they were before they became CSV."""
    if path.suffix == ".parquet":
        return read_table(path)
    if path.suffix[1:] in LABELLED:
        return read_release_table(path, fields)
    frame = read_table(path, unguard=True, separator=",", as_text=True)
    with _as_described(path):
        return pl.DataFrame([_typed(column, fields.get(column.name, {})) for column in frame])


def read_runs(
    files: Sequence[Path], fields: dict[str, dict[str, Any]]
) -> tuple[pl.DataFrame | Runs, Runs]:
    """One of the large tables, and the same as its cells are written; some lines are read at a
    time, part after part. A table without a gid is read as it is."""
    path = files[0]
    parts = [] if path.suffix[1:] in LABELLED else [_opened(file) for file in files]
    if not parts or GID not in parts[0].names:
        plain = read_published(path, fields)
        if GID not in plain.columns:
            return plain, Runs.of(plain.clear().with_columns(pl.lit(None, pl.Int32).alias(GID)))
        cells = gather([plain], plain.schema)
        return replace(cells, lines=pl.DataFrame([as_enum(one) for one in cells.lines])), cells
    rows = parts[0]
    with _as_described(path):
        frames = chain.from_iterable(part.frames(rows.names) for part in parts)
        cells = gather(frames, rows.schema)
        if path.suffix == ".csv":
            texts = unguarded(cells.lines)
            lines = pl.DataFrame([_typed(one, fields.get(one.name, {})) for one in texts])
        else:
            lines = rows.finished(cells.lines)
        return replace(cells, lines=pl.DataFrame([as_enum(one) for one in lines])), cells


@contextmanager
def _as_described(path: Path) -> Iterator[None]:
    """An InputError for a file that holds something else than the data package says."""
    try:
        yield
    except (pl.exceptions.PolarsError, ValueError, TypeError):
        raise InputError(
            "release-types",
            f"{path} holds something else than {PACKAGE} says.",
            "Get the release again.",
        ) from None


def _opened(file: Path) -> Rows:
    rows = open_rows(file, separator="," if file.suffix == ".csv" else None)
    assert rows is not None, "CSV and Parquet are read some lines at a time"
    return rows


def _typed(column: pl.Series, field: dict[str, Any]) -> pl.Series:
    """A column of CSV cells as what the data package says that it is."""
    text = column.set(column == "", None)
    kind = field.get("type", "string")
    if kind == "integer":
        short = text.cast(pl.Int64, strict=False)
        return short if short.null_count() == text.null_count() else text.cast(pl.UInt64)
    if kind == "number":
        return text.cast(pl.Float64)
    if kind == "date":
        return text.str.to_date()
    if kind == "time":
        return text.str.to_time()
    if kind != "datetime":
        return text
    unit, zone = field.get(UNIT, "us"), field.get(ZONE)
    if zone is None:
        return text.str.to_datetime(time_unit=unit)
    # Each cell ends with its offset from UTC, so that it is clear also when clocks are set back.
    return text.str.to_datetime(time_unit=unit, time_zone="UTC").dt.convert_time_zone(zone)


def described_fields(path: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """What the data package says of every table's columns, by their published names."""
    try:
        described = json.loads(read_text(path / PACKAGE))
        return {
            resource["name"]: {
                one.get("title", one["name"]): {"type": one["type"], **one}
                for one in resource["schema"]["fields"]
            }
            for resource in described["resources"]
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(
            "package-damaged", f"{path / PACKAGE} cannot be read.", "Get the release again."
        ) from None


def refuse_inexact(release: Release, format: str) -> None:
    """An InputError for a column whose values would not be the same when they are read again."""
    for column in (column for frame in release.parts.values() for column in frame):
        decimal = column.dtype == pl.Decimal  # in either format they are read as floats
        lost = _lost_in_file if format in LABELLED else _lost_in_csv
        problem = lost(column, format) if decimal or format != "parquet" else ""
        if problem and decimal:
            raise InputError(
                "decimal-long",
                f'"{column.name}" holds decimals with more digits than a float can keep apart.',
                "Turn it into text first.",
            )
        if problem:
            raise InputError(
                "csv-inexact",
                f'"{column.name}" holds {problem}, which {format} files do not give back exactly.',
                "Save the release in the format parquet.",
            )


def _lost_in_file(column: pl.Series, format: str) -> str:
    """What a column holds that a file of SPSS or Stata would lose, or an empty text."""
    values = column.unique().drop_nulls().alias("values")
    texts = values.dtype in (pl.String, pl.Enum, pl.Categorical)
    with TemporaryDirectory() as scratch:
        path = Path(scratch) / f"values.{format}"
        codes = {"values": codes_of(values, {})} if texts else {}
        try:
            write_labelled(values.to_frame(), path, codes=codes, titles={})
            found = read_release_table(path, {"values": field_of(values)})["values"]
            same = found.cast(pl.String if texts else values.dtype).equals(
                values.cast(pl.String) if texts else values
            )
        except InputError:
            raise
        except Exception:  # whatever the library has against the values
            same = False
    return "" if same else str(column.dtype)


def _lost_in_csv(column: pl.Series, format: str) -> str:
    """What a column holds that CSV would lose, or an empty text."""
    dtype = column.dtype
    if dtype.is_integer() and dtype not in (pl.Int128, pl.UInt128):
        return ""
    values = column.unique()
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        broken = values.cast(pl.String).str.contains("\0", literal=True).any()
        return "a NUL character" if broken else ""
    values = values.drop_nulls()
    cells = pl.read_csv(values.to_frame().write_csv().encode(), infer_schema=False).to_series()
    try:
        same = _typed(cells, field_of(values)).cast(dtype).equals(values)
    except pl.exceptions.PolarsError:
        same = False
    return "" if same else str(dtype)


def field_of(column: pl.Series) -> dict[str, Any]:
    """What the data package says of a column: its type, and what else reading it takes."""
    dtype = column.dtype
    field: dict[str, Any] = {"name": column.name, "type": _field_type(dtype)}
    if isinstance(dtype, pl.Datetime):
        field |= {} if dtype.time_unit == "us" else {UNIT: dtype.time_unit}
        field |= {} if dtype.time_zone is None else {ZONE: dtype.time_zone}
    return field


def guard_of(column: pl.Series) -> dict[str, Any]:
    """What the data package says of a CSV column of which something stands behind an apostrophe:
    the `title` is the name without it, `guarded` are the texts without it."""
    shown, texts = guarded_text(column.name), risky_texts(column)
    named = {} if shown == column.name else {"name": shown, "title": column.name}
    return {**named, **({"guarded": texts} if texts else {})}


def _field_type(dtype: pl.DataType) -> str:
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        return "number"
    kinds = {pl.Date: "date", pl.Datetime: "datetime", pl.Time: "time"}
    return kinds.get(dtype.base_type(), "string")
