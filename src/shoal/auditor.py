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
from shoal.kernels.judge import deviations
from shoal.knowledge import Knowledge
from shoal.partition import Partition, number_groups
from shoal.spec import checked_r
from shoal.table import IntArray, Table
from shoal.verdict import KINDS, Adversary, Audit, GuessRate, ViewRisk, Witness


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


def _partition(table: Table, groups: Any) -> tuple[Partition, tuple[str, ...]]:
    if isinstance(groups, Partition):
        return groups, tuple(str(g) for g in range(groups.groups))
    if isinstance(groups, Grouping):
        partition = Partition.of(table, groups.groups, values=groups.values, pooled=groups.pooled)
        return partition, tuple(str(g) for g in range(partition.groups))
    series = groups if isinstance(groups, pl.Series) else _series(groups)
    if len(series) != table.rows:
        raise InputError(
            "groups-length",
            f"There are {len(series)} group labels for {table.rows} rows.",
            "Give one label per row of the table.",
        )
    rows, names = number_groups(series)
    return Partition.of(table, rows), names


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
    labels: tuple[str, ...],
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

    frame = _row_frame(
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
    deltas, meets, holding = _deltas(case, knowledge)
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
        worst=_witness(frame, table),
        worst_by_event=_worst_by_event(case, knowledge, judgements, labels),
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
        guess_rate=_guess_rate(judgements, knowledge),
        by_view=_by_view(case, knowledge, judgements, deltas),
        posteriors={name: sum(j.counted[k] for j in judgements) for k, name in enumerate(KINDS)},
        known_before=int(
            part.pair_size[np.asarray(case.known.any(axis=1))[part.pair_signature]].sum()
        ),
        frame=frame,
        native=table.native,
    )


def _row_frame(
    case: Case,
    knowledge: Knowledge,
    labels: tuple[str, ...],
    before: NDArray[np.float64],
    held: NDArray[np.int64],
    exposure: NDArray[np.float64],
    posterior: NDArray[np.float64],
    event: IntArray,
    view: IntArray,
    kind: NDArray[np.int8],
    breach: NDArray[np.bool_],
    undecided: NDArray[np.bool_],
) -> pl.DataFrame:
    """The worst case of every row; rows that are not published have nothing but their number."""
    table, part = case.table, case.partition
    signature = part.pair_signature[held]
    chance = np.zeros(len(held))
    for number, one in enumerate(knowledge.views):
        here = np.flatnonzero((view == number) & (event >= 0))
        chance[here] = event_chances(one, table)[one.index[signature[here]], event[here]]
    ranked = np.argmax(before * case.event_r, axis=1)
    earlier = before[np.arange(len(before)), ranked]
    names = pl.Series([event.label for event in table.events])
    view_names = pl.Series([one.name for one in knowledge.views])
    worst = pl.DataFrame(
        {
            "pair": held.astype(np.int32),
            "event": names[np.maximum(event, 0)],
            "view": view_names[view],
            "before": chance,
            "posterior": posterior,
            "exposure": np.maximum(exposure, 0.0),
            "kind": pl.Series(list(KINDS))[kind],
            "problematic": breach,
            "undecided": undecided,
        }
    ).with_columns(pl.when(pl.Series(event >= 0)).then(pl.col("event", "view", "kind")))
    pairs = pl.DataFrame(
        {
            "pair": np.arange(len(part.pair_signature), dtype=np.int32),
            "group": pl.Series(list(labels), dtype=pl.String)[part.pair_group],
            "known_before": earlier[part.pair_signature],
            "known_exposure": (earlier * case.event_r[ranked])[part.pair_signature],
        }
    ).join(worst, on="pair", how="left", maintain_order="left")
    pairs = pairs.with_columns(pl.col("before", "posterior", "exposure").fill_null(0.0))
    rows = pl.DataFrame({"row": np.arange(table.rows), "pair": part.row_pair})
    joined = rows.join(pairs, on="pair", how="left", maintain_order="left")
    return joined.with_columns(pl.col("problematic", "undecided").fill_null(False)).select(
        "row",
        "group",
        "event",
        "view",
        "before",
        "posterior",
        "exposure",
        "kind",
        "problematic",
        "undecided",
        "known_before",
        "known_exposure",
    )


def _witness(frame: pl.DataFrame, table: Table) -> Witness | None:
    exposed = frame.filter(pl.col("event").is_not_null())
    if not exposed.height:
        return None
    line = exposed.sort("exposure", "posterior", "row", descending=[True, True, False]).row(
        0, named=True
    )
    return Witness(
        row=line["row"],
        person=table.describe(int(table.row_signature[line["row"]])),
        group=line["group"],
        event=line["event"],
        view=tuple(part for part in line["view"].split(" + ") if part != "(whole table)"),
        before=line["before"],
        posterior=line["posterior"],
        kind=line["kind"],
    )


