"""Summary: what is left of a table in its release, measured in five ways."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.release.lines import GID
from shoal.table import Table
from shoal.utility.classes import ClassErrors, KnownClasses
from shoal.utility.count import coded
from shoal.utility.distance import total_variations
from shoal.utility.estimate import estimate_counts, exact_counts
from shoal.utility.published import Floats, Published
from shoal.utility.workload import Queries, Workload

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


@dataclass(frozen=True, eq=False)
class Utility:
    """What is left of a table in one of its releases."""

    all_queries: ErrorSummary
    protected_queries: ErrorSummary
    """Queries that ask for a protected event."""
    rows: int
    rows_lost: int
    attributes: pl.DataFrame
    """attribute, total_variation: how far each distribution moved, from 0 to 1."""
    pairs: pl.DataFrame
    """attribute, other, total_variation; pairs with too many combinations are left out."""
    group_sizes: dict[str, float]
    classes: ClassErrors
    """Carriers by class of people, as `Release.count` has them."""
    classes_equal: ClassErrors
    """The same with a group's values shared equally among its people."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {
            "relative_error": asdict(self.all_queries),
            "relative_error_protected": asdict(self.protected_queries),
            "rows": self.rows,
            "rows_lost": self.rows_lost,
            "group_sizes": self.group_sizes,
            "classes": self.classes.to_dict(),
            "classes_equal": self.classes_equal.to_dict(),
            "total_variation": self.attributes.to_dicts(),
            "total_variation_of_pairs": self.pairs.to_dicts(),
        }


def summarize(table: Table, release: Release, workload: Workload | None = None) -> Utility:
    """Measures a release against the table that it was made from."""
    published, known = coded(release), KnownClasses.of(table)
    every, protected = measure_errors(table, published, workload or Workload())
    attributes, pairs = total_variations(table, release.coded)
    return Utility(
        all_queries=every,
        protected_queries=protected,
        rows=table.rows,
        rows_lost=table.rows - published.rows,
        attributes=attributes,
        pairs=pairs,
        group_sizes=_group_sizes(release.qi),
        classes=known.errors(published),
        classes_equal=known.errors(release.coded),
    )


def measure_errors(
    table: Table, published: Published, workload: Workload
) -> tuple[ErrorSummary, ErrorSummary]:
    """Errors of the workload's queries, and of those that ask for a protected event."""

    def error(queries: Queries) -> ErrorSummary:
        return ErrorSummary.of(exact_counts(table, queries), estimate_counts(published, queries))

    return error(workload.draw(table)), error(workload.draw_protected(table))


def _group_sizes(qi: pl.DataFrame) -> dict[str, float]:
    gid = np.sort(qi[GID].to_numpy())
    first = np.flatnonzero(np.append(True, gid[1:] != gid[:-1]))
    sizes = np.diff(first, append=len(gid))
    return {
        "groups": len(sizes),
        "single": int((sizes == 1).sum()),
        "smallest": int(sizes.min()),
        "median": float(np.median(sizes)),
        "mean": float(sizes.mean()),
        "largest": int(sizes.max()),
    }
