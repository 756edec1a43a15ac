"""What a column holds, in figures: type, distinct values, missing, unique, and its shape."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

BINS = 20
FEW = 20
"""A column with so many values or fewer is shown by value, not by range."""


@dataclass(frozen=True)
class Profile:
    """One column."""

    name: str
    kind: str
    """number, date, text or other."""
    rows: int
    distinct: int
    missing: int
    alone: int
    """Values that one row alone has."""
    counts: tuple[int, ...]
    """Rows by range of numbers, or by value, the commonest first."""
    low: str = ""
    high: str = ""

    @property
    def numeric(self) -> bool:
        return self.kind == "number"

    @property
    def unique_share(self) -> float:
        """The share of rows that the column tells from all others by itself."""
        return self.alone / self.rows if self.rows else 0.0


def profile_of(column: pl.Series) -> Profile:
    """The figures of a column."""
    kind = _kind(column.dtype)
    if kind == "other":
        return Profile(column.name, kind, len(column), 0, column.null_count(), 0, ())
    filled = column.drop_nulls()
    counts = filled.value_counts(sort=True, name="so many rows")["so many rows"]
    low, high = (filled.min(), filled.max()) if kind != "text" and len(filled) else ("", "")
    return Profile(
        name=column.name,
        kind=kind,
        rows=len(column),
        distinct=len(counts),
        missing=column.null_count(),
        alone=int((counts == 1).sum()),
        counts=_shape(filled, counts, kind),
        low=str(low),
        high=str(high),
    )


def _kind(dtype: pl.DataType) -> str:
    if dtype.is_numeric():
        return "number"
    if dtype.is_temporal():
        return "date"
    text = isinstance(dtype, pl.String | pl.Categorical | pl.Enum | pl.Boolean)
    return "text" if text else "other"


def _shape(filled: pl.Series, counts: pl.Series, kind: str) -> tuple[int, ...]:
    if kind != "number" or len(counts) <= FEW:
        return tuple(counts.head(BINS).to_list())
    numbers = filled.cast(pl.Float64).to_numpy()
    finite = numbers[np.isfinite(numbers)]
    if not len(finite):
        return ()
    return tuple(int(count) for count in np.histogram(finite, bins=BINS)[0])
