"""What the tables of a release are made of, whatever its form."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.arrays import Words


def as_enum(texts: pl.Series) -> pl.Series:
    """Texts as an Enum, which takes a byte or two per line instead of sixteen."""
    if texts.dtype != pl.String:
        return texts
    return texts.cast(pl.Enum(texts.drop_nulls().unique(maintain_order=True)))


def mix(numbers: Words) -> Words:
    """A 64-bit finalizer: similar numbers end up far apart."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
