"""audit: who can be linked to what, in groups of a table or in a release that any tool made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from shoal.api.inputs import Known, frame_of, spec_of, table_of
from shoal.api.released import align, align_large, is_own, no_audit_by_engine, spec_of_own
from shoal.arrays import IntArray
from shoal.auditing.adversaries.adversary import USUAL, Adversaries
from shoal.auditing.adversaries.joint import JOINT_BUDGET
from shoal.auditing.align import labels_of
from shoal.auditing.audit import audit as judge
from shoal.auditing.verdict import Audit
from shoal.data.spec import Limit, Spec
from shoal.data.table import Table
from shoal.engines import Engine, engine_of
from shoal.errors import InputError
from shoal.groups import Progress, silent
from shoal.groups.lookup import Lookup, k_cost, lookup_of
from shoal.knowledge import Knowledge, warn_of_time
from shoal.release.folder import load


def audit(
    data: Any,
    spec: Any = None,
    *,
    groups: Any = None,
    released: Any = None,
    key: str | None = None,
    knowledge: Known = None,
    model: Any = None,
    r: float | None = None,
    limit: Limit | None = None,
    adversary: Adversaries = USUAL,
    budget: float = JOINT_BUDGET,
    seed: int = 0,
    rows: IntArray | None = None,
    models: bool = False,
    engine: Engine | None = None,
    progress: Progress = silent,
) -> Audit:
    """Says who can be linked to what, in groups of a table or in what any tool released of it.

    Exact up to a number of steps per group and view; beyond it certified bounds, and estimates that
    can call a breach but never call a table robust. The adversary of all views decides by
    estimates alone. Two Spark frames are joined by their key on the cluster, paths by the engine:
    the adversary needs counts only, and no rows come here.

    Args:
        data: The table: a frame, a path or URL, or a Table.
        spec: What was asked for; a Table and a release of shoal's have their own, so that for these
            groups may come second.
        groups: The column that labels the groups. In Python also one label for each row (missing or
            -1 where it is not published), or a Grouping.
        released: What was released of the table: a file whose QI columns make the groups, or the
            folder of a release, with its private folder beside it.
        key: The column that aligns the released file; row by row unless given.
        knowledge: What outsiders know, a Knowledge or a file, in place of what the spec says.
        model: Outsiders also know what such a model of all QIs, fitted to other people, foretells
            of everybody. In Python also anything with fit and predict_proba.
        r: In place of the spec's, where an event has none of its own.
        limit: In place of the spec's.
        adversary: Who judges, one or several; joint, binary and all-views unless named.
        budget: Steps of an exact posterior, per group and view.
        seed: Seed of the estimates.
        rows: The group of each row, if a Grouping was dealt.
        models: Also say which thresholds of k-anonymity, l-diversity and other models hold.
        engine: Who joins and counts a released file and its table: DuckDB or Spark.
        progress: Called with a step's name, how much of it is done, and of how much.

    Returns:
        The verdict, its checks, and everybody's worst case.

    Raises:
        InputError: Nothing or two things to judge are named, or the files do not belong together.

    >>> import polars, shoal
    >>> hospital = shoal.datasets.hospital(2000, seed=0)
    >>> spec = shoal.Spec(
    ...     qi=["age", "sex"], sensitive="diagnosis", protect=[["HIV", "Schizophrenia"]], r=5
    ... )
    >>> shoal.audit(hospital, spec, groups="region").robust
    True
    >>> shoal.audit(hospital, spec, groups=[row // 4 for row in range(2000)]).robust
    False

    The file of another tool, here one that shows ages in bands of ten years:

    >>> banded = hospital.with_columns(polars.col("age") // 10 * 10)
    >>> found = shoal.audit(hospital, spec, released=banded, key="patient")
    >>> found.robust, found.worst.view
    (True, ('age',))
    """
    if spec is not None and not isinstance(spec, Spec) and groups is None:
        spec, groups = None, spec
    check_named(groups, released, key)
    found = published_of(
        data,
        spec,
        groups=groups,
        released=released,
        key=key,
        knowledge=knowledge,
        engine=engine or engine_of(data),
        progress=progress,
    )
    found = found if found.rows is not None else found._replace(rows=rows)
    return found.judged(
        knowledge,
        model,
        r=r,
        limit=limit,
        adversary=adversary,
        budget=budget,
        seed=seed,
        models=models,
        progress=progress,
    )


class Audited(NamedTuple):
    """What was published of a table."""

    table: Table
    groups: Any
    """A Grouping, or labels of the rows."""
    rows: IntArray | None = None
    """The group of each row, where that is known."""
    lookup: Lookup | None = None

    def judged(self, knowledge: Known, model: Any, **how: Any) -> Audit:
        """The verdict on it."""
        known = Knowledge.of(self.table, knowledge, model=model)
        warn_of_time(self.table, len(known.views))
        return judge(
            self.table, self.groups, knowledge=known, rows=self.rows, lookup=self.lookup, **how
        )


def check_named(groups: Any, released: Any, key: str | None) -> None:
    """An InputError unless one thing to judge is named, and no key without two files."""
    if (groups is None) == (released is None):
        raise InputError(
            "audit-what",
            "Nothing to judge is named." if groups is None else "Two things to judge are named.",
            "Give either groups or a released table.",
        )
    if key is not None and released is None:
        raise InputError("key-alone", "key has nothing to align.", "Use it with released.")


def published_of(
    data: Any,
    spec: Spec | None,
    *,
    groups: Any,
    released: Any,
    key: str | None = None,
    knowledge: Known = None,
    engine: Engine | None = None,
    progress: Progress = silent,
) -> Audited:
    """A table, and the groups of it that are to be judged."""
    if released is not None:
        asked = spec_of(data, spec or spec_of_own(released), knowledge=knowledge)
        k, own = asked.k, is_own(released)
        # What another tool made is held against k, and the table is not recoded for it.
        asked = asked if own else asked.with_(k=None)
        if engine is None:
            table, made, rows = align(frame_of(data), released, asked, key=key)
        else:
            large = align_large(data, released, asked, key=key, engine=engine, progress=progress)
            table, made, rows = large
        if not own:
            return Audited(table, made, rows, lookup_of(table, made, k=k, exact=False))
        lookup = replace(load(Path(released)).lookup, cost=k_cost(table.cost))
        return Audited(table, made, rows, lookup)
    if engine is not None:
        raise no_audit_by_engine()
    if isinstance(groups, str):
        frame = frame_of(data)
        table = table_of(frame, spec_of(data, spec), knowledge=knowledge)
        return Audited(table, labels_of(frame, groups))
    return Audited(table_of(data, spec, knowledge=knowledge), groups)
