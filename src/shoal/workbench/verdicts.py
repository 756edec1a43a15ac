"""What a run found, in the words of the report: for the page on which people decide."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.auditing.check_words import (
    VERDICT_TONES,
    Line,
    Parted,
    coloured,
    in_full,
    largest_words,
    remedy,
    words,
)
from shoal.auditing.checks import Check, most_people, verdict
from shoal.auditing.findings import Findings
from shoal.errors import ShoalError
from shoal.plain import typed
from shoal.release.facts import Facts, load_facts
from shoal.report import measured, sentences
from shoal.wording import limit_named, verdict_words
from shoal.workbench.project import Run

Figures = list[tuple[str, int]]
_COMMAND = re.compile(r" \((shoal [a-z]+|--[a-z-]+)\)")
"""What a sentence says of the command line, which pages do otherwise."""


@dataclass(frozen=True)
class Verdict:
    """What was found, and the sentences that a page puts beside it."""

    found: Findings
    checks: tuple[Check, ...]
    headline: str
    meaning: str
    known: str = ""
    """Whom public statistics give away already."""
    untried: bool = False
    """Whether nobody attacked what was released."""
    error: str = ""
    """How far counts are off, in short."""
    beside: Sequence[tuple[str, str]] = ()
    """The same of strata."""
    attack: str = ""
    """What attackers achieve, where they tried."""
    column: Any = "value"
    """What the sensitive column is called."""

    @property
    def robust(self) -> bool | None:
        return verdict(self.checks)

    @property
    def tone(self) -> str:
        return VERDICT_TONES[self.robust]

    @property
    def listed(self) -> list[Line]:
        full = in_full(self.found, self.column) | ({"attack": self.attack} if self.attack else {})
        return [
            (tone, state, title, _COMMAND.sub("", said))
            for tone, state, title, said in coloured(self.checks, instead=full)
        ]

    @property
    def parted(self) -> Parted:
        return Parted.of(self.checks, self.listed, tried=bool(self.attack))

    @property
    def remedy(self) -> str:
        """What to do about the first check that is not kept."""
        return remedy(self.checks)

    @property
    def story(self) -> str:
        return sentences.story(self.found.worst, public=False, undecided=self.found.undecided)

    @property
    def short(self) -> Figures:
        """What a release gives, costs and shows, in figures."""
        found = self.found
        return [
            (f"people published, {found.suppressed:,} left out", found.published),
            ("of them have a protected value", found.carriers),
            ("cases left out", found.suppressed_carriers),
            ("above 1/r by public statistics anyway", found.known_anyway),
            *([("people above their limit", above)] if (above := most_people(self.checks)) else []),
        ]


def of_run(run: Run) -> Verdict | None:
    """What a run that made or judged a release found; None if it did neither."""
    if run.kind == "audit":  # releases judged together are a step of other runs
        audit = run.result("audit")
        return None if audit is None else of_findings(Findings.of(audit))
    facts = None if run.result("anonymize") is None else facts_of(run)
    return None if facts is None else of_facts(facts)


def certified(found: Mapping[str, Any]) -> tuple[str, list[tuple[str, str, str, str]]]:
    """Of what `verify` found: the class of its colour, green only if a robust release is confirmed,
    and the checks that the certificate lists (earlier versions kept none)."""
    robust = found["robust"] if found["confirmed"] else False
    return VERDICT_TONES[robust], coloured(typed(Check, one) for one in found.get("verdict", []))


def facts_of(run: Run) -> Facts | None:
    """What is kept of a release for its report; None if it cannot be read."""
    try:
        return load_facts(run.folder / "private")
    except ShoalError:
        return None


def of_facts(facts: Facts) -> Verdict:
    """The report's own sentences."""
    found = facts.verdict
    assert isinstance(found, Findings), "private records keep all"
    return Verdict(
        found=found,
        checks=facts.checks,
        headline=sentences.verdict_sentence(facts, public=False),
        meaning=sentences.meaning(facts),
        known=sentences.known_sentence(facts, public=False),
        error=measured.errors_in_short(facts.queries),
        beside=sentences.in_short(facts),
        attack=measured.attack_sentence(facts.attack, short=True),
        column=facts.spec.sensitive,
        untried=facts.attack is None,
    )


def of_findings(found: Findings) -> Verdict:
    """The verdict of an audit."""
    robust = verdict(found.checks)
    telling = {True: "kept", False: "broken", None: "undecided"}[robust]
    said = [f"{words(one)}." for one in found.checks if one.state == telling]
    if robust:
        largest = largest_words(found.checks, "a protected value")
        said = [f"all {len(said)} checks are kept. {largest}"]
    word, r = verdict_words(robust).capitalize(), f"r = {found.r:g}{limit_named(found.limit)}"
    return Verdict(
        found=found,
        checks=found.checks,
        headline=f"{word} at {r}: {' '.join(said)}",
        meaning="The verdict is that of all checks; what is gray was only counted, or not asked "
        "for.",
    )
