"""QIs that name people, or nearly so: keys, free text, exact measurements.

The adversary's distributions are of classes that many share, so such a QI stands in no view: a
release that publishes it is robust, and yet says who everybody is to whoever has the same values.
In small tables values are held by one person for no other reason than that there are few people.
"""

from __future__ import annotations

import warnings

from shoal.data.spec import InputWarning
from shoal.data.table import Column, Table
from shoal.errors import InputError
from shoal.wording import visible

ENOUGH_ROWS = 1000
"""In a smaller table a QI may be what it likes."""
MOST_ALONE = 0.5
"""The largest share of the people whose value nobody else has, without a word."""


def refuse_keys(table: Table) -> None:
    """An InputError for a QI that has a value of its own for every row."""
    for column, alone in _held_by_one(table):
        if alone == table.rows >= ENOUGH_ROWS:
            raise InputError(
                "qi-key",
                f'The QI "{visible(column.name)}" has another value in each of the '
                f"{table.rows:,} rows, so it would publish who everybody is.",
                f"Leave it out, or make it coarser: {_coarser(column)}.",
            )


def warn_of_naming(table: Table) -> None:
    """Warns of QIs most of whose rows hold a value that nobody else has."""
    if table.rows < ENOUGH_ROWS:
        return
    for column, alone in _held_by_one(table):
        if alone > MOST_ALONE * table.rows:
            said, way = "nearly names people", "Leave it out, or make it coarser"
            if column.name == table.spec.weight:
                said, way = "is a survey weight, which other files of it have", "Publish means"
            elif column.values.dtype.is_float() or column.values.dtype.is_decimal():
                said, way = "is published too exactly", "Make it coarser"
            warnings.warn(
                f'The QI "{visible(column.name)}" {said}: {alone:,} of its {len(column):,} values '
                "are held by one person only, whom whoever knows the value finds. "
                f"{way}: {_coarser(column)}.",
                InputWarning,
                stacklevel=3,
            )


def _held_by_one(table: Table) -> list[tuple[Column, int]]:
    """The QIs, and how many values of each one person alone has."""
    found = []
    for place, column in enumerate(table.qi):
        found.append((column, int((table.qi_rows(place) == 1).sum())))
    return found


def _coarser(column: Column) -> str:
    name = visible(column.name)
    if column.values.dtype.is_temporal():
        return f"--recode {name}:date=year"
    return f"--recode {name}:{'quantiles=8' if column.numeric else 'hierarchy=FILE'}"
