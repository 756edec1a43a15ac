"""Sources that are read some rows at a time, and again from the start: CSV, Parquet, folders of it.

What is counted or dealt needs never be in memory as a whole. Cells of CSV stay text: what type a
column has is a property of all of its values, so that `finished` finds it for the distinct ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Unpack

import polars as pl

from shoal.data.sources.brought import found, named
from shoal.data.sources.columnar import ParquetFiles, refuse_other
from shoal.data.sources.delimited import TextTable, plain
from shoal.data.sources.formats import STREAMED
from shoal.data.sources.numbers import typed
from shoal.data.sources.read import refuse_unused
from shoal.data.storage.location import check_readable
from shoal.names import Reading

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
    """Frames whose texts may be categories."""
    finished: Callable[[pl.DataFrame], pl.DataFrame]
    """Such a frame of distinct values as `read_table` would give it."""
    files: list[str]
    """The Parquet files that it consists of, and of nothing else; or none."""
    text: bool
    """Whether all cells are texts whose types are yet to be found."""

    @property
    def names(self) -> list[str]:
        return self.schema.names()


def open_rows(source: str | Path, **reading: Unpack[Reading]) -> Rows | None:
    """The source, or None if it is of a kind that is read as a whole only."""
    with named():
        return _opened(source, reading)


def _opened(source: str | Path, reading: Reading) -> Rows | None:
    sheet = reading.get("sheet")
    there = found(source, sheet)
    told = reading | {"sheet": None if there.packed else sheet}
    if there.kind == "text":
        refuse_unused("text", sheet=told["sheet"])
        for file in there.files:
            check_readable(file)
        how = reading.get("separator"), reading.get("encoding")
        texts = [TextTable.of(file, *how) for file in there.files]
        refuse_other([text.names for text in texts], source)
        decimal, separator = reading.get("decimal"), texts[0].separator

        def frames(columns: Sequence[str]) -> Iterator[pl.DataFrame]:
            with named():
                for text in texts:
                    yield from text.frames(columns)

        return Rows(
            schema=pl.Schema(dict.fromkeys(texts[0].names, pl.String)),
            weight=sum(_weight(file) for file in there.files),
            frames=frames,
            coded_frames=frames,
            finished=partial(typed, decimal=decimal, separator=separator),
            files=[],
            text=True,
        )
    if there.kind not in ("parquet", "folder"):
        if there.kind == "database":
            refuse_unused("database", **told)
        return None
    refuse_unused(there.kind, **told)
    files = ParquetFiles.of(there.files, there.base)
    return Rows(
        schema=files.schema,
        weight=files.weight(None),
        frames=lambda columns: files.frames(columns, ROWS_AT_ONCE),
        coded_frames=lambda columns: files.coded_frames(columns, ROWS_AT_ONCE),
        finished=lambda frame: plain(files.typed(frame)),
        files=[] if files.keys else [str(file) for file in files.files],
        text=False,
    )


def _weight(file: Path) -> int:
    return file.stat().st_size * (5 if file.suffix.lower() in STREAMED else 1)
