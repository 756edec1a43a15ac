"""Whose rows are whose: one row per person by a rule, or several with their person's number.

A rule never looks at sensitive values to choose whose attributes are published: the row that is
published must not tell that there is something to hide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.arrays import IntArray, Ints
from shoal.data.spec import MISSING, ROWS_OF_PERSON, Spec
from shoal.data.table.coding import code_column
from shoal.data.table.identifiers import present
from shoal.data.table.scale import scale_of
from shoal.errors import InputError
from shoal.wording import visible


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


def choose(data: pl.DataFrame, spec: Spec, protected: Callable[[], NDArray[np.bool_]]) -> Chosen:
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
    data: pl.DataFrame, spec: Spec, protected: Callable[[], NDArray[np.bool_]]
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