def _worst_by_event(
    case: Case, knowledge: Knowledge, judgements: list[Judgement], labels: tuple[str, ...]
) -> dict[str, Witness]:
    """Everybody's links to each event, the largest of them."""
    table, part = case.table, case.partition
    held = part.held_pairs(np.append(table.value_event, np.int32(-1)))
    found = {}
    for number, event in enumerate(table.events):
        best = max(range(len(judgements)), key=lambda i: judgements[i].event_worst[number])
        one, view = judgements[best], knowledge.views[best]
        pair = int(one.event_pair[number])
        if pair < 0:
            continue
        signature = int(part.pair_signature[pair])
        found[event.label] = Witness(
            row=int(np.argmax(part.row_pair == pair)),
            person=table.describe(signature),
            group=labels[int(np.searchsorted(part.group_start, pair, side="right")) - 1],
            event=event.label,
            view=view.attributes,
            before=float(event_chances(view, table)[view.index[signature], number]),
            posterior=float(one.event_worst[number]),
            kind=KINDS[one.kind[np.searchsorted(held, pair)]],
        )
    return dict(sorted(found.items()))


def _deltas(
    case: Case, knowledge: Knowledge
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Per view: the mean deviation over all groups, over those that hold an event, and Theorem 1's
    bound there. Per group: whether it meets that bound in every view, whether it holds an event."""
    table, part = case.table, case.partition
    group = np.repeat(np.arange(part.groups), np.diff(part.value_start))
    value_event = np.append(table.value_event, np.int32(-1))[part.value_code]
    counts = np.zeros((part.groups, len(table.events)), np.int64)
    held = value_event >= 0
    np.add.at(counts, (group[held], value_event[held]), part.value_count[held])
    meets = np.ones(part.groups, bool)
    several = np.flatnonzero((np.diff(part.group_start) > 1) | counts.any(axis=1))
    sums = np.stack(
        [
            deviations(
                view.index,
                event_chances(view, table),
                case.event_r,
                part.group_start,
                part.pair_signature,
                part.pair_size,
                counts,
                several,
                meets,
            )
            for view in knowledge.views
        ]
    )
    holders = np.maximum(sums[:, :, 3], 1.0)
    means = [sums[:, :, 0] / part.groups, sums[:, :, 1] / holders, sums[:, :, 2] / holders]
    return np.stack(means, axis=-1).mean(axis=1), meets, np.asarray(counts.any(axis=1))


def _by_view(
    case: Case,
    knowledge: Knowledge,
    judgements: list[Judgement],
    deltas: NDArray[np.float64],
) -> dict[str, ViewRisk]:
    held = case.partition.held_pairs(np.append(case.table.value_event, np.int32(-1)))
    sizes = case.partition.pair_size[held]
    published = np.unique(case.partition.pair_signature)
    found = {}
    for view, one, (_, delta, bound) in zip(knowledge.views, judgements, deltas, strict=True):
        with_r = one.posterior * np.where(one.event >= 0, case.event_r[one.event], 0.0)
        worst = int(np.argmax(with_r)) if len(held) else -1
        chances = event_chances(view, case.table)[view.index[published]]
        known = int(np.argmax(chances * case.event_r))
        found[view.name] = ViewRisk(
            worst=float(one.posterior[worst]) if len(held) else 0.0,
            exposure=float(with_r[worst]) if len(held) else 0.0,
            kind=KINDS[one.kind[worst]] if len(held) else "exact",
            before=float(chances.flat[known]),
            exposure_before=float((chances * case.event_r).flat[known]),
            problematic=int(sizes[one.breach].sum()),
            delta=float(delta),
            bound=float(bound),
        )
    return found


def _guess_rate(judgements: list[Judgement], knowledge: Knowledge) -> GuessRate:
    guesses = np.stack([one.guesses for one in judgements])
    made = guesses[:, :, 1]
    rates = np.divide(guesses[:, :, 0], made, out=np.zeros_like(made), where=made > 0)
    worst = int(np.argmax(rates[:, 0]))
    return GuessRate(
        worst=float(rates[worst, 0]),
        view=knowledge.views[worst].attributes,
        by_view={
            view.name: float(rate) for view, rate in zip(knowledge.views, rates[:, 0], strict=True)
        },
        known_before=float(rates[:, 1].max()) if made[:, 1].any() else None,
    )
