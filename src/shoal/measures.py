"""The audit's measures, from what the views' judgements say: everybody's worst case, witnesses,
deviations (the paper's measure 4), risks by view, guess rates."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.judge import Case, Judgement, event_chances
from shoal.kernels.judge import deviations
from shoal.knowledge import Knowledge
from shoal.table import IntArray, Table
from shoal.verdict import KINDS, GuessRate, ViewRisk, Witness


def row_frame(
    case: Case,
    knowledge: Knowledge,
    labels: pl.Series,
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
    names = pl.Series([event.label for event in table.events], dtype=pl.Categorical)
    view_names = pl.Series([one.name for one in knowledge.views], dtype=pl.Categorical)
    kinds = pl.Series(list(KINDS), dtype=pl.Categorical)
    worst = pl.DataFrame(
        {
            "pair": held.astype(np.int32),
            "event": names[np.maximum(event, 0)],
            "view": view_names[view],
            "before": chance,
            "posterior": posterior,
            "exposure": np.maximum(exposure, 0.0),
            "kind": kinds[kind],
            "problematic": breach,
            "undecided": undecided,
        }
    ).with_columns(pl.when(pl.Series(event >= 0)).then(pl.col("event", "view", "kind")))
    pairs = pl.DataFrame(
        {
            "pair": np.arange(len(part.pair_signature), dtype=np.int32),
            "group": labels[part.pair_group],
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


def worst_witness(frame: pl.DataFrame, table: Table) -> Witness | None:
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


def worst_by_event(
    case: Case, knowledge: Knowledge, judgements: list[Judgement], labels: pl.Series
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


def deviations_by_view(
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


def risk_by_view(
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


def guess_rate(judgements: list[Judgement], knowledge: Knowledge) -> GuessRate:
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
