"""plan: before any run, which r is within reach, what stands in the way, and what would help."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from shoal.api.inputs import Known, table_of
from shoal.data.spec import Spec
from shoal.engines import Engine
from shoal.knowledge import Knowledge
from shoal.planning.comparison.finding import try_r
from shoal.planning.plan import Plan
from shoal.planning.plan import plan as plan_table


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
        seconds: How long the asked r and others are run, without a model; at 0 only what is
            impossible is known.

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
    table = table_of(data, spec, knowledge=knowledge, engine=engine, publish=True)
    made = plan_table(table, knowledge=Knowledge.of(table, knowledge, model=model))
    if seconds <= 0 or model is not None or isinstance(knowledge, Knowledge):
        return made
    if made.refused and made.impossible_above is None:
        return made
    proven = made.impossible_above
    most = made.largest_r if proven is None else proven
    hopeless = proven is not None and float(table.event_r.max()) > proven
    tried = try_r(table, seconds=seconds, most=most, hopeless=hopeless)
    return replace(made, tried=tuple(sorted(tried.items())))
