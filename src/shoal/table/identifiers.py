"""Identifiers that repeat: rows are taken to be people, and several rows of one person are not.

Every identifier is looked at by itself. A missing value names nobody, and so repeats nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import polars as pl

from shoal.errors import InputError
from shoal.spec import Spec
from shoal.wording import visible


def refuse_repeats(column: str, named: int, distinct: int) -> None:
    """An InputError if fewer values of an identifier are distinct than rows have one."""
    if distinct < named:
        name = visible(column)
        raise InputError(
            "identifier-repeats",
            f'The identifier "{name}" repeats: {named:,} rows have one of {distinct:,} values. '
            "Each row would be protected as if it were another person.",
            "Give a table with one row per person; or leave the column out of identifiers, if it "
            "does not tell people apart: columns without a role are not published either.",
        )


def check_identifiers(data: pl.DataFrame, spec: Spec) -> None:
    """An InputError for an identifier of a frame that repeats."""
    for name in spec.identifiers:
        named = present(data[name])
        refuse_repeats(name, len(named), named.n_unique())


def check_streamed(frames: Callable[[], Iterable[pl.DataFrame]], spec: Spec) -> None:
    """The same for rows that come some after the other, in frames with all identifiers. Of each
    value a hash is kept: different hashes are of different values, and only values that share one
    are looked at again."""
    if not spec.identifiers:
        return
    hashes: dict[str, list[pl.Series]] = {name: [] for name in spec.identifiers}
    for frame in frames():
        for name, parts in hashes.items():
            parts.append(present(frame[name]).hash())
    for name, parts in hashes.items():
        every = pl.concat(parts)
        shared = every.filter(every.is_duplicated()).unique()
        if len(shared):
            values = (present(frame[name]) for frame in frames())
            found = pl.concat(one.filter(one.hash().is_in(shared)).unique() for one in values)
            alone = every.n_unique() - len(shared)
            refuse_repeats(name, len(every), alone + found.n_unique())


def present(column: pl.Series) -> pl.Series:
    """What is not missing of a column; an empty text is."""
    if column.dtype == pl.Object:
        raise InputError(
            "column-type",
            f'The identifier "{visible(column.name)}" holds objects, which cannot be compared.',
            "Turn it into text or numbers first.",
        )
    if column.dtype.is_float():
        column = column.fill_nan(None)
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    held = column.drop_nulls()
    return held.filter(held != "") if held.dtype == pl.String else held
