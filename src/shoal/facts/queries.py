"""What `shoal.utility` measures of a release, as the report shows it."""

from __future__ import annotations

from shoal.facts.bins import Record
from shoal.release import Release
from shoal.table import Table
from shoal.utility import ErrorSummary, Workload, summarize

QUERIES = 2_000


def measure(table: Table, release: Release, *, seed: int) -> tuple[Record, dict[str, float]]:
    """Errors of random count queries, and each column's total variation distance."""
    workload = Workload(queries=QUERIES, seed=seed)
    summary = summarize(table, release, workload)
    lines = [
        _line("about any values", summary.all_queries),
        _line("about a protected event", summary.protected_queries),
    ]
    distances = dict(summary.attributes.iter_rows())
    return {
        "drawn": QUERIES,
        "selectivity": workload.selectivity,
        "attributes": workload.qd(table),
        "seed": seed,
        "lines": [line for line in lines if line is not None],
    }, distances


def _line(name: str, summary: ErrorSummary) -> Record | None:
    if summary.average is None:
        return None
    return {
        "name": name,
        "counted": round(summary.queries * (1 - summary.zero_share)),
        "mean": summary.average,
        "median": summary.median,
        "p95": summary.percentile_95,
    }
