"""What a run found, in the words of the report: for the page on which people decide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from shoal.auditing.check_words import VERDICT_TONES, coloured, words
from shoal.auditing.checks import Check, checks_in, most_people, verdict
from shoal.errors import ShoalError
from shoal.release.facts import Facts, load_facts
from shoal.report import measured, sentences
from shoal.report.words import judged
from shoal.wording import (
    exposed_words,
    limit_named,
    lookup_words,
    percent,
    readable_words,
    verdict_words,
)
from shoal.workbench.project import Run
from shoal.workbench.texts import say

Figures = list[tuple[str, Any]]


@dataclass(frozen=True)
class Verdict:
    """A judgement as the page shows it."""

    checks: tuple[Check, ...]
    headline: str
    story: str
    meaning: str
    beside: list[tuple[str, str]]
    risk: Figures
    lost: Figures
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
        return coloured(self.checks)


def of_run(run: Run) -> Verdict | None:
    """What a run that made or judged a release found; None if it did neither."""
    audit = run.result("audit")
    if audit is not None:
        return _of_figures(audit, say("verdict.meaning.audit"))
    figures = run.result("anonymize")
    if figures is None:
        return None
    facts = facts_of(run)
    return None if facts is None else _of_facts(facts, figures)


def certified(found: Mapping[str, Any]) -> tuple[str, list[tuple[str, str, str, str]]]:
    """Of what `verify` found: the class of its colour, green only if a robust release is confirmed,
    and the checks that the certificate lists (earlier versions kept none)."""
    robust = found["robust"] if found["confirmed"] else False
    return VERDICT_TONES[robust], coloured(checks_in({"checks": found.get("verdict", [])}))


def facts_of(run: Run) -> Facts | None:
    """What is kept of a release for its report; None if it cannot be read."""
    try:
        return load_facts(run.folder / "private")
    except ShoalError:
        return None


def _of_facts(facts: Facts, figures: Mapping[str, Any]) -> Verdict:
    """The report's own sentences."""
    found = facts.verdict
    worst = found["worst"]
    checks = sentences.checks(facts)
    return Verdict(
        checks=checks,
        headline=sentences.verdict_sentence(facts, public=False),
        story=sentences.story(worst, public=False, undecided=found["undecided"]),
        meaning=f"{sentences.meaning(facts)} {sentences.known_sentence(facts, public=False)}",
        beside=[
            *sentences.in_short(facts, public=False),
            *([(say("attack.title"), measured.attack_sentence(facts))] if facts.attack else []),
        ],
        risk=_risk(found, checks),
        lost=[
            (say("lost.rows"), found["suppressed"]),
            (say("lost.carriers"), found["suppressed_carriers"]),
            (say("lost.changed"), figures["values_changed"]),
            (say("lost.pooled"), figures["pooled"]),
            (say("lost.groups"), found["groups"]),
            (say("lost.size"), figures["mean_size_with_event"]),
        ],
        people=_people(facts),
    )


def _people(facts: Facts) -> Mapping[str, Any] | None:
    if not facts.people:
        return None
    return {
        "heading": exposed_words(len(facts.people), facts.verdict.get("as_exposed", 0)),
        "qi": facts.spec["qi"],
        "lines": [
            {**one, "after": judged(one["posterior"], one["kind"], limit=one["limit"])}
            for one in facts.people
        ],
    }


def _of_figures(found: Mapping[str, Any], meaning: str) -> Verdict:
    """The same from the figures of an audit."""
    checks = checks_in(found)
    robust = verdict(checks)
    telling = {True: "kept", False: "broken", None: "undecided"}[robust]
    worst = found["worst"] and {"shared": 1, "limit": 1 / found["r"], **found["worst"]}
    return Verdict(
        checks=checks,
        headline=say(
            "verdict.audit",
            verdict=verdict_words(robust).capitalize(),
            r=f"r = {found['r']:g}{limit_named(found['limit'])}",
            checks=" ".join(f"{words(one)}." for one in checks if one.state == telling),
        ),
        story=sentences.story(worst, public=False, undecided=found["undecided"]),
        meaning=meaning,
        beside=[
            (
                say("verdict.readable"),
                readable_words(found["readable"], found["readable_by_attributes"]),
            ),
            *(
                [(say("verdict.lookup"), lookup_words(found["lookup"]))]
                if "lookup" in found
                else []
            ),
        ],
        risk=_risk(found, checks),
        lost=[
            (say("lost.rows"), found["suppressed"]),
            (say("lost.carriers"), found["suppressed_carriers"]),
            (say("lost.groups"), found["groups"]),
        ],
    )


def _risk(found: Mapping[str, Any], checks: Iterable[Check]) -> Figures:
    worst = found["worst"]["posterior"] if found["worst"] else 0.0
    return [
        (say("risk.published", rows=f"{found['rows']:,}"), found["published"]),
        (say("risk.carriers"), found["carriers"]),
        (say("risk.problematic"), most_people(checks)),
        (say("risk.known"), found["known_before"]),
        (say("risk.worst"), percent(worst)),
        (say("risk.guess"), percent(found["guess_rate"])),
    ]
