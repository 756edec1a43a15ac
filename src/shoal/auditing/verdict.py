"""What an audit says: the verdict, its witness, and the paper's measures."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl

from shoal.auditing.counting import Counting
from shoal.auditing.models import Models
from shoal.auditing.row_risks import RowRisks
from shoal.display import at_r, card, counted, number, risk_histogram
from shoal.knowledge import Assumed, Fitted
from shoal.spec import Limit
from shoal.table.frames import like
from shoal.wording import WHOLE, adversaries_words, limit_named, verdict_words, visible

Kind = Literal["exact", "bound", "estimate"]
KINDS: tuple[Kind, ...] = ("exact", "bound", "estimate")


def robustness(*, breach: bool, undecided: bool, contradictory: bool) -> bool | None:
    """The verdict: False if somebody is linked above the limit for sure, in a group or by absence,
    and None where nobody is but safety could not be shown of everybody and every group."""
    if breach:
        return False
    return None if undecided or contradictory else True


@dataclass(frozen=True)
class Witness:
    """One person's worst case: how well they are linked to an event, and through what."""

    row: int | None
    """The row in the caller's table, counted from 0; None where only counts were judged."""
    person: dict[str, str]
    """The person's QI values."""
    group: str
    event: str
    view: tuple[str, ...]
    """The attributes through which the adversary reasons."""
    before: float
    """The global probability in that view, known before anything is published."""
    posterior: float
    """The probability after seeing the release."""
    kind: Kind
    adversary: str
    """Who reasons so."""


@dataclass(frozen=True)
class GuessRate:
    """How often the member that looks likeliest in its group really carries the event."""

    worst: float
    """The largest rate over views, among carriers not known above 1/r before publication."""
    view: tuple[str, ...]
    by_view: dict[str, float]
    known_before: float | None
    """The rate among groups with a carrier who was known above 1/r before publication."""


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


