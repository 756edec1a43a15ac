"""The audit's measures, from what the views' judgements say: everybody's worst case, witnesses,
deviations (the paper's measure 4), risks by view, guess rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.arrays import Bools, Floats
from shoal.auditing.adversaries.all_views import ROUNDING
from shoal.auditing.adversaries.judging import Case
from shoal.auditing.checks import robustness
from shoal.auditing.findings import KINDS, Kind, Witness
from shoal.auditing.kernels import count_held, deviations
from shoal.auditing.row_risks import RowRisks
from shoal.auditing.seen import Lens as Lens
from shoal.auditing.seen import Seen
from shoal.auditing.verdict import AdversaryVerdict, GuessRate, ViewRisk, fitted
from shoal.data.table import Table
from shoal.knowledge import View, event_chances


def counted(lenses: Sequence[Lens]) -> dict[Kind, int]:
    """How many judgements are exact, bounds, estimates."""
    return {name: sum(one.judged.counted[k] for one in lenses) for k, name in enumerate(KINDS)}


def adversary_verdict(
    case: Case, reasoning: str, lenses: Sequence[Lens], beside: Sequence[Lens]
) -> AdversaryVerdict:
    """What one adversary can do through all views, and beside them."""
    breach = np.any([one.judged.breach for one in (*lenses, *beside)], axis=0)
    undecided = np.any([one.judged.undecided for one in lenses], axis=0) & ~breach
    return verdict_of(case, reasoning, lenses, breach, undecided)


def verdict_of(
    case: Case, reasoning: str, lenses: Sequence[Lens], breach: Bools, undecided: Bools
) -> AdversaryVerdict:
    """What one adversary can do, where it is known of each held pair whether any view exposes it,
    or leaves it undecided and none exposes it."""
    part, held = case.partition, case.held
    impossible = any(len(one.judged.contradictory) for one in lenses)
    missing = max(one.judged.absent for one in lenses)
    residuals = [one.judged.residual for one in lenses if one.judged.residual is not None]
    return AdversaryVerdict(
        reasoning=reasoning,
        robust=robustness(
            breach=bool(breach.any()) or missing > 0, undecided=impossible or bool(undecided.any())
        ),
        worst_posterior=max(float(one.judged.event_worst.max(initial=0.0)) for one in lenses),
        problematic=int(part.people_of(held[breach]).sum()),
        undecided=int(part.people_of(held[undecided]).sum()),
        posteriors=counted(lenses),
        missing=missing,
        residual=max(residuals, default=None),
        excepted=max((n for one in lenses if (n := one.judged.excepted) is not None), default=None),
    )


def row_risks(case: Case, seen: Seen) -> RowRisks:
    """The worst of all views' judgements for everybody."""
    table, lenses, event, before = case.table, seen.lenses, seen.event, case.beforehand
    signature = case.partition.signature[case.held]
    chance = np.zeros(len(case.held))
    for number, (_, view, _) in enumerate(lenses):
        here = np.flatnonzero((seen.through == number) & (event >= 0))
        chance[here] = event_chances(view, table)[view.index[signature[here]], event[here]]
    ranked = np.argmax(before * case.event_r, axis=1)
    earlier = before[np.arange(len(before)), ranked]
    return RowRisks(
        table=table,
        people=seen.people,
        held=case.held,
        worst=pl.DataFrame(
            {
                "event": _named([event.label for event in table.events], event, event >= 0),
                "view": _named([lens.view.name for lens in lenses], seen.through, event >= 0),
                "adversary": _named([lens.adversary for lens in lenses], seen.through, event >= 0),
                "before": chance,
                "posterior": seen.posterior,
                "exposure": np.maximum(seen.exposure, 0.0, out=seen.exposure),
                "kind": _named(list(KINDS), seen.kind, event >= 0),
                "problematic": seen.breach,
                "undecided": seen.undecided & ~seen.breach,
            }
        ),
        known=pl.DataFrame(
            {"known_before": earlier, "known_exposure": earlier * case.event_r[ranked]}
        ),
    )


def _named(names: list[str], number: NDArray[Any], shown: Bools) -> pl.Series:
    """Names by their numbers, as categories; missing where not shown."""
    places = pl.Series(np.where(shown, number, 0).astype(np.int32))
    named = pl.Series(names, dtype=pl.Categorical).gather(places)
    return named.set(pl.Series(~shown), None)


def worst_witness(risks: RowRisks, table: Table, seen: Seen) -> Witness | None:
    equal = risks.worst_pairs()
    if not len(equal):
        return None
    row, pair = risks.people.first_of(equal)
    place, signature = int(np.searchsorted(risks.held, pair)), int(risks.partition.signature[pair])
    line, view = risks.worst.row(place, named=True), seen.lenses[seen.through[place]].view
    return Witness(
        row=row,
        person=table.describe(signature),
        group=risks.label_of_pair(pair),
        event=line["event"],
        view=tuple(part for part in line["view"].split(" + ") if part != "(whole table)"),
        before=line["before"],
        posterior=line["posterior"],
        kind=line["kind"],
        adversary=line["adversary"],
        limit=allowed(line["posterior"], line["exposure"]),
        whole_table=view.chances is None and not view.index[signature],
    )


def nearest(seen: Seen) -> tuple[float, float] | None:
    """The link that is the largest share of its limit, and that limit; of those who are not known
    beforehand, of whom anything is allowed."""
    open_ = np.where(seen.posterior < seen.exposure, seen.exposure, -1.0)
    if not len(open_) or open_.max() < 0:
        return None
    place = int(np.argmax(open_))
    return float(seen.posterior[place]), allowed(seen.posterior[place], seen.exposure[place])


