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

from shoal.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

COPIED = frozenset(
    {pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.Float64}
)
"""Numbers of which a plain copy shows all, if none is missing."""


def bare(frame: pl.DataFrame) -> pl.DataFrame:
    """The same cells in fresh memory; categories become text, and nested columns are refused."""
    rebuilt = pl.from_arrow(bare_arrow(frame))
    assert isinstance(rebuilt, pl.DataFrame)
    return rebuilt


def bare_arrow(frame: pl.DataFrame) -> pa.Table:
    """The same as an Arrow table, texts end to end in the oldest form."""
    import pyarrow as pa

    return pa.table([_bare(column) for column in frame], names=frame.columns)


def _bare(column: pl.Series) -> Any:
    import pyarrow as pa

    kind = column.dtype
    full = column.null_count() == 0
    if full and kind in COPIED:
        return pa.array(column.to_numpy().copy())
    shown = None if full else column.is_not_null().to_numpy()
    if isinstance(kind, pl.Enum):
        places, cells = column.to_physical().fill_null(0).to_numpy(), kind.categories
    elif kind == pl.Categorical:
        cells = column.unique().drop_nulls()
        codes = cells.to_physical().to_numpy()
        place = np.zeros(int(codes.max(initial=0)) + 1, np.int32)
        place[codes] = np.arange(len(codes))
        places, cells = place[column.to_physical().fill_null(0).to_numpy()], cells.cast(pl.String)
    elif kind.is_numeric() or kind.is_temporal() or kind in (pl.String, pl.Boolean, pl.Null):
        places = np.arange(len(column)) if shown is None else np.cumsum(shown) - 1
        cells = column.drop_nulls()
    else:
        raise InputError(
            "output-type",
            f'Column "{column.name}" holds {kind}, which is neither text nor numbers.',
            "Turn it into text or numbers, or leave it out.",
        )
    # The oldest form of Arrow keeps texts end to end, so that only what is shown is copied.
    oldest = cells.to_arrow(compat_level=pl.CompatLevel.oldest())
    return oldest.take(pa.array(places, mask=None if shown is None else ~shown))
