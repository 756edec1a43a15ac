"""`write_table`: a frame as CSV, Parquet or Arrow, whole or not at all, always the same bytes."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from shoal.errors import InputError
from shoal.sources.bare import bare, bare_arrow
from shoal.sources.guard import guarded
from shoal.sources.read import file_kind, unknown_kind
from shoal.sources.replace import replace_file
from shoal.table.frames import to_polars

LINES_AT_ONCE = 1 << 16
"""So many lines are copied for writing at a time."""


def write_table(frame: Any, path: str | Path) -> None:
    """Writes a pandas, Polars or PyArrow frame; the name's ending says in which form.

    CSV (.csv, .tsv, .txt, also .gz) is UTF-8. Text in it that a spreadsheet would run as a
    formula stands behind an apostrophe; `read_table(path, unguard=True)` takes that back.
    Missing values and empty texts are both written as empty cells, and read as missing.
    """
    data = to_polars(frame)
    starts = range(0, max(1, data.height), LINES_AT_ONCE)
    write_parts((data.slice(first, LINES_AT_ONCE) for first in starts), path)


def write_parts(parts: Iterable[pl.DataFrame], path: str | Path) -> None:
    """The same for a table that comes in parts, of which one at a time is in memory."""
    target = Path(path)
    kind = file_kind(target)
    if kind in (None, "excel"):
        raise unknown_kind(target) if kind is None else _no_excel(target)
    write = {"text": _write_text, "parquet": _write_parquet, "arrow": _write_arrow}[kind]
    with replace_file(target) as new, new.open("wb") as file:
        try:
            write(iter(parts), target, file)
        except pl.exceptions.PolarsError as error:
            raise _as_os_error(error) from None


def _write_text(parts: Iterator[pl.DataFrame], target: Path, file: BinaryIO) -> None:
    separator = "\t" if ".tsv" in target.suffixes else ","
    packed = target.suffix.lower() == ".gz"
    with gzip.GzipFile("", "wb", fileobj=file, mtime=0) if packed else nullcontext(file) as out:
        for number, part in enumerate(parts):
            lines = guarded(bare(part))
            lines.write_csv(out, separator=separator, include_header=number == 0)  # type: ignore[arg-type]


def _write_parquet(parts: Iterator[pl.DataFrame], target: Path, file: BinaryIO) -> None:
    from pyarrow.parquet import ParquetWriter

    first = bare_arrow(next(parts))
    with ParquetWriter(file, first.schema, compression="zstd") as writer:
        writer.write_table(first)
        for part in parts:
            writer.write_table(bare_arrow(part))


def parquet_again(file: Path) -> bytes:
    """What `write_table` would write of a Parquet file's columns, and of nothing else in it."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter, read_table

    table = read_table(file, partitioning=None)
    plain = pa.schema([pa.field(one.name, one.type, one.nullable) for one in table.schema])
    table, made = table.cast(plain), BytesIO()
    with ParquetWriter(made, plain, compression="zstd") as writer:
        for first in range(0, max(1, table.num_rows), LINES_AT_ONCE):
            writer.write_table(table.slice(first, LINES_AT_ONCE))
    return made.getvalue()


def _write_arrow(parts: Iterator[pl.DataFrame], target: Path, file: BinaryIO) -> None:
    from pyarrow import ipc

    first = bare_arrow(next(parts))
    options = ipc.IpcWriteOptions(compression="zstd")
    with ipc.new_file(file, first.schema, options=options) as writer:
        writer.write_table(first)
        for part in parts:
            writer.write_table(bare_arrow(part))


def _as_os_error(error: pl.exceptions.PolarsError) -> Exception:
    """What the disk said, when Polars wraps it; anything else is for us to mend."""
    said = re.search(r"(?:IO error: )?([^:]*) \(os error (\d+)\)", str(error))
    return error if said is None else OSError(int(said[2]), said[1].strip())


def _no_excel(target: Path) -> InputError:
    return InputError(
        "output-excel", f'shoal does not write Excel files such as "{target}".', "Write .csv."
    )
