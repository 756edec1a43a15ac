"""Identifiers that repeat: rows are taken to be people, and several rows of one person are not.

Every identifier is looked at by itself. A missing value names nobody, and so repeats nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import polars as pl

from shoal.data.spec import Spec
from shoal.errors import InputError
from shoal.wording import visible


def refuse_repeats(column: str, named: int, distinct: int) -> None:
    """An InputError if fewer values of an identifier are distinct than rows have one."""
    if distinct < named:
        name = visible(column)
        raise InputError(
            "identifier-repeats",
            f'The identifier "{name}" repeats: {named:,} rows have one of {distinct:,} values. '
            "Each row would be protected as if it were another person.",
            f'If it names people, say so instead: --person "{name}" with --rows-per-person event, '
            "for one row per person, or all, which keeps every row and bounds the chance of any. "
            "If it does not, leave it out: columns without a role are not published either.",
        )


def checked_identifiers(spec: Spec) -> tuple[str, ...]:
    """The identifiers that must not repeat: none where a person may have several rows."""
    return spec.identifiers if spec.person is None or spec.row_rule.most == 1 else ()


def check_identifiers(data: pl.DataFrame, spec: Spec) -> None:
    """An InputError for an identifier of a frame that repeats."""
    for name in checked_identifiers(spec):
        named = present(data[name])
        refuse_repeats(name, len(named), named.n_unique())


def check_streamed(frames: Callable[[], Iterable[pl.DataFrame]], spec: Spec) -> None:
    """The same for rows that come some after the other, in frames with all identifiers. Of each
    value a hash is kept: different hashes are of different values, and only values that share one
    are looked at again."""
    names = checked_identifiers(spec)
    if not names:
        return
    hashes: dict[str, list[pl.Series]] = {name: [] for name in names}
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
