"""The audit's measures, from what the views' judgements say: everybody's worst case, witnesses,
deviations (the paper's measure 4), risks by view, guess rates."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.adversaries.kernels.judge import deviations
from shoal.auditing.judge import Case, Judgement
from shoal.auditing.row_risks import People, RowRisks
from shoal.auditing.verdict import KINDS, GuessRate, ViewRisk, Witness
from shoal.knowledge import Knowledge, event_chances
from shoal.table import Table


def row_risks(
    case: Case,
    knowledge: Knowledge,
    judgements: list[Judgement],
    people: People,
    before: NDArray[np.float64],
) -> RowRisks:
    """The worst of all views' judgements for everybody; `before` is what was known anyway."""
    table, part = case.table, case.partition
    held = part.held_pairs(np.append(table.value_event, np.int32(-1)))
    exposure, posterior = np.full(len(held), -1.0), np.zeros(len(held))
    event, view = np.full(len(held), -1, np.int32), np.zeros(len(held), np.int32)
    kind = np.zeros(len(held), np.int8)
    breach, undecided = np.zeros(len(held), bool), np.zeros(len(held), bool)
    for number, one in enumerate(judgements):
        with_r = one.posterior * np.where(one.event >= 0, case.event_r[one.event], 0.0)
        worse = with_r > exposure
        exposure[worse], posterior[worse] = with_r[worse], one.posterior[worse]
        event[worse], kind[worse], view[worse] = one.event[worse], one.kind[worse], number
        breach |= one.breach
        undecided |= one.undecided
    chance = np.zeros(len(held))
    signature = part.pair_signature[held]
    for number, known in enumerate(knowledge.views):
        here = np.flatnonzero((view == number) & (event >= 0))
        chance[here] = event_chances(known, table)[known.index[signature[here]], event[here]]
    ranked = np.argmax(before * case.event_r, axis=1)
    earlier = before[np.arange(len(before)), ranked]
    return RowRisks(
        table=table,
        people=people,
        held=held,
        worst=pl.DataFrame(
            {
                "event": _named([event.label for event in table.events], event, event >= 0),
                "view": _named([one.name for one in knowledge.views], view, event >= 0),
                "before": chance,
                "posterior": posterior,
                "exposure": np.maximum(exposure, 0.0),
                "kind": _named(list(KINDS), kind, event >= 0),
                "problematic": breach,
                "undecided": undecided & ~breach,
            }
        ),
        known=pl.DataFrame(
            {"known_before": earlier, "known_exposure": earlier * case.event_r[ranked]}
        ),
    )


def _named(names: list[str], number: NDArray[Any], shown: NDArray[np.bool_]) -> pl.Series:
    """Names by their numbers, as categories; missing where not shown."""
    places = pl.Series(np.where(shown, number, 0).astype(np.int32))
    named = pl.Series(names, dtype=pl.Categorical).gather(places)
    return named.set(pl.Series(~shown), None)


def worst_witness(risks: RowRisks, table: Table) -> Witness | None:
    equal = risks.worst_pairs()
    if not len(equal):
        return None
    row, pair = risks.first_of(equal)
    line = risks.worst.row(int(np.searchsorted(risks.held, pair)), named=True)
    return Witness(
        row=row,
        person=table.describe(int(risks.partition.pair_signature[pair])),
        group=risks.label_of_pair(pair),
        event=line["event"],
        view=tuple(part for part in line["view"].split(" + ") if part != "(whole table)"),
        before=line["before"],
        posterior=line["posterior"],
        kind=line["kind"],
    )


def worst_by_event(
    case: Case, knowledge: Knowledge, judgements: list[Judgement], risks: RowRisks
) -> dict[str, Witness]:
    """Everybody's links to each event, the largest of them; of equal ones the first row's."""
    table, part = case.table, case.partition
    found = {}
    for number, event in enumerate(table.events):
        largest = max(one.event_worst[number] for one in judgements)
        equal = []
        for i, one in enumerate(judgements):
            if one.event_worst[number] == largest and one.event_pair[number] >= 0:
                row, pair = risks.first_of(_with_largest(one, number, risks.held))
                equal.append((-1 if row is None else row, i, pair))
        if not equal:
            continue
        first, best, pair = min(equal)
        one, view = judgements[best], knowledge.views[best]
        signature = int(part.pair_signature[pair])
        found[event.label] = Witness(
            row=None if first < 0 else first,
            person=table.describe(signature),
            group=risks.label_of_pair(pair),
            event=event.label,
            view=view.attributes,
            before=float(event_chances(view, table)[view.index[signature], number]),
            posterior=float(one.event_worst[number]),
            kind=KINDS[one.kind[np.searchsorted(risks.held, pair)]],
        )
    return dict(sorted(found.items()))


def _with_largest(one: Judgement, event: int, held: NDArray[np.int64]) -> NDArray[np.int64]:
    """The pairs known to have a view's largest link to an event: the first that was found, and
    those for whom no other event is worse."""
    same = (one.event == event) & (one.posterior == one.event_worst[event])
    return np.append(held[same], one.event_pair[event])


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
    means = [sums[:, :, 0] / part.all_groups, sums[:, :, 1] / holders, sums[:, :, 2] / holders]
    return np.stack(means, axis=-1).mean(axis=1), meets, np.asarray(counts.any(axis=1))


def counted_across(case: Case, knowledge: Knowledge) -> int:
    """How many carriers an adversary exposes who counts over all groups, which no posterior of one
    group shows: of n people who are alike in a view, k = n G carry the event, and they are among
    the m who are in groups that publish it. Where k/m is above 1/r (and k/n was not), the carriers
    of that class are counted."""
    table, part = case.table, case.partition
    carrier_signature = np.repeat(part.pair_signature, np.diff(part.carrier_start))
    found = 0
    for event, r in enumerate(case.event_r):
        value_event = np.where(table.value_event == event, table.value_event, np.int32(-1))
        inside = part.held_pairs(np.append(value_event, np.int32(-1)))
        shown = np.bincount(
            part.pair_signature[inside], part.pair_size[inside], len(table.signatures)
        )
        exposed = np.zeros(len(table.signatures), bool)
        for view in knowledge.views:
            chance, size = event_chances(view, table)[:, event], len(view.distributions)
            people = np.bincount(view.index, table.signature_rows, size)
            among = np.bincount(view.index, shown, size)
            exposes = (r * chance * people > among + 1e-9) & (among > 0) & (r * chance <= 1)
            exposes[0] = False  # whoever is in no class that is known
            exposed |= exposes[view.index]
        carriers = (part.carrier_event == event) & exposed[carrier_signature]
        found += int(part.carrier_count[carriers].sum())
    return found


def risk_by_view(
    case: Case,
    knowledge: Knowledge,
    judgements: list[Judgement],
    deltas: NDArray[np.float64],
) -> dict[str, ViewRisk]:
    held = case.partition.held_pairs(np.append(case.table.value_event, np.int32(-1)))
    sizes = case.partition.pair_size[held]
    published = np.flatnonzero(case.partition.signature_people)
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
