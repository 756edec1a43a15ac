"""Strips a frame of values that it no longer shows, before any of it reaches a file.

A data frame that filtered, masked or recoded a column may still carry the old values in memory:
under its missing cells, among the categories of a coded column, in text buffers that it shares.
Parquet and Arrow writers copy such memory into the file, where anybody can find it. So every
column is built anew from the cells that it shows, with nothing under the missing ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.arrays import Bools, Whole
from shoal.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

COPIED = frozenset(
    {pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.Float64}
)
"""Numbers of which a plain copy shows all, if none is missing."""
DICTIONARY, LENGTH = 1 << 20, 4
"""Bytes of texts, each with its length, past which a Parquet writer no longer numbers them."""


def bare(frame: pl.DataFrame) -> pl.DataFrame:
    """The same cells in fresh memory; categories become text, and nested columns are refused."""
    rebuilt = pl.from_arrow(bare_arrow(frame))
    assert isinstance(rebuilt, pl.DataFrame)
    return rebuilt


def bare_arrow(frame: pl.DataFrame) -> pa.Table:
    """A frame's cells as an Arrow table, texts end to end in the oldest form."""
    import pyarrow as pa

    return pa.table([_bare(column) for column in frame], names=frame.columns)


def coded_arrow(frame: pl.DataFrame) -> pa.Table:
    """A frame's cells, columns of few categories as numbers of the texts that they show, in the
    order in which these appear: what a Parquet writer would find itself, text by text."""
    import pyarrow as pa

    columns = [_coded(column) if _few(column.dtype) else _bare(column) for column in frame]
    return pa.table(columns, names=frame.columns)


def _few(kind: pl.DataType) -> bool:
    """Whether a Parquet writer surely numbers the texts of a column."""
    if not isinstance(kind, pl.Enum):
        return False
    texts = kind.categories
    return bool(texts.estimated_size() + LENGTH * len(texts) < DICTIONARY)


def _coded(column: pl.Series) -> Any:
    import pyarrow as pa

    places, cells = _numbered(column)
    return pa.DictionaryArray.from_arrays(_numbers(places, _missing(column)), _oldest(cells))


def check_cells(column: pl.Series) -> None:
    """An InputError for a column that is not shown cell by cell."""
    kind = column.dtype
    plain = kind.is_numeric() or kind.is_temporal() or kind in (pl.String, pl.Boolean, pl.Null)
    if not (plain or isinstance(kind, pl.Enum) or kind == pl.Categorical):
        raise InputError(
            "output-type",
            f'Column "{column.name}" holds {kind}, which is neither text nor numbers.',
            "Turn it into text or numbers, or leave it out.",
        )


def _bare(column: pl.Series) -> Any:
    check_cells(column)
    kind, missing = column.dtype, _missing(column)
    if missing is None and kind in COPIED:
        return _numbers(column.to_numpy().copy())
    if isinstance(kind, pl.Enum) or kind == pl.Categorical:
        places, cells = _numbered(column)
    else:
        places = np.arange(len(column)) if missing is None else np.cumsum(~missing) - 1
        cells = column.drop_nulls()
    return _oldest(cells).take(_numbers(places, missing))


def _numbers(numbers: NDArray[Any], missing: Bools | None = None) -> Any:
    """Numbers as they lie in memory. (`pyarrow.array` imports pandas, if there is one.)"""
    import pyarrow as pa

    shown = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    buffers, kind = [shown, pa.py_buffer(numbers)], pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(kind, len(numbers), buffers)


def _numbered(column: pl.Series) -> tuple[Whole, pl.Series]:
    """The texts that a column of categories shows, in the order in which they appear, and which of
    them each cell holds; of a missing one, any."""
    shown, held = column.unique(maintain_order=True), column.to_physical()
    if column.null_count():
        shown, held = shown.drop_nulls(), held.fill_null(0)
    codes = shown.to_physical().to_numpy()
    place = np.zeros(int(codes.max(initial=0)) + 1, np.int32)
    place[codes] = np.arange(len(codes))
    return place.take(held.to_numpy()), shown.cast(pl.String)


def _missing(column: pl.Series) -> Bools | None:
    return column.is_null().to_numpy() if column.null_count() else None


def _oldest(cells: pl.Series) -> Any:
    """In the oldest form of Arrow, which keeps texts end to end: only what is shown is copied."""
    return cells.to_arrow(compat_level=pl.CompatLevel.oldest())