def allowed(posterior: float, exposure: float) -> float:
    """The limit of a link that is so large a share of it."""
    return round(float(posterior / exposure), 12) if exposure else 1.0


def known_by_all(case: Case, lenses: Sequence[Lens]) -> dict[str, Any]:
    """Published people whom all counts together put above 1/r beforehand, and the largest chance
    among them; nothing where nobody fitted these counts."""
    people = case.partition.signature_people
    fits = (one.view.chances for one in lenses if one.view.chances is not None)
    if (chances := next(fits, None)) is None:
        return {}
    above = (chances * case.event_r > 1.0 + ROUNDING) & (people > 0)[:, None]
    most = fitted(float(chances[above].max(initial=0.0)))
    return {"together_before": int(people[above.any(axis=1)].sum()), "most_before": most or None}


def worst_by_event(case: Case, seen: Seen, risks: RowRisks) -> dict[str, Witness]:
    """Everybody's links to each event, the largest of them; of equal ones the first row's."""
    table, part = case.table, case.partition
    witnesses = {}
    for number, event in enumerate(table.events):
        if number not in seen.largest:
            continue
        one = seen.largest[number]
        view, signature = seen.lenses[one.lens].view, int(part.signature[one.pair])
        witnesses[event.label] = Witness(
            row=one.row,
            person=table.describe(signature),
            group=risks.label_of_pair(one.pair),
            event=event.label,
            view=view.parts,
            before=float(event_chances(view, table)[view.index[signature], number]),
            posterior=one.posterior,
            kind=one.kind,
            adversary=seen.lenses[one.lens].adversary,
            limit=_limit(case, seen.lenses[one.lens], signature, number),
        )
    return dict(sorted(witnesses.items()))


def _limit(case: Case, lens: Lens, signature: int, event: int) -> float:
    """What is allowed somebody for an event, to one lens."""
    whom = np.array([signature], np.int32), np.array([event], np.int32)
    return round(1.0 / float(case.strength(lens.view, *whom, lens.judged.limit)[0]), 12)


def deviations_by_view(case: Case, views: Sequence[View]) -> tuple[Floats, Bools, Bools]:
    """Per view: the mean deviation over all groups, over those that hold an event, and Theorem 1's
    bound there. Per group: whether it meets that bound in every view, whether it holds an event."""
    table, part = case.table, case.partition
    counts = np.zeros((len(table.events), part.groups), np.int64)
    for event in range(len(table.events)):
        held = table.holds(event)
        counts[event] = count_held(*part.values.arrays, held)
    meets, sums = np.ones(part.groups, bool), np.zeros((len(views), len(counts), 4))
    for number, view in enumerate(views):
        row, chances = view.index[part.signature], event_chances(view, table)
        for event, carriers in enumerate(counts):
            sums[number, event] = deviations(
                part.pairs.start,
                part.copies,
                row,
                part.pairs.count,
                chances[:, event].copy(),
                carriers,
                float(case.event_r[event]),
                meets,
            )
    holders = np.maximum(sums[:, :, 3], 1.0)
    means = [sums[:, :, 0] / part.all_groups, sums[:, :, 1] / holders, sums[:, :, 2] / holders]
    return np.stack(means, axis=-1).mean(axis=1), meets, np.asarray(counts.any(axis=0))


def risk_by_view(
    case: Case, seen: Seen, views: Sequence[tuple[View, Floats]]
) -> dict[str, ViewRisk]:
    """What each view can do on its own, in the hands of the adversary for whom it does most; and
    all together, where somebody uses them so. A view comes with its deviations."""
    published = np.flatnonzero(case.partition.signature_people)
    risks = {}
    for view, (_, delta, bound) in views:
        if view.name not in seen.by_view:  # nobody takes views one at a time
            continue
        most = seen.by_view[view.name]
        chances = event_chances(view, case.table)[view.index[published]]
        known = int(np.argmax(chances * case.event_r))
        risks[view.name] = ViewRisk(
            worst=most.posterior,
            exposure=most.exposure,
            kind=most.kind,
            before=float(chances.flat[known]),
            exposure_before=float((chances * case.event_r).flat[known]),
            problematic=seen.exposed(view.name),
            delta=float(delta),
            bound=float(bound),
        )
    return risks


def guess_rate(lenses: Sequence[Lens]) -> GuessRate:
    """How often the likeliest member is the carrier, for whoever guesses best; of several sensitive
    columns in all of them."""
    together: dict[tuple[str, str], list[Lens]] = {}
    for lens in lenses:
        together.setdefault((lens.adversary, lens.view.name), []).append(lens)
    guesses = np.stack([sum(one.judged.guesses for one in some) for some in together.values()])
    lenses = [some[0] for some in together.values()]
    made = guesses[:, :, 1]
    rates = np.divide(guesses[:, :, 0], made, out=np.zeros_like(made), where=made > 0)
    worst = int(np.argmax(rates[:, 0]))
    by_view: dict[str, float] = {}
    for lens, rate in zip(lenses, rates[:, 0], strict=True):
        by_view[lens.view.name] = max(by_view.get(lens.view.name, 0.0), float(rate))
    return GuessRate(
        worst=float(rates[worst, 0]),
        view=lenses[worst].view.parts,
        by_view=by_view,
        known_before=float(rates[:, 1].max()) if made[:, 1].any() else None,
    )
