"""Pairs: what a table says of people beside what another tool published of them, as counts.

An engine joins the two by a key, wherever the rows are, and counts the combinations; neither
table's rows come here. What keys have to be is the same for all engines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from shoal.errors import InputError, nearest


@dataclass(frozen=True, eq=False)
class Pairs:
    """Distinct pairs of lines, and how many people have each; one line for each in either frame."""

    table: pl.DataFrame
    released: pl.DataFrame
    there: pl.Series
    """Whether they are in the release; if not, its columns are missing."""
    count: pl.Series


class KeyCounts(NamedTuple):
    """The keys of a table."""

    rows: int
    distinct: int
    """A missing one counts as one."""


def check_named(key: str, **sides: Sequence[str]) -> None:
    """An InputError if the columns of one side lack the key."""
    for side, names in sides.items():
        if key not in names:
            raise InputError(
                "key-missing",
                f'The {side} has no key column "{key}"{nearest(key, names)}.',
                "Name a column that both have.",
            )


def check_keys(key: str, *, table: KeyCounts, release: KeyCounts, stray: Sequence[str]) -> None:
    """An InputError for keys by which people cannot be told apart, or that the table lacks: one of
    these is in `stray`."""
    for side, keys in (("table", table), ("release", release)):
        if keys.rows != keys.distinct:
            raise InputError(
                "key-twice", f'The key "{key}" repeats in the {side}.', "Use a unique key."
            )
        if not keys.rows:
            raise InputError(
                "released-empty", f"The {side} has no rows.", "Give one with people in it."
            )
    if stray:
        raise InputError(
            "key-stray",
            f'The release has the key "{stray[0]}", which the table lacks.',
            "Release rows of the table only.",
        )
