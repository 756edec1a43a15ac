"""plan: before any run, which r is within reach, what stands in the way, and what would help."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from shoal.api.inputs import Known, table_of
from shoal.data.spec import Spec
from shoal.engines import Engine, default_engine, engine_of
from shoal.knowledge import Knowledge, check_groups
from shoal.planning.comparison.finding import try_r
from shoal.planning.plan import Plan
from shoal.planning.plan import plan as plan_table
from shoal.release.tables import check_names


def plan(
    data: Any,
    spec: Spec | None = None,
    *,
    knowledge: Known = None,
    model: Any = None,
    engine: Engine | None = None,
    seconds: float = 0.0,
) -> Plan:
    """Says what is possible for a table before anything is published.

    Args:
        data: A frame, the path or URL of a table, or a Table.
        spec: What is asked; a Table has its own.
        knowledge: What outsiders know, a Knowledge or a file, in place of what the spec says.
        model: Outsiders also know what such a model of all QIs, fitted to other people, foretells
            of everybody. In Python also anything with fit and predict_proba.
        engine: Who counts the rows; Polars on this machine unless given.
        seconds: How long the asked r and others are run; at 0, and where one would take longer,
            only what is impossible is known.

    Returns:
        Which r is impossible, which held when they were run, and what stands in the way.

    Raises:
        InputError: The table or the spec is wrong.

    >>> import shoal
    >>> hospital = shoal.datasets.hospital(2000, seed=0)
    >>> spec = shoal.Spec(
    ...     qi=["sex", "region"], sensitive="diagnosis", protect=[["HIV", "Schizophrenia"]], r=5
    ... )
    >>> plan = shoal.plan(hospital, spec)
    >>> plan.feasible
    True
    >>> shoal.plan(hospital, spec.with_(r=100)).feasible
    False
    """
    engine = engine or engine_of(data) or default_engine()
    table = table_of(data, spec, knowledge=knowledge, engine=engine, publish=True)
    check_names(table)
    known = Knowledge.of(table, knowledge, model=model)
    check_groups(table)
    made = plan_table(table, knowledge=known)
    proven = made.impossible_above
    if seconds <= 0 or made.run_seconds > seconds or (made.hopeless and proven is None):
        return made
    most = max(made.asked, made.largest_r) if proven is None else proven
    tried = try_r(table, known, seconds=seconds, most=most, engine=engine)
    return replace(made, tried=tuple(tried))
