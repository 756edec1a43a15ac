"""What a run found, in the words of the report: for the page on which people decide."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.auditing.check_words import VERDICT_TONES, coloured, in_full, remedy, words
from shoal.auditing.checks import Check, most_people, verdict
from shoal.auditing.findings import Findings
from shoal.errors import ShoalError
from shoal.plain import typed
from shoal.release.facts import Facts, load_facts
from shoal.report import measured, sentences
from shoal.wording import limit_named, verdict_words
from shoal.workbench.project import Run
from shoal.workbench.texts import say

Figures = list[tuple[str, int]]
Line = tuple[str, str, str, str]
"""A check: the class of its colour, the word for its state, its title and its sentence."""
_COMMAND = re.compile(r" \((shoal [a-z]+|--[a-z-]+)\)")
"""What a sentence says of the command line, which pages do otherwise."""
OPEN = ("broken", "undecided")
FIRST = ("lookup", "readable", "attack")
"""Checks that are read before a decision, whatever their state."""


@dataclass(frozen=True)
class Verdict:
    """What was found, and the sentences that a page puts beside it."""

    found: Findings
    checks: tuple[Check, ...]
    headline: str
    meaning: str
    untried: bool = False
    """Whether nobody attacked what was released."""
    beside: Sequence[tuple[str, str]] = ()
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
        few = self.found.lookup is not None and self.found.lookup.fewer_than.people
        if few and ("lookup", "not asked") in {(one.name, one.state) for one in self.checks}:
            full["lookup"] += f" {say('verdict.lookup')}"
        return [
            (tone, state, title, _COMMAND.sub("", said))
            for tone, state, title, said in coloured(self.checks, instead=full)
        ]

    @property
    def first(self) -> list[Line]:
        """What is read before a decision: what is broken or open, who can be read or looked up, and
        what attackers did."""
        return [line for line, first in self._by_first if first]

    @property
    def others(self) -> list[Line]:
        """All other checks."""
        return [line for line, first in self._by_first if not first]

    @property
    def _by_first(self) -> list[tuple[Line, bool]]:
        read = {name for name in FIRST if name != "attack" or self.attack}
        told = zip(self.checks, self.listed, strict=True)
        return [(line, one.state in OPEN or one.name in read) for one, line in told]

    @property
    def by_state(self) -> list[tuple[str, str]]:
        """The titles of the other checks, by the word for their state."""
        told: dict[str, list[str]] = {}
        for _, state, title, _ in self.others:
            told.setdefault(state, []).append(title)
        return [(state, ", ".join(titles)) for state, titles in told.items()]

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
            (say("risk.published", rows=f"{found.rows:,}"), found.published),
            (say("risk.carriers"), found.carriers),
            (say("lost.rows"), found.suppressed),
            (say("lost.carriers"), found.suppressed_carriers),
            (say("risk.known"), found.known_before),
            (say("risk.problematic"), most_people(self.checks)),
            *([(say("risk.readable"), found.readable)] if found.readable is not None else []),
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
        meaning=f"{sentences.meaning(facts)} {sentences.known_sentence(facts, public=False)}",
        beside=[
            (say("error.title"), measured.errors_in_short(facts.queries)),
            *sentences.in_short(facts),
        ],
        attack=measured.attack_sentence(facts.attack, short=True),
        column=facts.spec.sensitive,
        untried=facts.attack is None,
    )


def of_findings(found: Findings) -> Verdict:
    """The verdict of an audit."""
    robust = verdict(found.checks)
    telling = {True: "kept", False: "broken", None: "undecided"}[robust]
    return Verdict(
        found=found,
        checks=found.checks,
        headline=say(
            "verdict.audit",
            verdict=verdict_words(robust).capitalize(),
            r=f"r = {found.r:g}{limit_named(found.limit)}",
            checks=" ".join(f"{words(one)}." for one in found.checks if one.state == telling),
        ),
        meaning=say("verdict.meaning.audit"),
    )
