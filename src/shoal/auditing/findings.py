"""Findings: all that was found about a release by judging it, typed, frozen and plain.

What a record's class declares is what it may say: `Judged` is what a certificate says, and
`PublicFindings` what may stand beside a release; everything else is in `Findings`, and does not
survive `public`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

from shoal.auditing.checks import Check, checks_of, most_people, nearest_link
from shoal.auditing.counting import SHOWN_CLASSES, Counting, TellingClass
from shoal.auditing.models import Models
from shoal.auditing.persons import PersonVerdict
from shoal.data.spec import Limit
from shoal.groups.lookup import Lookup
from shoal.knowledge import Assumed, Fitted
from shoal.plain import UNSAID, plain, typed

Kind = Literal["exact", "bound", "estimate"]
KINDS: tuple[Kind, ...] = ("exact", "bound", "estimate")


@dataclass(frozen=True, kw_only=True)
class PublicWitness:
    """The worst case: how well somebody is linked to an event, and through what."""

    event: str | None
    """None where its name would tell of few people."""
    view: tuple[str, ...]
    """The attributes through which the adversary reasons."""
    before: float
    """The global probability in that view, known before anything is published."""
    posterior: float
    """The probability after seeing the release."""
    kind: Kind
    limit: float
    """The most that was allowed there."""
    shared: int = 1
    """How many people are as exposed."""
    whole_table: bool | None = field(default=None, metadata=UNSAID)
    """Whether all that was known before is the whole table's share, since fewer people than
    min_support share the view's values."""


@dataclass(frozen=True, kw_only=True)
class Witness(PublicWitness):
    """The worst case with the person."""

    event: str
    row: int | None
    """The row in the caller's table, counted from 0; None where only counts were judged."""
    person: dict[str, str]
    """The person's QI values."""
    group: str
    adversary: str
    """Who reasons so."""


@dataclass(frozen=True, kw_only=True)
class Judge:
    """What one adversary can do, over all views."""

    name: str
    robust: bool | None
    """None where it could not be judged."""
    worst_posterior: float = 0.0
    problematic: int = 0
    undecided: int = 0
    residual: float | None = field(default=None, metadata=UNSAID)
    """Of an adversary who fits odds: by how many cases that misses a public count at most."""
    missing: int | None = field(default=None, metadata=UNSAID)
    """People who are not published, and whom that links to some event above its limit."""
    excepted: int | None = field(default=None, metadata=UNSAID)
    """Where releases came before: people whom these take above their limit, with what is known
    today, which is not held against this one."""


@dataclass(frozen=True, kw_only=True)
class Counter:
    """What counting strata over all groups tells anybody who knows their distributions."""

    kept: bool
    classes: int
    """The strata that fail."""
    certain_classes: int
    carriers_in_worst_view: int
    certain_in_worst_view: int
    excepted: int | None = field(default=None, metadata=UNSAID)
    """Where releases came before: cases, of the view that has most, in strata of which these leave
    too few in question."""


@dataclass(frozen=True, kw_only=True)
class Absence:
    """What the people who are missing tell."""

    kept: bool
    carriers: int


@dataclass(frozen=True, kw_only=True)
class Counted(Counter, Absence):
    """Either with true cases, and the strata that are worst."""

    certain: int
    worst: tuple[TellingClass, ...]

    @classmethod
    def of(cls, found: Counting) -> Counted:
        return cls(
            kept=found.kept,
            classes=len(found.classes),
            certain_classes=found.certain_classes,
            carriers_in_worst_view=found.in_one_view(),
            certain_in_worst_view=found.in_one_view(certain=True),
            excepted=found.excepted,
            carriers=found.carriers,
            certain=found.certain,
            worst=found.classes[:SHOWN_CLASSES],
        )


@dataclass(frozen=True, kw_only=True)
class Unit:
    """What all rows of a person tell together."""

    kept: bool | None
    above: int
    undecided: int


