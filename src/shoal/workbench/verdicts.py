"""What a run found, in the words of the report: for the page on which people decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shoal.errors import ShoalError
from shoal.facts import Facts, load_facts
from shoal.project import Run
from shoal.report import measured, sentences
from shoal.report.words import judged
from shoal.wording import (
    absence_words,
    counter_words,
    exposed_words,
    judges_words,
    limit_named,
    limit_words,
    lookup_words,
    open_words,
    percent,
    undecided_words,
    verdict_words,
)
from shoal.workbench.texts import say

Figures = list[tuple[str, Any]]


@dataclass(frozen=True)
class Verdict:
    """A judgement as the page shows it."""

    robust: bool | None
    headline: str
    story: str
    meaning: str
    beside: list[tuple[str, str]]
    risk: Figures
    lost: Figures
    people: Mapping[str, Any] | None = None
    """The most exposed people, where the table is at hand: a heading, QIs, and a line for each."""

    @property
    def tone(self) -> str:
        return {True: "yes", False: "no", None: "open"}[self.robust]


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
    return Verdict(
        robust=found["robust"],
        headline=sentences.verdict_sentence(facts, public=False),
        story=sentences.story(worst, public=False, undecided=found["undecided"]),
        meaning=f"{sentences.meaning(facts)} {sentences.known_sentence(facts, public=False)}",
        beside=[
            *sentences.beside(facts, public=False),
            *([(say("attack.title"), measured.attack_sentence(facts))] if facts.attack else []),
        ],
        risk=_risk(found),
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
    limit, r = found["limit"], f"{found['r']:g}"
    share = limit_words(percent(1 / found["r"]), limit)
    headline = say(
        "verdict.audit",
        verdict=verdict_words(found["robust"]).capitalize(),
        r=f"r = {r}{limit_named(limit)}",
        people=f"{found['problematic']:,}",
        published=f"{found['published']:,}",
        share=share,
    )
    carriers = found["carriers"] + found["suppressed_carriers"]
    open_ = [(say("verdict.undecided"), undecided_words(f"{found['undecided']:,} people") + ".")]
    worst = found["worst"] and {"shared": 1, **found["worst"], "limit": 1 / found["r"]}
    return Verdict(
        robust=found["robust"],
        headline=headline,
        story=sentences.story(worst, public=False, undecided=found["undecided"]),
        meaning=meaning,
        beside=[
            (say("verdict.judges"), judges_words(found["adversaries"], found.get("all_views"))),
            *(open_ if found["undecided"] else []),
            (say("verdict.open_people"), open_words(found["shown_openly"])),
            *(
                [(say("verdict.lookup"), lookup_words(found["lookup"]))]
                if "lookup" in found
                else []
            ),
            (say("verdict.counter"), counter_words(found["counter"], carriers)),
            (say("verdict.absence"), absence_words(found["absence"], found["suppressed"], limit)),
        ],
        risk=_risk(found),
        lost=[
            (say("lost.rows"), found["suppressed"]),
            (say("lost.carriers"), found["suppressed_carriers"]),
            (say("lost.groups"), found["groups"]),
        ],
    )


def _risk(found: Mapping[str, Any]) -> Figures:
    worst = found["worst"]["posterior"] if found["worst"] else 0.0
    return [
        (say("risk.published", rows=f"{found['rows']:,}"), found["published"]),
        (say("risk.carriers"), found["carriers"]),
        (say("risk.problematic"), found["problematic"]),
        (say("risk.known"), found["known_before"]),
        (say("risk.worst"), percent(worst)),
        (say("risk.guess"), percent(found["guess_rate"])),
    ]
