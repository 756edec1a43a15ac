"""What is left of the data: count queries, and their estimates from a release."""

from __future__ import annotations

from shoal.release.utility.classes import ClassError, ClassErrors, KnownClasses
from shoal.release.utility.count import Between, count
from shoal.release.utility.errors import Estimate
from shoal.release.utility.published import Published
from shoal.release.utility.sql import sql_for_count
from shoal.release.utility.summary import ErrorSummary, measure_errors
from shoal.release.utility.workload import Queries, Workload, estimate_counts, exact_counts

__all__ = [
    "Between",
    "ClassError",
    "ClassErrors",
    "ErrorSummary",
    "Estimate",
    "KnownClasses",
    "Published",
    "Queries",
    "Workload",
    "count",
    "estimate_counts",
    "exact_counts",
    "measure_errors",
    "sql_for_count",
]