@dataclass(frozen=True, eq=False)
class Audit:
    """The judgement of one grouping of one table. `robust` is None where it could not be judged."""

    robust: bool | None
    r: float
    limit: Limit
    """absolute: nobody above 1/r; prior: or above what a view says before publication."""
    by_adversary: dict[str, AdversaryVerdict]
    """Whom the groups were judged against, with a verdict for each."""
    rows: int
    published: int
    suppressed: int
    suppressed_carriers: int
    groups: int
    shown_openly: int
    """People in a group of one that publishes their value."""
    views: int
    knowledge: str
    worst: Witness | None
    """The worst case of all; None when no group holds an event."""
    worst_by_event: dict[str, Witness]
    problematic: int
    """Published tuples linked to some event above its limit."""
    carriers: int
    problematic_carriers: int
    undecided: int
    """Tuples for whom neither safety nor a breach could be shown."""
    contradictory: int
    """Groups whose published values no possible world explains (distorting methods)."""
    average_delta: float
    """The paper's measure 4, over all groups."""
    average_delta_carrying: float
    """The same over the groups that hold the event."""
    average_bound: float
    """The mean of Theorem 1's bound over the groups that hold the event."""
    theorem1_groups: int
    """Groups with an event that meet Theorem 1 in every view."""
    event_groups: int
    guess_rate: GuessRate
    by_view: dict[str, ViewRisk]
    """By the view's name: its worst posterior, whom it exposes, its deviation."""
    posteriors: dict[Kind, int]
    """How many (group, view, event) judgements are exact, bounds, estimates."""
    known_before: int
    """Published tuples whose global probability exceeds 1/r before anything is published."""
    counter: Counting
    """What counting over all groups tells, class by class: a promise of its own, outside the
    definition of robustness and so of the verdict."""
    absence: Counting
    """What the missing people tell, class by class: part of the verdict."""
    assumed: Assumed
    """How much whoever judged is taken to know."""
    risks: RowRisks = field(repr=False)
    """Everybody's worst case, ready to be asked."""
    native: Any = None
    fitted: tuple[Fitted, ...] = ()
    """The models among the views, with their quality."""
    models: Models | None = None
    """The thresholds of other models of privacy that it satisfies, if they were asked for."""

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

    @property
    def all_views(self) -> dict[str, Any] | None:
        """What whoever takes all counts together found; None if they did not judge."""
        if WHOLE not in self.by_adversary:
            return None
        found = self.by_adversary[WHOLE]
        names = ("robust", "problematic", "missing", "undecided")
        return {name: getattr(found, name) for name in names}

    def _figures(self) -> list[tuple[str, str]]:
        """What it says, as names and figures."""
        judges = adversaries_words(self.adversaries)
        views = counted(self.views, "view")
        figures = [
            ("judged by", f"{judges}, {views}, {visible(self.knowledge)}"),
            (
                "published",
                f"{self.published:,} of {counted(self.rows, 'row')} in "
                f"{counted(self.groups, 'group')}",
            ),
            ("largest link", "none: no group holds an event"),
            (
                "above their limit",
                f"{counted(self.problematic, 'person', 'people')}, "
                f"{self.problematic_carriers:,} of the {self.carriers:,} with an event",
            ),
            ("not decided", counted(self.undecided, "person", "people")),
        ]
        if not self.absence.kept:
            missing = f"{self.absence.carriers:,} of {self.suppressed_carriers:,} missing carriers"
            figures.append(("linked by absence", missing))
        if self.assumed.hollow:
            figures.append(("assumed known", self.assumed.check()[1]))
        if self.worst is not None:
            link = f"{number(self.worst.posterior)} ({self.worst.kind})"
            figures[2] = (
                "largest link",
                f"{link} to {visible(self.worst.event)}, {number(self.worst.before)} before",
            )
        return figures

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
    def exact_share(self) -> float:
        total = sum(self.posteriors.values())
        return self.posteriors["exact"] / total if total else 1.0

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One line per row of the table: its worst case. Made when it is first asked for."""
        return self.risks.all_rows()

    def row_risks(self) -> Any:
        """The per-row frame, as the kind of frame the table was made from."""
        return like(self.frame, self.native)

    def worst_people(self, count: int = 10) -> pl.DataFrame:
        """The lines of the most exposed people."""
        return self.risks.most_exposed(count)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for machines; nothing in it belongs to one row but the witnesses."""
        plain = {
            name: getattr(self, name)
            for name in (
                "robust",
                "r",
                "limit",
                "adversaries",
                "worst_posterior",
                "problematic",
                "problematic_share",
                "problematic_carriers",
                "carriers",
                "undecided",
                "contradictory",
                "average_delta",
                "average_delta_carrying",
                "average_bound",
                "theorem1_groups",
                "event_groups",
                "exact_share",
                "posteriors",
                "rows",
                "published",
                "suppressed",
                "suppressed_carriers",
                "groups",
                "shown_openly",
                "views",
                "knowledge",
                "known_before",
            )
        }
        plain["all_views"] = self.all_views
        plain["assumed"] = self.assumed.to_dict()
        plain["counter"] = self.counter.to_dict()
        plain["absence"] = self.absence.to_dict()
        plain["guess_rate"] = self.guess_rate.worst
        plain["guess_rate_view"] = list(self.guess_rate.view)
        plain["guess_rate_known_before"] = self.guess_rate.known_before
        plain["worst"] = witness_dict(self.worst) if self.worst else None
        plain["worst_by_event"] = {
            event: witness_dict(witness) for event, witness in self.worst_by_event.items()
        }
        if self.fitted:
            plain["fitted"] = [one.to_dict() for one in self.fitted]
        if self.models is not None:
            plain["models"] = self.models.to_dict()
        return plain


def witness_dict(witness: Witness) -> dict[str, Any]:
    return {**vars(witness), "view": list(witness.view)}
