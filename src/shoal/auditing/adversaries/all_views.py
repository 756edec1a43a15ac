"""The adversary of all views: uses every public count at once, of all groups together.

Whoever knows how many people and cases every stratum of every view has, believes the distribution
of largest entropy that meets all of these counts (knowledge/entropy.py): before publication, and
again with what the groups publish. A person's limit is 1/r, or what the counts said of them
beforehand: that is not the release's doing. Nobody's odds may be above BAYES_FACTOR times those of
their limit. Whoever is above that by earlier releases alone, with what is known today, is held
against a later one if their odds are above BAYES_FACTOR times what they are without it, or if they
are certain.

Posteriors are estimates, and decide all the same. Where the fit misses counts by too much nothing
is decided, which counts against the release.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from shoal.arrays import Bools, Floats, IntArray
from shoal.auditing.adversaries.judging import Case, Judgement
from shoal.auditing.adversaries.kernels import judge as kernels
from shoal.auditing.kernels import count_held
from shoal.errors import InputError
from shoal.groups.ragged import Ragged
from shoal.knowledge import Knowledge, View
from shoal.knowledge.entropy import (
    SURE,
    Believed,
    Groups,
    Strata,
    all_counts,
    event_cases,
    fit_groups,
    most_believed,
)
from shoal.wording import ALL_VIEWS

ROUNDING = 1e-3
"""A posterior is above its limit if it is so by more than this part of it: the fit's own error."""
MOST_OFF = 0.5
"""If some count is missed by more than this part of its leeway, nothing is decided: by more than so
many cases, or than half of this part of the count's square root."""


class AllViews:
    """Reads the release as a whole."""

    name = "all-views"
    reasoning = "fits everybody's chance to the counts of all views and of all groups at once"

    def can_judge(self, knowledge: Knowledge) -> bool:
        """Whether some view was counted in the table."""
        return any(one.people is not None for one in knowledge.class_views)

    def judge_whole(self, case: Case, knowledge: Knowledge) -> tuple[View, Judgement]:
        """What all counts say beforehand, as a view; and everybody's posteriors."""
        if not self.can_judge(knowledge):
            raise InputError(
                "all-views-counts",
                "The adversary all-views reasons with counts of the table's own people, and "
                f"{knowledge.source} has none.",
                "Name other adversaries (--adversary joint --adversary binary), or judge with what "
                "is counted in the table itself.",
            )
        table, part = case.table, case.partition
        before = all_counts(table, knowledge)
        strata, notes = Strata.of(table, knowledge), _Notes.of(case)
        missing = table.signature_rows - part.signature_people
        residual, absent, judged = float(before.residual.max(initial=0.0)), 0, 0
        excepted = _Excepted(np.zeros(len(part.signature), bool), np.zeros(len(missing), bool))
        for event in range(len(table.events)):
            told, begin = _holding(case, event), before.factors[event]
            found = fit_groups(strata, event_cases(table, event), told.groups, missing, begin)
            residual = max(residual, found.residual)
            off = max(found.off, float(before.off[event]))
            limit = most_believed(np.maximum(1.0 / case.event_r[event], before.chance[:, event]))
            notes.guess(case, event, told, found.posterior)
            if case.before is not None:
                earlier = case.before
                found = _charged(case, earlier, event, told, found, strata, limit, begin, excepted)
            notes.take(case, event, told, found, limit, decided=off <= MOST_OFF)
            above = found.missing > limit * (1.0 + ROUNDING)
            absent += int(missing[above].sum()) if off <= MOST_OFF else 0
            judged += int(told.groups.copies.sum())
        every = np.arange(len(table.signatures), dtype=np.int32)
        view = View((ALL_VIEWS,), every, np.zeros((1, 1)), chances=before.chance)
        people = int(part.pair_people[excepted.pair].sum() + missing[excepted.missing].sum())
        return view, notes.judgement(case, judged, residual, absent, people)


@dataclass(frozen=True, eq=False)
class _Holding:
    """The groups that hold one event."""

    groups: Groups
    pair: IntArray
    """The pair of each line."""


def _holding(case: Case, event: int) -> _Holding:
    part = case.partition
    cases = count_held(*part.values.arrays, case.table.holds(event))
    number = np.flatnonzero(cases)
    pairs = part.pairs.some(number)
    groups = Groups(
        pairs.start.astype(np.int64),
        pairs.code,
        pairs.count.astype(np.int64),
        part.copies[number],
        cases[number],
    )
    return _Holding(groups, part.pairs.entries(number)[1])


