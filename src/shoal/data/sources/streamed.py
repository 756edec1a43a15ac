"""Sources that are read some rows at a time, and again from the start: CSV, Parquet, folders of it.

What is counted or dealt needs never be in memory as a whole. Cells of CSV stay text: what type a
column has is a property of all of its values, so that `finished` finds it for the distinct ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from shoal.data.sources.columnar import ParquetFiles
from shoal.data.sources.delimited import TextTable, plain, typed
from shoal.data.sources.read import refuse_unused, source_kind
from shoal.data.storage.location import check_readable

ROWS_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class Rows:
    """A table that is read some rows at a time, in the same order each time."""

    schema: pl.Schema
    """The columns as `frames` gives them."""
    weight: int
    """About how many bytes all of it would take in memory."""
    frames: Callable[[Sequence[str]], Iterator[pl.DataFrame]]
    """Some columns of some rows after the other."""
    coded_frames: Callable[[Sequence[str]], Iterator[pl.DataFrame]]
    """The same; texts may be categories."""
    finished: Callable[[pl.DataFrame], pl.DataFrame]
    """Such a frame of distinct values as `read_table` would give it."""
    files: list[str]
    """The Parquet files that it consists of, and of nothing else; or none."""

    @property
    def names(self) -> list[str]:
        return self.schema.names()


def open_rows(
    source: str | Path, *, separator: str | None = None, encoding: str | None = None
) -> Rows | None:
    """The source, or None if it is of a kind that is read as a whole only."""
    kind, path = source_kind(source), Path(source)
    refuse_unused(kind, separator=separator, encoding=encoding)
    if kind == "text":
        check_readable(path)
        text = TextTable.of(path, separator=separator, encoding=encoding)
        size = path.stat().st_size * (5 if path.suffix.lower() == ".gz" else 1)
        schema = pl.Schema(dict.fromkeys(text.names, pl.String))
        return Rows(schema, size, text.frames, text.frames, typed, [])
    if kind not in ("parquet", "folder"):
        return None
    files = ParquetFiles.of(path)
    return Rows(
        schema=files.schema,
        weight=files.weight(None),
        frames=lambda columns: files.frames(columns, ROWS_AT_ONCE),
        coded_frames=lambda columns: files.coded_frames(columns, ROWS_AT_ONCE),
        finished=lambda frame: plain(files.typed(frame)),
        files=[] if files.keys else [str(file) for file in files.files],
    )
