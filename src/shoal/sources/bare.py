"""Strips a frame of values that it no longer shows, before any of it reaches a file.

A data frame that filtered, masked or recoded a column may still carry the old values in memory:
under its missing cells, among the categories of a coded column, in text buffers that it shares.
Parquet and Arrow writers copy such memory into the file, where anybody can find it. So every
column is built anew from the cells that it shows, with nothing under the missing ones.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.errors import InputError


def bare(frame: pl.DataFrame) -> pl.DataFrame:
    """The same cells in fresh memory; categories become text, and nested columns are refused."""
    return pl.DataFrame([_bare(column) for column in frame])


def _bare(column: pl.Series) -> pl.Series:
    import pyarrow as pa

    kind = column.dtype
    if kind in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    elif not (kind.is_numeric() or kind.is_temporal() or kind in (pl.String, pl.Boolean, pl.Null)):
        raise InputError(
            "output-type",
            f'Column "{column.name}" holds {kind}, which is neither text nor numbers.',
            "Turn it into text or numbers, or leave it out.",
        )
    shown = column.is_not_null()
    # The oldest form of Arrow keeps texts end to end, so that only what is shown is copied.
    cells = column.drop_nulls().to_arrow(compat_level=pl.CompatLevel.oldest())
    places = np.cumsum(shown.to_numpy()) - 1
    rebuilt = cells.take(pa.array(places, mask=~shown.to_numpy()))
    return pl.Series(column.name, rebuilt, dtype=column.dtype)