class _Excepted(NamedTuple):
    """Who is above their limit and not charged for it: of each pair and, missing, of each
    signature."""

    pair: Bools
    missing: Bools


def _charged(
    case: Case,
    before: Case,
    event: int,
    told: _Holding,
    found: Believed,
    strata: Strata,
    limit: Floats,
    factors: Floats | None,
    excepted: _Excepted,
) -> Believed:
    """What is believed, but nothing of those whom what came before takes above their limit, and
    whose odds are not much above that now. Nobody is excepted who is certain."""
    earlier, part = _holding(before, event), before.partition
    missing = case.table.signature_rows - part.signature_people
    cases = event_cases(case.table, event)
    known = fit_groups(strata, cases, earlier.groups, missing, factors)
    signature = told.groups.signature
    chance = known.missing[signature]
    chance[case.told[case.partition.pairs.owner[told.pair]]] = known.posterior
    free, gone = (
        (was > most) & (now <= np.minimum(most_believed(was), SURE) * (1.0 + ROUNDING))
        for was, most, now in (
            (chance, limit[signature], found.posterior),
            (known.missing, limit, found.missing),
        )
    )
    above = free & (found.posterior > limit[signature] * (1.0 + ROUNDING))
    excepted.pair[told.pair[above]] = True
    excepted.missing[gone & (missing > 0) & (found.missing > limit * (1.0 + ROUNDING))] = True
    return found._replace(
        posterior=np.where(free, 0.0, found.posterior), missing=np.where(gone, 0.0, found.missing)
    )


@dataclass(frozen=True, eq=False)
class _Notes:
    """What is written down of all pairs."""

    record: kernels.WorstLinks
    exposure: Floats
    undecided: Bools

    @classmethod
    def of(cls, case: Case) -> _Notes:
        pairs = len(case.partition.signature)
        record = kernels.empty_record(case.partition.groups, pairs, len(case.event_r))
        return cls(record, np.full(pairs, -1.0), np.zeros(pairs, bool))

    def take(
        self,
        case: Case,
        event: int,
        told: _Holding,
        found: Believed,
        limit: Floats,
        *,
        decided: bool,
    ) -> None:
        """Adds what is believed of one event; `limit` is that of each signature."""
        record, pair, posterior = self.record, told.pair, found.posterior
        if not len(pair):
            return
        exposure = posterior / limit[told.groups.signature]
        worse = exposure > self.exposure[pair]
        self.exposure[pair[worse]] = exposure[worse]
        record.posterior[pair[worse]], record.event[pair[worse]] = posterior[worse], event
        if decided:
            record.breach[pair] |= exposure > 1.0 + ROUNDING
        else:
            self.undecided[pair] = True
        largest = int(np.argmax(posterior))
        record.event_worst[event], record.event_pair[event] = posterior[largest], pair[largest]

    def guess(self, case: Case, event: int, told: _Holding, posterior: Floats) -> None:
        """One guess per group, at the people with the largest posterior."""
        if not len(posterior):
            return
        lines = Ragged(told.groups.start)
        leads = posterior >= lines.spread(lines.largest(posterior)) - kernels.TIE
        cases = _cases(case, event)[told.pair]
        right = lines.summed(cases * leads) / lines.summed(told.groups.people * leads)
        known = case.known[told.groups.signature, event] & (cases > 0)
        before = lines.any(known).astype(np.int64)
        copies = told.groups.copies.astype(np.float64)
        self.record.guesses[:, 0] += np.bincount(before, copies * right, 2)
        self.record.guesses[:, 1] += np.bincount(before, copies, 2)

    def judgement(
        self, case: Case, judged: int, residual: float, absent: int, excepted: int
    ) -> Judgement:
        """All of it."""
        estimates = np.full(len(self.exposure), 2, np.int8)
        made = Judgement.of_record(
            case, self.record, counted=(0, 0, judged), kind=estimates, undecided=self.undecided
        )
        return replace(
            made,
            limit="prior",
            residual=residual,
            absent=absent,
            excepted=excepted if case.earlier is not None else None,
        )


def _cases(case: Case, event: int) -> Floats:
    """How many people of each pair have an event in truth."""
    part = case.partition
    if case.table.several is None:
        held, mine = part.events, part.events.code == event
    else:
        held, mine = part.worlds, case.table.holds(event)[part.worlds.code]
    return np.bincount(held.owner[mine], held.count[mine], held.owners).astype(np.float64)
