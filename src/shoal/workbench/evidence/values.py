"""Every sensitive value, protected or not: how surely somebody who holds the release, and nothing
else, concludes it of a person. Reckoned from the published tables alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from scipy import sparse

from shoal.arrays import Floats, IntArray
from shoal.data.spec import OTHER
from shoal.errors import ShoalError
from shoal.release import Release
from shoal.release.utility.published import Published

HALF, SURE = 0.5 + 1e-9, 1 - 1e-9


@dataclass(frozen=True, kw_only=True)
class KnownValue:
    """How surely one value is concluded of people who have it or not."""

    column: str
    value: str
    protected: bool
    people: int
    """Published people who have it."""
    share: float
    """The part of all people published who have it."""
    by_attributes: float
    """The largest chance for somebody whose attributes are known."""
    likely: int
    """People for whom that is above one half."""
    by_line: float
    """The largest chance for somebody whose line in the release is known."""
    sure: int
    """People whose line leaves no other value."""


def known_values(folder: Path) -> list[KnownValue] | None:
    """All values of a release's folder, those that are concluded most surely first; None if the
    release cannot be read."""
    try:
        release = Release.load(folder)
        found = [
            one
            for column in release.spec.sensitive_columns
            for one in _of_column(release.alone(column).coded, column)
        ]
    except (ShoalError, OSError, ValueError, pl.exceptions.PolarsError):
        return None
    return sorted(found, key=lambda one: (-one.by_attributes, -one.by_line, -one.people))


def _of_column(coded: Published, column: str) -> list[KnownValue]:
    cells, line = coded.cells, by_line(coded)
    size = cells.spread(cells.summed(cells.count))
    chance = cells.count / np.where(size > 0, size, 1.0)
    by_attributes = _largest(cells.code, chance, len(coded.values))
    likely = np.bincount(cells.code, np.where(chance > HALF, size, 0.0), len(coded.values))
    times = np.repeat(_people(coded), np.diff(line.indptr))
    sure = np.bincount(line.indices, times * (line.data > SURE), len(coded.values))
    most = _largest(line.indices, line.data, len(coded.values))
    return [
        KnownValue(
            column=column,
            value=label,
            protected=bool(coded.in_event[v]),
            people=int(coded.totals[v]),
            share=float(coded.totals[v] / max(1, coded.totals.sum())),
            by_attributes=float(by_attributes[v]),
            likely=round(float(likely[v])),
            by_line=float(most[v]),
            sure=int(sure[v]),
        )
        for v, label in enumerate(coded.values)
        if label != OTHER
    ]


def by_line(coded: Published) -> sparse.csr_array:
    """lines x values: the chance of each value for the people of a line of the QI table, by its
    group and weight."""
    told = coded.chances
    case = sparse.diags_array(told.case) @ told.cases[told.group]
    other = sparse.diags_array(1.0 - told.case) @ told.others[told.group]
    return sparse.csr_array(case + other)


def _people(coded: Published) -> Floats:
    """How many people each line is of."""
    told = coded.chances
    return np.asarray(told.people * told.copies[told.group], np.float64)


def _largest(code: IntArray, share: Floats, values: int) -> Floats:
    most = np.zeros(values)
    np.maximum.at(most, code, share)
    return most