@dataclass(frozen=True, kw_only=True)
class JudgedTogether(Unit):
    """What a release tells together with those that it follows."""

    told: int
    """People of earlier groups above their limit, or not decided, by what is known today, whatever
    is published now."""
    told_certain: int | None = field(default=None, metadata=UNSAID)
    """Those of them who are certain."""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """How a release was judged, as its certificate says it: older ones say less."""

    adversaries: tuple[Judge, ...]
    worst_posterior: float = 0.0
    problematic: int
    """Published people linked to some event above its limit, one view at a time."""
    undecided: int
    """People for whom neither safety nor a breach could be shown."""
    contradictory: int = 0
    """Groups whose published values no possible world explains (distorting methods)."""
    known_before: int = 0
    """Published people whose global probability exceeds 1/r before anything is published."""
    posteriors: dict[str, int] = field(default_factory=dict)
    """How many (group, view, event) judgements are exact, bounds, estimates."""
    certain: int | None = None
    """People who are certain to carry an event where classes are counted group by group."""
    counter: Counter | None = None
    absence: Absence | None = None
    lookup: Lookup | None = None
    readable: int | None = None
    """People in a group that publishes one value, in some sensitive column: whoever knows their
    group reads it."""
    unit: Unit | None = None
    together: JudgedTogether | None = field(default=None, metadata=UNSAID)
    robust: bool | None = None
    """The verdict as it is stated."""
    checks: tuple[Check, ...] = ()
    """All that the verdict is made of, and what was not asked."""

    @property
    def names(self) -> tuple[str, ...]:
        """Who judged."""
        return tuple(one.name for one in self.adversaries)

    @property
    def nearest_link(self) -> float:
        """The link of one view that comes nearest to its limit: the one that the verdict names."""
        return nearest_link(self.checks, self.worst_posterior)

    @property
    def above(self) -> int:
        """People above a limit, by the check that finds most."""
        return most_people(self.checks)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        """From plain data; checks that it does not list follow from its figures."""
        judges = [_judge(one, data) for one in data["adversaries"]]
        found = typed(cls, {**data, "adversaries": judges})
        return found if found.checks else replace(found, checks=checks_of(found))


@dataclass(frozen=True, kw_only=True, eq=False)
class Figures:
    """Counts and averages of a judgement that tell of nobody."""

    r: float
    limit: Limit
    """absolute: nobody above 1/r; prior: or above what a view says before publication."""
    rows: int
    published: int
    suppressed: int
    suppressed_carriers: int
    carriers: int
    groups: int
    event_groups: int
    readable_by_attributes: int = 0
    """Those of the readable whose value whoever knows their attributes reads: all groups of people
    with these attributes publish the same one."""
    views: int
    knowledge: str
    average_delta: float
    """The paper's measure 4, over all groups."""
    average_delta_carrying: float
    """Measure 4 over the groups that hold an event."""
    average_bound: float
    """The mean of Theorem 1's bound over the groups that hold an event."""
    theorem1_groups: int
    """Groups with an event that meet Theorem 1 in every view."""
    assumed: Assumed | None = None
    """How much whoever judged is taken to know; older records do not say."""
    fitted: tuple[Fitted, ...] = ()
    """The models among the views, with their quality."""
    together_before: int | None = field(default=None, metadata=UNSAID)
    """Published people whom the counts of all views together put above 1/r before anything is
    published, where these were fitted."""
    most_before: float | None = field(default=None, metadata=UNSAID)
    """The largest chance that these counts give one of them."""


@dataclass(frozen=True, kw_only=True)
class PublicFindings(Judged, Figures):
    """All that may stand beside a release: nothing of one person, nothing that was measured with
    the truth in hand."""

    @property
    def known_anyway(self) -> int:
        """Published people above 1/r by some public statistic, or by all of them together."""
        return max(self.known_before, self.together_before or 0)

    reasoning: dict[str, str] = field(default_factory=dict)
    """How each adversary reasons, by name."""
    exact_share: float
    worst: PublicWitness | None = None
    as_exposed: int = 0
    """How many people are at least as exposed as the last of those who are shown."""


@dataclass(frozen=True, kw_only=True)
class Findings(PublicFindings):
    """All that was found, for whoever holds the table."""

    worst: Witness | None = None
    worst_by_event: dict[str, Witness] = field(default_factory=dict)
    counter: Counted
    absence: Counted
    lookup: Lookup
    readable: int
    guess_rate: float
    guess_rate_view: tuple[str, ...]
    guess_rate_known_before: float | None
    problematic_share: float
    problematic_carriers: int
    persons: PersonVerdict | None = field(default=None, metadata=UNSAID)
    models: Models | None = field(default=None, metadata=UNSAID)

    def public(self) -> PublicFindings:
        """What of it may stand beside a release."""
        return typed(PublicFindings, self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for machines, in which adversaries are names."""
        told: dict[str, Any] = plain(self)
        return told | {"adversaries": list(self.names)}


def _judge(one: Any, data: Mapping[str, Any]) -> Any:
    """An adversary; earlier versions, and plain data for machines, tell no more than names."""
    return {"name": one, "robust": data.get("robust")} if isinstance(one, str) else one
