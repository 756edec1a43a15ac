"""What a run found, in the words of the report: for the page on which people decide."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.auditing.check_words import VERDICT_TONES, coloured, in_full, words
from shoal.auditing.checks import Check, most_people, verdict
from shoal.auditing.findings import Findings
from shoal.errors import ShoalError
from shoal.plain import typed
from shoal.release.facts import Facts, load_facts
from shoal.report import measured, sentences
from shoal.report.words import judged
from shoal.wording import exposed_words, limit_named, percent, verdict_words
from shoal.workbench.project import Run
from shoal.workbench.texts import say

Figures = list[tuple[str, Any]]
_COMMAND = re.compile(r" \((shoal [a-z]+|--[a-z-]+)\)")
"""What a sentence says of the command line, which pages do otherwise."""
FIRST = ("lookup", "readable", "attack")
"""Checks that are read before a decision, whatever their state."""


@dataclass(frozen=True)
class Verdict:
    """What was found, and the sentences that a page puts beside it."""

    found: Findings
    checks: tuple[Check, ...]
    headline: str
    meaning: str
    lost: Figures
    untried: bool = False
    """Whether nobody attacked what was released."""
    beside: Sequence[tuple[str, str]] = ()
    column: Any = "value"
    """What the sensitive column is called."""
    people: Mapping[str, Any] | None = None
    """The most exposed people, where the table is at hand: a heading, QIs, and a line for each."""

    @property
    def robust(self) -> bool | None:
        return verdict(self.checks)

    @property
    def tone(self) -> str:
        return VERDICT_TONES[self.robust]

    @property
    def listed(self) -> list[tuple[str, str, str, str]]:
        full = in_full(self.found, self.column)
        told = coloured(self.checks, instead=full)
        return [(tone, state, title, _COMMAND.sub("", said)) for tone, state, title, said in told]

    @property
    def first(self) -> list[tuple[str, str, str, str]]:
        """What is read before a decision: what is broken or open, who can be read or looked up, and
        what attackers did."""
        return [line for one, line in zip(self.checks, self.listed, strict=True) if _is_first(one)]

    @property
    def others(self) -> list[tuple[str, str]]:
        """The titles of all other checks, by the word for their state."""
        told: dict[str, list[str]] = {}
        for one, (_, state, title, _) in zip(self.checks, self.listed, strict=True):
            tried = one.name == "attack" and not self.untried  # said beside it
            if not _is_first(one) and not tried:
                told.setdefault(state, []).append(title)
        return [(state, ", ".join(titles)) for state, titles in told.items()]

    @property
    def story(self) -> str:
        return sentences.story(self.found.worst, public=False, undecided=self.found.undecided)

    @property
    def short(self) -> Figures:
        """What a release gives, costs and shows, in figures."""
        found = self.found
        return [
            (say("risk.published", rows=f"{found.rows:,}"), found.published),
            (say("lost.rows"), found.suppressed),
            (say("lost.carriers"), found.suppressed_carriers),
            (say("risk.problematic"), most_people(self.checks)),
            *([(say("risk.readable"), found.readable)] if found.readable is not None else []),
        ]

    @property
    def risk(self) -> Figures:
        found = self.found
        return [
            (say("risk.carriers"), found.carriers),
            (say("risk.known"), found.known_before),
            (say("risk.worst"), percent(found.worst.posterior if found.worst else 0.0)),
            (say("risk.guess"), percent(found.guess_rate)),
        ]


def _is_first(check: Check) -> bool:
    tried = check.name != "attack" or check.state != "not asked"
    return check.state in ("broken", "undecided") or (check.name in FIRST and tried)


def of_run(run: Run) -> Verdict | None:
    """What a run that made or judged a release found; None if it did neither."""
    audit = run.result("audit")
    if audit is not None:
        return of_findings(Findings.of(audit))
    figures, facts = run.result("anonymize"), facts_of(run)
    return None if figures is None or facts is None else of_facts(facts, figures)


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


def of_facts(facts: Facts, figures: Mapping[str, Any]) -> Verdict:
    """The report's own sentences."""
    found = facts.verdict
    assert isinstance(found, Findings), "private records keep all"
    attack = measured.attack_sentence(facts)
    return Verdict(
        found=found,
        checks=facts.checks,
        headline=sentences.verdict_sentence(facts, public=False),
        meaning=f"{sentences.meaning(facts)} {sentences.known_sentence(facts, public=False)}",
        beside=[
            (say("error.title"), measured.errors_in_short(facts)),
            *sentences.in_short(facts),
            *([(say("attack.title"), attack)] if attack else []),
        ],
        column=facts.spec["sensitive"],
        untried=facts.attack is None,
        lost=[
            (say("lost.changed"), figures["values_changed"]),
            (say("lost.pooled"), figures["pooled"]),
            (say("lost.groups"), found.groups),
            (say("lost.size"), figures["mean_size_with_event"]),
        ],
        people=_people(facts),
    )


def _people(facts: Facts) -> Mapping[str, Any] | None:
    if not facts.people:
        return None
    return {
        "heading": exposed_words(len(facts.people), facts.verdict.as_exposed),
        "qi": facts.spec["qi"],
        "lines": [
            {**one, "after": judged(one["posterior"], one["kind"], limit=one["limit"])}
            for one in facts.people
        ],
    }


def of_findings(found: Findings) -> Verdict:
    """The same of an audit."""
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
        lost=[(say("lost.groups"), found.groups)],
    )
