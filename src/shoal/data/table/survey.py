"""Survey weights: how many people of the population each row of a sample stands for.

They are kept as whole numbers of a small unit: sums of these do not depend on the order of rows,
on threads or on engines.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.arrays import Ints
from shoal.data.spec import Spec
from shoal.data.table.persons import Persons
from shoal.errors import InputError
from shoal.wording import visible

UNITS = 10**6
"""So many units are a weight of 1."""
MOST = 2**62
"""So many units can be added up."""


def weight_units(data: pl.DataFrame, spec: Spec, counts: Ints | None) -> Ints | None:
    """Of each line, the weights of its people together, in units; or an InputError. `counts` says
    how many people these are."""
    if spec.weight is None:
        return None
    column, name = data[spec.weight], visible(spec.weight)
    remedy = "Give every row a number above 0, or leave out the rows that have none."
    if not column.dtype.is_numeric():
        raise InputError("survey-weight", f'The survey weight "{name}" is no number.', remedy)
    weight = column.cast(pl.Float64)
    bad = ~((weight >= 1 / UNITS) & weight.is_finite()).fill_null(False)
    if bad.any():
        raise InputError(
            "survey-weight",
            f'{bad.sum():,} lines have no survey weight above 0 in "{name}".',
            remedy,
        )
    people = np.ones(data.height, np.int64) if counts is None else counts
    given = weight.to_numpy()
    if float(given @ people) * UNITS > MOST:
        raise InputError(
            "survey-weight",
            f'The survey weights in "{name}" add up to {given @ people:,.0f} people.',
            f"Scale them: shoal counts up to {MOST // UNITS:,}.",
        )
    return np.asarray(np.rint(given * UNITS).astype(np.int64) * people)


def refuse_shared(spec: Spec, persons: Persons | None) -> None:
    """An InputError for survey weights where a person has several rows."""
    if spec.weight is not None and persons is not None and persons.of_row is not None:
        raise InputError(
            "survey-weight",
            f"{len(persons.of_row):,} rows are of {persons.count:,} people, and a survey weight "
            "is that of one row.",
            "Take one row per person (rows_per_person first, last by COLUMN, or event), or leave "
            "weight out.",
        )
