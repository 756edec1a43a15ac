"""What came out of an attack: figures for each attacker, and one sentence in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shoal.attacks.rate import BEATEN, HELD, NOBODY, SENTENCES, TOO_FEW, Rate, verdict
from shoal.attacks.surest import Surest
from shoal.auditing.attacked import AttackerResult, AttackResult, Certainly, ControlRate, NotRun
from shoal.display import card, counted
from shoal.plain import plain
from shoal.wording import plain_percent as percent


@dataclass(frozen=True)
class Finding:
    """What one attacker achieves."""

    attacker: str
    reasoning: str
    through: str = ""
    """The best way of several, or empty."""
    everybody: Rate = NOBODY
    unknown: Rate = NOBODY
    """Of these, the people whom all counts together leave at 1/r at most."""
    known: Rate = NOBODY
    """And those of whom they say more."""
    promised: float | None = None
    """The most that the limit allows among people not known beforehand; None if none of them was
    named, or nothing is promised against this attacker's question."""
    baseline: float | None = None
    """How often the same attacker is right who names as many people without a release."""
    control: ControlRate | None = None
    certain: Rate = NOBODY
    """The people whom the attacker holds to be carriers with certainty, and who of them are."""
    surprises: int = 0
    """How many of these are right, and not certain by all counts together."""
    allowed: float | None = None
    """The most that the limit allows among everybody named: the mean of 1/r, or of what all counts
    together say of them, where that is more."""
    surest: tuple[Surest, ...] = ()
    """Precision among the people whom the attacker is surest of."""
    attackers: int = 1
    """How many took part: the verdict allows for it."""
    seconds: float = 0.0
    sentence: str = ""

    @property
    def verdict(self) -> str:
        """In words: see `verdict`."""
        judged = ((self.unknown, self.promised), (self.everybody, self.allowed))
        return verdict(judged, self.surprises, self.attackers)

    @property
    def beats(self) -> bool:
        """Whether the limit is beaten."""
        return self.verdict == BEATEN

    @property
    def doing(self) -> float | None:
        """The part of what is left to guess that is the release's doing: (attack - control) /
        (1 - control)."""
        if self.control is None or not self.everybody.tries or self.control.rate >= 1:
            return None
        return (self.everybody.rate - self.control.rate) / (1 - self.control.rate)

    @property
    def result(self) -> AttackerResult:
        """As it is kept and shown."""
        return AttackerResult(
            attacker=self.attacker,
            reasoning=self.reasoning,
            through=self.through,
            everybody=self.everybody.result,
            unknown_before=self.unknown.result,
            known_before=self.known.result,
            promised=self.promised,
            allowed=_rounded(self.allowed),
            baseline=_rounded(self.baseline),
            control=None if self.control is None else self.control.rounded,
            release_doing=_rounded(self.doing),
            certain=Certainly(
                people=self.certain.tries, right=self.certain.hits, not_by_counts=self.surprises
            ),
            surest=tuple(one.result for one in self.surest),
            verdict=self.verdict,
            beats_limit=self.beats,
            seconds=round(self.seconds, 2),
            sentence=self.sentence,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for machines."""
        told: dict[str, Any] = plain(self.result)
        return told


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)


@dataclass(frozen=True)
class Attack:
    """What all attackers together achieve on one release."""

    findings: tuple[Finding, ...]
    not_run: tuple[NotRun, ...]
    limit: str
    seed: int
    seconds: float
    column: str | None = None
    """The one that was attacked, where several are sensitive."""

    @property
    def beaten(self) -> tuple[str, ...]:
        """The attackers who beat the promised limit beyond their interval."""
        return tuple(one.attacker for one in self.findings if one.beats)

    @property
    def undecided(self) -> tuple[str, ...]:
        """The attackers who named too few people to tell."""
        return tuple(one.attacker for one in self.findings if one.verdict == TOO_FEW)

    @property
    def withstood(self) -> bool | None:
        """Whether nobody did; None if it cannot be told: because somebody named too few people, or
        nobody was named whom anything is promised to."""
        if self.beaten:
            return False
        held = any(one.verdict == HELD for one in self.findings)
        return True if held and not self.undecided else None

    def __getitem__(self, attacker: str) -> Finding:
        return {one.attacker: one for one in self.findings}[attacker]

    @property
    def result(self) -> AttackResult:
        """As it is kept and shown."""
        return AttackResult(
            withstood=self.withstood,
            beaten_by=self.beaten,
            too_few_tries=self.undecided,
            limit=self.limit,
            column=self.column,
            seed=self.seed,
            seconds=round(self.seconds, 2),
            attackers=tuple(one.result for one in self.findings),
            not_run=self.not_run,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for machines."""
        told: dict[str, Any] = plain(self.result)
        return told

    def __repr__(self) -> str:
        lines = (": ".join(line) for line in self._figures())
        return "\n  ".join([self._title(), *lines])

    def _repr_html_(self) -> str:
        return card(self._title(), self._figures())

    def _title(self) -> str:
        return f"Attack by {counted(len(self.findings), 'attacker')}: {self._outcome()}"

    def _outcome(self) -> str:
        if self.beaten:
            return f"beaten by {', '.join(self.beaten)}"
        if self.undecided:
            return f"{TOO_FEW}: {', '.join(self.undecided)}"
        if self.withstood:
            return "limit not beaten"
        return "nobody named anybody to whom something is promised"

    def _figures(self) -> Sequence[tuple[str, str]]:
        figures = [(one.attacker, _in_short(one)) for one in self.findings]
        return figures + [(one.attacker, f"not run: {one.reason}") for one in self.not_run]


def _in_short(one: Finding) -> str:
    """How often they are right, of all and of the most people whom they are surest of."""
    said = f"right in {percent(one.everybody.rate)} of {one.everybody.tries:,}"
    for some in [some for some in one.surest if some.among == "everybody"][-1:]:
        said += f", in {percent(some.right / some.people)} of the {some.people} it is surest of"
    return said


# One sentence or two on what an attacker achieves, for people who decide.

SPOKEN_OF = 100
SUREST = {
    "everybody": "Of the {0} people this attacker is surest of, {1} have the protected value; "
    "without the release {2} of its surest {0}.",
    "unknown": "Of the {0} it is surest of among people not known beforehand, {1} have it; "
    "without the release {2} of {0}.",
}


def sentence(found: Finding) -> str:
    """What the figures mean, and for whom."""
    if not found.everybody.tries:
        return SENTENCES[found.verdict]
    if found.control is None or found.baseline is None:
        found_ = f"Finds {found.everybody.hits:,} of {found.everybody.tries:,} people for sure."
        return f"{found_} {SENTENCES[found.verdict]}"
    said = [
        f"Right about {_rate(found.everybody)} of the {found.everybody.tries:,} people named; "
        f"{percent(found.baseline)} without the release, {percent(found.control.rate)} if it "
        "revealed no more than it claims."
    ]
    if found.allowed is not None:
        said.append(
            f"At most {percent(found.allowed)} is allowed, given what all public statistics say."
        )
    if found.promised is None:
        said.append("Everybody named was known above the limit beforehand.")
    else:
        said.append(
            f"Of people not known beforehand {_rate(found.unknown)}, where "
            f"{percent(found.promised)} is the limit."
        )
    if found.certain.tries:
        named = counted(found.certain.tries, "person", "people")
        by_counts = f", {found.surprises:,} of them not by counts alone" * bool(found.surprises)
        said.append(f"Named with certainty: {named}, {found.certain.hits:,} rightly{by_counts}.")
    said += _surest(found)
    said.append(SENTENCES[found.verdict])
    return " ".join(said)


def _surest(found: Finding) -> list[str]:
    """Of as many people as a sentence speaks of: everybody, and those not known beforehand, where
    these are others."""
    said, seen = [], set()
    for among, text in SUREST.items():
        some = [one for one in found.surest if one.among == among and one.people <= SPOKEN_OF]
        for one in some[-1:]:
            figures = one.people, round(one.right), round(one.without)
            if figures not in seen:
                said.append(text.format(*figures))
            seen.add(figures)
    return said


def _rate(rate: Rate) -> str:
    low, high = rate.interval
    return f"{percent(rate.rate)} ({percent(low)} to {percent(high)})"
