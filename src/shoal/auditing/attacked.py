"""What attackers achieved on a release, as it is kept and shown: figures as they are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from shoal.plain import UNSAID, typed


@dataclass(frozen=True, kw_only=True)
class Hits:
    """Guesses, how many of them were right, and the interval of that share."""

    tries: int
    hits: int
    rate: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class ControlRate:
    """The same guesses where carriers are drawn anew within groups by the posteriors that the joint
    reader has in one view (nearly, where a group shows several other values), the one that expects
    most of these guesses: what they come to on a release that gives away nothing more."""

    rate: float
    low: float
    high: float
    """Nineteen in twenty draws lie between these."""

    @property
    def rounded(self) -> ControlRate:
        """As it is kept and shown."""
        return ControlRate(**{name: round(value, 4) for name, value in vars(self).items()})


@dataclass(frozen=True, kw_only=True)
class Certainly:
    """Who was named with certainty."""

    people: int
    right: int
    not_by_counts: int = 0
    """How many of those who are right are not certain by all counts together."""


@dataclass(frozen=True, kw_only=True)
class SurestRate:
    """Of so many people whom an attacker is surest of, how many are cases; and as shares: of as
    many without a release, and by the control."""

    among: str
    people: int
    right: float
    rate: float
    low: float
    high: float
    without: float
    control: float


@dataclass(frozen=True, kw_only=True)
class PublicAttacker:
    """Somebody who attacked."""

    attacker: str


@dataclass(frozen=True, kw_only=True)
class AttackerResult(PublicAttacker):
    """What one attacker achieved: see `shoal.attacks.Finding`."""

    reasoning: str = ""
    through: str = ""
    everybody: Hits
    unknown_before: Hits
    known_before: Hits
    promised: float | None = None
    allowed: float | None = None
    baseline: float | None = None
    control: ControlRate | None = None
    release_doing: float | None = None
    certain: Certainly
    surest: tuple[SurestRate, ...] = ()
    verdict: str = ""
    beats_limit: bool
    seconds: float = 0.0
    sentence: str = ""


@dataclass(frozen=True)
class NotRun:
    """An attacker who did not try, and why."""

    attacker: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class PublicAttack:
    """Who tried, and whether the limit was beaten."""

    withstood: bool | None = True
    beaten_by: tuple[str, ...]
    too_few_tries: tuple[str, ...] = ()
    limit: str = ""
    column: str | None = None
    """The one that was attacked, where several are sensitive."""
    seed: int = 0
    seconds: float = 0.0
    attackers: tuple[PublicAttacker, ...]
    others: tuple[PublicAttack, ...] | None = field(default=None, metadata=UNSAID)
    """What was found on other columns."""

    @property
    def by_column(self) -> tuple[PublicAttack, ...]:
        """This one, and those on other columns."""
        return (self, *(self.others or ()))

    def public(self) -> PublicAttack:
        """What of it may stand beside a release."""
        return typed(PublicAttack, self)


@dataclass(frozen=True, kw_only=True)
class AttackResult(PublicAttack):
    """All of it: how often each attacker was right is measured with the truth in hand."""

    attackers: tuple[AttackerResult, ...]
    not_run: tuple[NotRun, ...] = ()
    others: tuple[AttackResult, ...] | None = field(default=None, metadata=UNSAID)

    @property
    def by_column(self) -> tuple[AttackResult, ...]:
        return (self, *(self.others or ()))

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> AttackResult:
        """From plain data."""
        return typed(cls, data)

    def beside(self, earlier: AttackResult | None) -> AttackResult:
        """With what was found on other columns before, where this one is of one of several."""
        kept = () if earlier is None or self.column is None else earlier.by_column
        others = (one for one in kept if one.column not in (None, self.column))
        return replace(self, others=tuple(replace(one, others=None) for one in others))
