"""Audit: is this grouping r-robust, and if not, who is exposed, through what, by how much.

The adversary knows who is in which group, which values the group holds, and, one view at a time,
the exact distribution of the sensitive value for every signature. The joint adversary weighs a
possible world by the probability of every value in it (equations 1 to 3 of the paper); the binary
one tells only one event from the rest. Nothing here is shared with the anonymizers.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.adversary.joint import JOINT_BUDGET
from shoal.errors import InputError
from shoal.frames import to_polars
from shoal.grouping import Grouping, Progress, silent
from shoal.judge import Case, Judgement, event_chances, judge_view
from shoal.knowledge import Knowledge
from shoal.measures import (
    deviations_by_view,
    guess_rate,
    risk_by_view,
    row_frame,
    worst_by_event,
    worst_witness,
)
from shoal.partition import Partition, number_groups
from shoal.spec import checked_r
from shoal.table import Table
from shoal.verdict import KINDS, Adversary, Audit


def audit(
    table: Table,
    groups: Any,
    *,
    knowledge: Knowledge | None = None,
    r: float | None = None,
    adversary: Adversary = "joint",
    budget: float = JOINT_BUDGET,
    seed: int = 0,
    progress: Progress = silent,
) -> Audit:
    """Judges a grouping of a table's rows.

    `groups` is a Grouping, or one label per row (missing, or the number -1: not published).
    `r` replaces the spec's r where an event has none of its own. Exact up to `budget` steps per
    group and view; beyond it, certified bounds, and estimates (from `seed`) that can call a breach
    but never call a table robust.
    """
    if adversary not in ("joint", "binary"):
        raise InputError(
            "adversary", f'There is no adversary "{adversary}".', "Choose joint or binary."
        )
    partition, labels = _partition(table, groups)
    if not partition.groups:
        raise InputError(
            "nothing-published", "No row is in a group.", "Label the groups of published rows."
        )
    known = knowledge or Knowledge.of(table)
    own = np.array([event.r or np.nan for event in table.events])
    strength = checked_r(table.spec.r if r is None else r)
    event_r = np.where(np.isnan(own), strength, own)
    before = _known_before(table, known)
    case = Case(
        table=table,
        partition=partition,
        event_r=event_r,
        known=before * event_r > 1.0,
        joint=adversary == "joint",
        budget=budget,
        seed=seed,
    )
    judgements = _judge_all(case, known, progress)
    return _assemble(case, known, judgements, labels, strength, adversary, before)


def _partition(table: Table, groups: Any) -> tuple[Partition, pl.Series]:
    if isinstance(groups, Partition):
        return groups, _numbers(groups.groups)
    if isinstance(groups, Grouping):
        partition = Partition.of(table, groups.groups, values=groups.values, pooled=groups.pooled)
        return partition, _numbers(partition.groups)
    series = groups if isinstance(groups, pl.Series) else _series(groups)
    if len(series) != table.rows:
        raise InputError(
            "groups-length",
            f"There are {len(series)} group labels for {table.rows} rows.",
            "Give one label per row of the table.",
        )
    rows, names = number_groups(series)
    return Partition.of(table, rows), pl.Series(list(names), dtype=pl.String)


def _numbers(count: int) -> pl.Series:
    return pl.Series(np.arange(count)).cast(pl.String)


def _series(groups: Any) -> pl.Series:
    try:
        return pl.Series("group", groups)
    except (TypeError, ValueError):
        return to_polars({"group": groups})["group"]


def _known_before(table: Table, knowledge: Knowledge) -> NDArray[np.float64]:
    """signatures x events: the largest global probability over all views."""
    best = np.zeros((len(table.signatures), len(table.events)))
    for view in knowledge.views:
        np.maximum(best, event_chances(view, table)[view.index], out=best)
    return best


def _judge_all(case: Case, knowledge: Knowledge, progress: Progress) -> list[Judgement]:
    views = knowledge.views
    judgements: list[Judgement] = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        tasks = [pool.submit(judge_view, case, view, i) for i, view in enumerate(views)]
        try:
            for task in tasks:
                judgements.append(task.result())
                progress("judging", len(judgements), len(views))
        except BaseException:
            for task in tasks:
                task.cancel()
            raise
    return judgements


def _assemble(
    case: Case,
    knowledge: Knowledge,
    judgements: list[Judgement],
    labels: pl.Series,
    r: float,
    adversary: Adversary,
    before: NDArray[np.float64],
) -> Audit:
    table, part = case.table, case.partition
    held = part.held_pairs(np.append(table.value_event, np.int32(-1)))
    pairs = len(held)
    exposure = np.full(pairs, -1.0)
    posterior, event = np.zeros(pairs), np.full(pairs, -1, np.int32)
    view, kind = np.zeros(pairs, np.int32), np.zeros(pairs, np.int8)
    breach, undecided = np.zeros(pairs, bool), np.zeros(pairs, bool)
    for number, one in enumerate(judgements):
        with_r = one.posterior * np.where(one.event >= 0, case.event_r[one.event], 0.0)
        worse = with_r > exposure
        exposure = np.where(worse, with_r, exposure)
        posterior = np.where(worse, one.posterior, posterior)
        event = np.where(worse, one.event, event)
        kind = np.where(worse, one.kind, kind)
        view[worse] = number
        breach |= one.breach
        undecided |= one.undecided
    undecided &= ~breach
    contradictory = len(np.unique(np.concatenate([j.contradictory for j in judgements])))

    frame = row_frame(
        case,
        knowledge,
        labels,
        before,
        held,
        exposure,
        posterior,
        event,
        view,
        kind,
        breach,
        undecided,
    )
    carries = (table.row_event >= 0) & (part.row_pair >= 0)
    problematic = frame["problematic"].to_numpy()
    published = part.row_pair >= 0
    sizes = part.pair_size[held]
    robust: bool | None = not breach.any()
    if robust and (undecided.any() or contradictory):
        robust = None
    deltas, meets, holding = deviations_by_view(case, knowledge)
    return Audit(
        robust=robust,
        r=r,
        adversary=adversary,
        rows=table.rows,
        published=int(published.sum()),
        suppressed=int((~published).sum()),
        suppressed_carriers=int(((table.row_event >= 0) & ~published).sum()),
        groups=part.groups,
        views=len(knowledge.views),
        knowledge=knowledge.source,
        worst=worst_witness(frame, table),
        worst_by_event=worst_by_event(case, knowledge, judgements, labels),
        problematic=int(sizes[breach].sum()),
        carriers=int(carries.sum()),
        problematic_carriers=int((problematic & carries).sum()),
        undecided=int(sizes[undecided].sum()),
        contradictory=contradictory,
        average_delta=float(deltas[:, 0].mean()),
        average_delta_carrying=float(deltas[:, 1].mean()),
        average_bound=float(deltas[:, 2].mean()),
        theorem1_groups=int((meets & holding).sum()),
        event_groups=int(holding.sum()),
        guess_rate=guess_rate(judgements, knowledge),
        by_view=risk_by_view(case, knowledge, judgements, deltas),
        posteriors={name: sum(j.counted[k] for j in judgements) for k, name in enumerate(KINDS)},
        known_before=int(
            part.pair_size[np.asarray(case.known.any(axis=1))[part.pair_signature]].sum()
        ),
        frame=frame,
        native=table.native,
    )
