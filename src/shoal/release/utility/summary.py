"""How far count queries are off in a release, all of them and those that ask for an event."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import Floats
from shoal.data.table import Table
from shoal.release.utility.classes import ClassErrors, KnownClasses
from shoal.release.utility.count import has_survey_weights, survey_weights
from shoal.release.utility.published import Published
from shoal.release.utility.workload import Queries, Workload, estimate_counts, exact_counts

if TYPE_CHECKING:
    from shoal.release import Release


@dataclass(frozen=True)
class ErrorSummary:
    """Relative errors |actual - estimate| / actual of count queries."""

    average: float | None
    """None when every query selects nothing."""
    median: float | None
    percentile_95: float | None
    queries: int
    zero_share: float
    """Queries that select no row of the table: they have no relative error and are left out."""

    @classmethod
    def of(cls, actual: Floats, estimate: Floats) -> ErrorSummary:
        counted = actual > 0
        zero = float((~counted).mean())
        if not counted.any():
            return cls(None, None, None, len(actual), zero)
        errors = np.abs(actual - estimate)[counted] / actual[counted]
        return cls(
            average=float(errors.mean()),
            median=float(np.median(errors)),
            percentile_95=float(np.quantile(errors, 0.95)),
            queries=len(actual),
            zero_share=zero,
        )


def columns_of(table: Table, release: Release) -> list[tuple[Table, Release]]:
    """Table and release of each sensitive column alone."""
    if table.several is None:
        return [(table, release)]
    return [(one, release.alone(one.members.name)) for one in table.several.columns]


def errors_of(
    table: Table, release: Release, workload: Workload
) -> tuple[ErrorSummary, ErrorSummary, ClassErrors]:
    """Errors of all queries, of those that ask for a protected event, and of counts by class."""
    parts = columns_of(table, release)
    asked = replace(workload, queries=math.ceil(workload.queries / len(parts)))
    fronts = [f"{one.members.name}: " if len(parts) > 1 else "" for one, _ in parts]
    by_class = [KnownClasses.of(one).errors(alone.coded) for one, alone in parts]
    errors = _errors([(one, alone.coded) for one, alone in parts], asked)
    return *errors, ClassErrors.together(by_class, fronts)


def population_errors(table: Table, release: Release, workload: Workload) -> ErrorSummary | None:
    """Errors of all queries about the population, of the first sensitive column; None where survey
    weights are not published."""
    table, release = columns_of(table, release)[0]
    if table.weights is None or not has_survey_weights(release):
        return None
    queries, published = workload.draw(table), release.coded.standing_for(survey_weights(release))
    actual = exact_counts(table, queries, weighted=True)
    return ErrorSummary.of(actual, estimate_counts(published, queries))


def measure_errors(
    table: Table, published: Published, workload: Workload
) -> tuple[ErrorSummary, ErrorSummary]:
    """Errors of the workload's queries, and of those that ask for a protected event."""
    return _errors([(table, published)], workload)


def _errors(
    parts: Sequence[tuple[Table, Published]], workload: Workload
) -> tuple[ErrorSummary, ErrorSummary]:
    def error(queries: Sequence[Queries]) -> ErrorSummary:
        pairs = list(zip(parts, queries, strict=True))
        return ErrorSummary.of(
            np.concatenate([exact_counts(table, one) for (table, _), one in pairs]),
            np.concatenate([estimate_counts(published, one) for (_, published), one in pairs]),
        )

    tables = [table for table, _ in parts]
    return (
        error([workload.draw(table) for table in tables]),
        error([workload.draw_protected(table) for table in tables]),
    )
