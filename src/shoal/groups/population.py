"""Sample against population: who is alone in a release, and how many of them are so in the
population.

A reference table of the population is counted. Without one, survey weights tell it on average: of
two people who are alike in the file, each stands for its weight, so that Skinner and Carter's
estimate of how many people of the population have the combinations of those who are alone is
u + sum(w - 1), over u of these and all people in pairs. Of these a match finds the right one with
the chance of one in the mean; that as many are alone is exact where sizes are geometric.

C. J. Skinner, R. G. Carter: "Estimation of a measure of disclosure risk for survey microdata under
unequal probability sampling", Survey Methodology 29 (2003).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.arrays import Ints
from shoal.data.sources import read_table
from shoal.data.storage import redact
from shoal.data.table import Table, code_column
from shoal.data.table.frames import places_in
from shoal.data.table.recoding import recoded
from shoal.data.table.survey import UNITS
from shoal.errors import InputError, unknown
from shoal.wording import REFERENCE, WEIGHTS, visible

COUNT = "count"
"""A column of a reference table, of whole numbers, that says for how many people a line stands."""
DIGITS = 2
"""Chances are told with so many significant digits: a table may have a single pair."""


@dataclass(frozen=True)
class Population:
    """Of the people of a release whose combination of QI values nobody else in it has."""

    by: str
    """What tells it: REFERENCE or WEIGHTS."""
    unique: int
    """How many are alone in the population, too."""
    match: float
    """The chance that somebody of the population who matches one of them is that person."""

    @classmethod
    def of(cls, table: Table, published: Ints) -> Population | None:
        """Of so many published people of each signature; None where nobody is alone, or nothing
        tells of the population."""
        alone = published == 1
        number = int(alone.sum())
        if not number:
            return None
        if table.spec.population is not None:
            people = np.maximum(reference_counts(table), published)[alone]
            return cls(REFERENCE, int((people == 1).sum()), _short(number / people.sum()))
        if table.weights is None:
            return None
        weight = np.bincount(table.member_cells.signature, table.weights) / UNITS
        pairs = np.maximum(2.0 * weight / table.signature_rows - 2.0, 0.0)[published == 2]
        match = number / (number + float(pairs.sum()))
        return cls(WEIGHTS, round(number * match), _short(match))


def _short(chance: float) -> float:
    return float(f"{chance:.{DIGITS}g}")


def reference_counts(table: Table) -> Ints:
    """How many people of the reference table have each signature of a table."""
    spec = table.spec
    assert spec.population is not None
    frame, name = read_table(spec.population), f'"{redact(spec.population)}"'
    for column in spec.qi:
        if column not in frame.columns:
            problem = f'The reference table {name} has no QI "{visible(column)}"'
            raise unknown("population-column", problem, column, frame.columns)
    recode = [one for one in spec.recode if one[0] in spec.qi]
    for column, recipe in recode:
        if recipe.quantiles or recipe.rare:
            raise InputError(
                "population-recode",
                f'"{visible(column)}" is recoded by how common its values are in the table, which '
                f"is not what they are in {name}.",
                "Recode it by bands, cuts or a hierarchy, or leave population out.",
            )
    people = _people(frame, spec.qi, name)
    frame = recoded(frame, spec.with_(recode=recode), people)
    codes = {}
    for place, one in enumerate(table.qi):
        found, code = code_column(frame[one.name])
        known = np.array([one.code_of(label) for label in found.labels], np.int32)
        codes[str(place)] = known[code]
    signatures = pl.DataFrame(table.signatures.astype(np.int32), schema=list(codes))
    line = places_in(signatures, pl.DataFrame(codes))
    here = line.is_not_null().to_numpy()
    places = line.drop_nulls().to_numpy()
    return np.bincount(places, people[here], len(signatures)).astype(np.int64)


def _people(frame: pl.DataFrame, qi: tuple[str, ...], name: str) -> Ints:
    """For how many people each line of a reference table stands."""
    if COUNT not in frame.columns or COUNT in qi:
        return np.ones(frame.height, np.int64)
    column = frame[COUNT]
    if not column.dtype.is_integer() or column.null_count() or (column < 0).any():
        raise InputError(
            "population-column",
            f'The column "{COUNT}" of the reference table {name} holds something else than whole '
            "numbers.",
            "Count the people of each combination into it, or leave it out: each line is one.",
        )
    return column.cast(pl.Int64).to_numpy()
