"""Whose rows are whose: one row per person by a rule, or several with their person's number.

A rule never looks at sensitive values to choose whose attributes are published: the row that is
published must not tell that there is something to hide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from shoal.arrays import Bools, IntArray, Ints
from shoal.data.spec import MISSING, ROWS_OF_PERSON, Spec
from shoal.data.table.coding import code_column
from shoal.data.table.scale import scale_of
from shoal.errors import InputError
from shoal.wording import visible

# Identifiers that repeat: rows are taken to be people, and several rows of one person are not.
#
# Every identifier is looked at by itself. A missing value names nobody, and so repeats nothing.


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
    """An InputError for an identifier that repeats in rows that come in frames, some after the
    other. Of each value a hash is kept: different hashes are of different values, and only values
    that share one are looked at again."""
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


@dataclass(frozen=True, eq=False)
class Persons:
    """The people of a table, by the column that names them."""

    given: int
    """How many rows there were."""
    count: int
    """How many people."""
    kept: Ints | None = None
    """Of each row that is left, its place among those that were given; None: not known here."""
    of_row: IntArray | None = None
    """Whose each row is, where somebody has several."""

    @property
    def most_rows(self) -> int:
        """The most rows that are left of one person."""
        return 1 if self.of_row is None else int(np.bincount(self.of_row).max())

    def labels(self, given: pl.Series) -> pl.Series:
        """Of one label for each row that was given, those of the rows that are left."""
        if self.kept is None or len(given) != self.given:
            return given
        return given.gather(self.kept)

    def to_dict(self) -> dict[str, Any]:
        return {"rows": self.given, "people": self.count, "most_rows": self.most_rows}


class Chosen(NamedTuple):
    """The rows that a rule leaves."""

    persons: Persons
    rows: Ints
    """Of each row that is left: how many its person had."""
    source: Ints | None
    """The rows that their sensitive values are from, if these are others."""


def needed(spec: Spec) -> list[str]:
    """The columns by which rows are chosen."""
    rule = spec.row_rule
    names = [*spec.named_person, *(() if rule.by is None else (rule.by,))]
    return names + (list(spec.sensitive_columns) if rule.kind == "event" else [])


def choose(data: pl.DataFrame, spec: Spec, protected: Callable[[], Bools]) -> Chosen:
    """What the spec's rule leaves of rows; `protected` says which have a protected value."""
    assert spec.person is not None
    who = data[spec.person]
    if missing := len(who) - len(present(who)):
        raise InputError(
            "person-missing",
            f'{missing:,} of {len(who):,} rows name nobody in "{visible(spec.person)}".',
            "Fill it in, or leave these rows out: whose rows are whose must be known.",
        )
    rule, every, n = spec.row_rule, np.arange(len(who)), len(who)

    def of_person(numbers: Ints, found: pl.Expr) -> Ints:
        """What is found of the numbers of each row's person."""
        frame = pl.DataFrame({"who": who, "number": numbers})
        return frame.select(found.over("who").cast(pl.Int64)).to_series().to_numpy()

    number = pl.col("number")
    first, rows = of_person(every, number.min()), of_person(every, number.len())
    kept, source = np.ones(n, bool), None
    if rule.kind == "last":
        assert rule.by is not None
        place = _places(data[rule.by]) * n + every
        kept = place == of_person(place, number.max())
    elif rule.most is not None:
        kept = of_person(every, number.rank("ordinal")) <= rule.most
    if rule.kind == "event":
        found = of_person(np.where(protected(), every, n), number.min())
        source = np.where(found < n, found, first)[kept]
    left = np.flatnonzero(kept)
    people, code = np.unique(first[left], return_inverse=True)
    one_each = len(people) == len(left)
    persons = Persons(n, len(people), left, None if one_each else code.astype(np.int32))
    return Chosen(persons, rows[left], source)


def by_person(
    data: pl.DataFrame, spec: Spec, protected: Callable[[], Bools]
) -> tuple[pl.DataFrame, Persons | None]:
    """The rows of a frame that the spec's rule leaves, and whose they are."""
    if spec.person is None:
        return data, None
    persons, rows, source = choose(data, spec, protected)
    assert persons.kept is not None
    left = data if len(persons.kept) == data.height else data[persons.kept]
    if source is not None:
        left = left.with_columns(data.select(spec.sensitive_columns)[source])
    if ROWS_OF_PERSON in spec.qi and ROWS_OF_PERSON not in data.columns:
        left = left.with_columns(pl.Series(ROWS_OF_PERSON, rows))
    return left, persons


def refuse_elsewhere(spec: Spec, named: int, distinct: int) -> None:
    """An InputError for rows that are counted where nobody chooses among a person's."""
    if distinct < named:
        assert spec.person is not None
        name = visible(spec.person)
        raise InputError(
            "person-counted",
            f'"{name}" repeats: {named:,} rows are of {distinct:,} people, and where these rows '
            "are counted it is not known whose are whose.",
            "Leave the engine out; or give a table, or the query of one, with one row per person.",
        )


def _places(column: pl.Series) -> Ints:
    """Where each value stands in its column's order, a missing one before all."""
    coded, codes = code_column(column)
    scale, labels = scale_of(coded), [label for label in coded.labels if label != MISSING]
    places: dict[str, Any] = {} if scale is None else dict(scale.places)
    if strange := next((label for label in labels if label not in places), None):
        raise InputError(
            "rows-per-person",
            f'"{visible(column.name)}" holds "{visible(strange)}", which is no number and no date '
            "such as 2020-01-31.",
            "Choose the last row by a column of numbers or dates.",
        )
    order = {place: number for number, place in enumerate(sorted(set(places.values())))}
    by_label = [order[places[label]] if label in places else -1 for label in coded.labels]
    return np.array(by_label, np.int64)[codes]
