"""What the tables of a release are made of, whatever its form."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.grouping.partition import ragged

GID = "gid"


def copied(
    group: NDArray[np.integer], copies: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The gids of all copies of all groups, once for each of their lines, and these lines. `group`
    is that of each line, in order."""
    start = np.searchsorted(group, np.arange(len(copies) + 1))
    number, line = ragged(start, np.repeat(np.arange(len(copies), dtype=np.int32), copies))
    number += 1
    return number, line


def as_enum(texts: pl.Series) -> pl.Series:
    """Texts as an Enum, which takes a byte or two per line instead of sixteen."""
    if texts.dtype != pl.String:
        return texts
    return texts.cast(pl.Enum(texts.drop_nulls().unique(maintain_order=True)))


def mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A 64-bit finalizer: similar numbers end up far apart."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
