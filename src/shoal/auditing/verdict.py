"""What an audit says: the verdict, its witness, and the paper's measures."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from shoal.auditing.check_words import in_short
from shoal.auditing.checks import Check, checks_of, nearest_link, verdict
from shoal.auditing.counting import Counting
from shoal.auditing.findings import (
    Absence,
    Counted,
    Counter,
    Figures,
    Findings,
    Judge,
    Judged,
    JudgedTogether,
    Kind,
    Unit,
    Witness,
)
from shoal.auditing.models import Models
from shoal.auditing.persons import PersonVerdict
from shoal.auditing.releases.verdict import ReleasesVerdict
from shoal.auditing.row_risks import RowRisks
from shoal.data.table.frames import like
from shoal.display import at_r, card, counted, risk_histogram
from shoal.groups.lookup import Lookup
from shoal.knowledge import Assumed
from shoal.plain import plain, typed
from shoal.wording import (
    WHOLE,
    adversaries_words,
    limit_named,
    readers_of_one_view,
    verdict_words,
    visible,
)


@dataclass(frozen=True)
class GuessRate:
    """How often the member that looks likeliest in its group really carries the event."""

    worst: float
    """The largest rate over views, among carriers not known above 1/r before publication."""
    view: tuple[str, ...]
    by_view: dict[str, float]
    known_before: float | None
    """The rate among groups with a carrier who was known above 1/r before publication."""


def _at_most_1(chance: float) -> float:
    return min(chance, 1.0)


def fitted(chance: float) -> float:
    """A probability that a fit tells, rounded up: further digits are those of the machine."""
    return _at_most_1(rounded_up(chance, 4))


def rounded_up(figure: float, decimals: int) -> float:
    """To so many decimals, never below the figure."""
    scale = 10.0**decimals
    return round(math.ceil(figure * scale) / scale, decimals)


@dataclass(frozen=True)
class AdversaryVerdict:
    """What one adversary can do, over all views."""

    reasoning: str
    """How this adversary reasons, in words."""
    robust: bool | None
    """None where it could not be judged."""
    worst_posterior: float
    problematic: int
    """Published tuples that this adversary links to some event above its limit."""
    undecided: int
    """Tuples for whom neither safety nor a breach could be shown."""
    posteriors: dict[Kind, int]
    """How many (group, view, event) judgements are exact, bounds, estimates."""
    missing: int = 0
    """People who are not published, and whom that links to some event above its limit."""
    residual: float | None = None
    """Of an adversary who fits odds: by how many cases that misses a public count at most."""
    excepted: int | None = None
    """Of one who holds earlier releases against no later one: people whom they take above their
    limit, with what is known today."""

    def judge(self, name: str) -> Judge:
        """The figures that anybody may know, those of a fit rounded up."""
        fits = self.residual is not None
        return Judge(
            name=name,
            robust=self.robust,
            worst_posterior=(fitted if fits else _at_most_1)(self.worst_posterior),
            problematic=self.problematic,
            undecided=self.undecided,
            residual=None if self.residual is None else rounded_up(self.residual, 2),
            missing=self.missing if fits else None,
            excepted=self.excepted,
        )


@dataclass(frozen=True)
class ViewRisk:
    """What one view can do on its own."""

    worst: float
    """The posterior of whoever is most exposed through this view."""
    exposure: float
    """That posterior as a share of its limit: above 1 is a breach."""
    kind: Kind
    before: float
    """The global probability of whoever is best known in this view before publication."""
    exposure_before: float
    """That probability times its event's r."""
    problematic: int
    """Published tuples linked to some event above its limit through this view."""
    delta: float
    """The mean deviation of global probabilities over the groups that hold an event."""
    bound: float
    """The mean of Theorem 1's bound over the same groups."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Audit(Figures):
    """The judgement of one grouping of one table."""

    checks: tuple[Check, ...]
    """All that the verdict is made of, and what was not asked."""
    by_adversary: dict[str, AdversaryVerdict]
    """Whom the groups were judged against, with a verdict for each."""
    readable: int
    """People in a group that publishes one value, in some sensitive column: whoever knows their
    group reads it."""
    worst: Witness | None
    """The worst case of all; None when no group holds an event."""
    worst_by_event: dict[str, Witness]
    problematic: int
    """Published tuples linked to some event above its limit."""
    problematic_carriers: int
    undecided: int
    """Tuples for whom neither safety nor a breach could be shown."""
    contradictory: int
    """Groups whose published values no possible world explains (distorting methods)."""
    guess_rate: GuessRate
    by_view: dict[str, ViewRisk]
    """By the view's name: its worst posterior, whom it exposes, its deviation."""
    posteriors: dict[Kind, int]
    """How many (group, view, event) judgements are exact, bounds, estimates."""
    known_before: int
    """Published tuples whose global probability exceeds 1/r before anything is published."""
    counter: Counting
    """What counting over all groups tells, class by class."""
    certain: int
    """People who are certain to carry an event where classes are counted group by group."""
    absence: Counting
    """What the missing people tell, class by class."""
    lookup: Lookup
    """How many people have a published combination of QI values that few share."""
    assumed: Assumed
    risks: RowRisks = field(repr=False)
    """Everybody's worst case, ready to be asked."""
    native: Any = None
    models: Models | None = None
    """The thresholds of other models of privacy that it satisfies, if they were asked for."""
    persons: PersonVerdict | None = None
    """What all rows of a person tell together, where somebody has several: part of the verdict."""

    releases: ReleasesVerdict | None = None
    """What it tells together with the releases that it follows: part of the verdict."""

    @property
    def robust(self) -> bool | None:
        """The verdict on all checks; None where it could not be judged."""
        return verdict(self.checks)

    def checked(self, whole: tuple[float, float] | None) -> Audit:
        """This audit with its checks; `whole` is the link by all views at once that comes nearest
        to its limit, and that limit."""
        nearest = {"counting": self.counter.nearest}
        if readers_of_one_view(self.adversaries) != [WHOLE] and self.worst is not None:
            nearest["one-view"] = min(self.worst.posterior, 1.0), self.worst.limit
        if whole is not None:
            nearest["all-views"] = fitted(whole[0]), fitted(whole[1])
        given = {name: one for name, one in nearest.items() if one is not None}
        return replace(self, checks=checks_of(self.judged, given))

    @property
    def judged(self) -> Judged:
        """What anybody may know: what a certificate says."""
        return Judged(
            adversaries=tuple(one.judge(name) for name, one in self.by_adversary.items()),
            worst_posterior=_at_most_1(self.worst_posterior),
            problematic=self.problematic,
            undecided=self.undecided,
            contradictory=self.contradictory,
            known_before=self.known_before,
            posteriors=plain(self.posteriors),
            certain=self.certain,
            counter=typed(Counter, Counted.of(self.counter)),
            absence=Absence(kept=self.absence.kept, carriers=self.absence.carriers),
            lookup=self.lookup,
            readable=self.readable,
            unit=self._unit(),
            together=None
            if self.releases is None
            else typed(JudgedTogether, self.releases.public()),
            robust=self.robust,
            checks=self.checks,
        )

    @cached_property
    def findings(self) -> Findings:
        """All of it, as a record that can be kept and rendered."""
        told = {one.name for one in fields(Findings)} & {*dir(self)}
        mine = {name: getattr(self, name) for name in told} | vars(self.judged)
        return Findings(
            **mine
            | {
                "counter": Counted.of(self.counter),
                "absence": Counted.of(self.absence),
                "worst": self.worst and replace(self.worst, shared=self.exposed_like()),
                "reasoning": {name: one.reasoning for name, one in self.by_adversary.items()},
                "guess_rate": self.guess_rate.worst,
                "guess_rate_view": self.guess_rate.view,
                "guess_rate_known_before": self.guess_rate.known_before,
            }
        )

    def exposed_like(self, place: int = 1) -> int:
        """How many people are at least as exposed as the one in this place, to the ninth digit."""
        exposure, people = self.risks.exposure, self.risks.sizes
        order = np.argsort(-exposure, kind="stable")
        before = int(np.searchsorted(np.cumsum(people[order]), place))
        least = float(exposure[order[before]]) if before < len(order) else 0.0
        return int(people[exposure >= least * (1 - 1e-9)].sum()) if least else self.published

    def _unit(self) -> Unit | None:
        """Whether people are what is protected, and not rows; None if no column names them."""
        if self.risks.table.persons is None:
            return None
        if self.persons is None:
            return Unit(kept=True, above=0, undecided=0)
        return typed(Unit, self.persons)

    @property
    def column(self) -> Any:
        """The sensitive column's name, or several."""
        return self.risks.table.spec.sensitive

    @property
    def adversaries(self) -> tuple[str, ...]:
        """The names of those who judged."""
        return tuple(self.by_adversary)

    def __repr__(self) -> str:
        lines = (": ".join(line) for line in self._figures())
        return "\n  ".join([f"Audit: {self._verdict()}", *lines])

    def _repr_html_(self) -> str:
        return card(f"Audit: {self._verdict()}", self._figures(), drawing=self.histogram())

    def histogram(self) -> str:
        """How well people are linked to an event, as a share of its limit: a drawing in SVG."""
        risks = self.risks
        unlinked = self.published - int(risks.sizes.sum())  # in groups without an event
        return risk_histogram(
            np.append(risks.exposure, 0.0),
            np.append(risks.sizes, unlinked),
            np.append(risks.worst["problematic"].to_numpy(), False),
        )

    def _verdict(self) -> str:
        limits = [event.r or self.r for event in self.risks.table.events]
        return f"{verdict_words(self.robust)} {at_r(limits)}{limit_named(self.limit)}"

    def _figures(self) -> list[tuple[str, str]]:
        """What it says, as names and figures."""
        judges = adversaries_words(self.adversaries)
        views = counted(self.views, "view")
        published = f"{self.published:,} of {counted(self.rows, 'row')}"
        return [
            ("judged by", f"{judges}, {views}, {visible(self.knowledge)}"),
            ("published", f"{published} in {counted(self.groups, 'group')}"),
            ("checks", in_short(self.checks)),
            *([("assumed known", self.assumed.hollow_words)] if self.assumed.hollow else []),
        ]

    @property
    def problematic_share(self) -> float:
        """The paper's measure 3: problematic tuples among those that carry an event."""
        return self.problematic_carriers / self.carriers if self.carriers else 0.0

    @property
    def worst_posterior(self) -> float:
        """Of the worst case; where limits differ from person to person, the largest of all."""
        if self.limit == "prior":
            return max((one.posterior for one in self.worst_by_event.values()), default=0.0)
        return self.worst.posterior if self.worst else 0.0

    @property
    def nearest_link(self) -> float:
        """The link of one view that comes nearest to its limit, or is farthest above it: the one
        that the verdict names."""
        return nearest_link(self.checks, self.worst_posterior)

    @property
    def exact_share(self) -> float:
        total = sum(self.posteriors.values())
        return self.posteriors["exact"] / total if total else 1.0

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One line per row of the table: its worst case. Made when it is first asked for."""
        return self.risks.of_rows(np.arange(self.rows))

    def row_risks(self) -> Any:
        """The per-row frame, as the kind of frame the table was made from."""
        return like(self.frame, self.native)

    def worst_people(self, count: int = 10) -> pl.DataFrame:
        """The lines of the most exposed people."""
        return self.risks.exposed_people(count)[0]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for machines; nothing in it belongs to one row but the witnesses."""
        return self.findings.to_dict()
