"""plan: before any run, which r is within reach, what stands in the way, and what would help."""

from __future__ import annotations

from typing import Any

from shoal.api.inputs import Known, table_of
from shoal.engines import Engine
from shoal.knowledge import Knowledge
from shoal.planning.plan import Plan
from shoal.planning.plan import plan as plan_table
from shoal.spec import Spec


def plan(
    data: Any,
    spec: Spec | None = None,
    *,
    knowledge: Known = None,
    model: Any = None,
    engine: Engine | None = None,
) -> Plan:
    """What is possible for a table (a frame, a path or URL, or a Table) before anything is run.

    `knowledge` replaces what the spec says that the adversary knows, and a `model` (see
    `anonymize`) adds to it.

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
    return plan_table(table, knowledge=Knowledge.of(table, knowledge, model=model))
