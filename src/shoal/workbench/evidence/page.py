"""The evidence file as one HTML page: no script, nothing from outside, made to be printed."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

from shoal.auditing.checks import most_people
from shoal.auditing.findings import PublicFindings
from shoal.plain import typed
from shoal.report import measured, sentences
from shoal.report.charts.attack import attack_chart
from shoal.report.page import asset, chart_specs, drawing, templates, write
from shoal.wording import limit_words, percent, whole
from shoal.workbench.evidence.contents import Evidence, gather
from shoal.workbench.evidence.questions import above_alone, answers
from shoal.workbench.project.decision import certificate_hash
from shoal.workbench.project.files import now

EVIDENCE_FILE = "evidence.html"
DRAWN = ("risk-before", "risk-after")


def write_evidence(folder: str | Path, out: str | Path | None = None) -> Path:
    """Writes the evidence file of a run, by default beside what the run made."""
    path = Path(folder) / EVIDENCE_FILE if out is None else Path(out)
    write(evidence_page(gather(folder)), path)
    return path


def evidence_page(evidence: Evidence) -> str:
    """The page, as HTML."""
    facts = evidence.facts
    charts = {
        name: spec for name, spec in chart_specs(facts, public=False).items() if name in DRAWN
    }
    for number, attack in enumerate(evidence.attacks):
        named = [one for one in attack.found["attackers"] if one["control"]]
        if named:
            charts[f"attack-{number}"] = attack_chart(named)
    faceless = typed(PublicFindings, facts.verdict).worst
    return (
        templates("shoal.workbench.evidence", "shoal.report")
        .get_template("evidence.html.j2")
        .render(
            evidence=evidence,
            facts=facts,
            found=facts.verdict,
            verdict=sentences.verdict_sentence(facts, public=False),
            story=sentences.story(faceless, public=False, undecided=facts.verdict.undecided),
            meaning=sentences.meaning(facts),
            limit=_limit(evidence),
            assumptions=sentences.assumptions(facts),
            limits=sentences.limits_of_theory(facts, public=False),
            checks=sentences.checks_said(facts, public=False),
            tone=sentences.tone(facts),
            above=most_people(facts.checks),
            questions=answers(evidence),
            said_of=lambda found: measured.attack_sentence(replace(facts, attack=found)),
            surest_of=measured.surest_table,
            class_errors=measured.class_errors_in_short(facts),
            certificate_hash=certificate_hash(evidence.run.folder),
            charts=charts,
            drawings={name: drawing(name, spec) for name, spec in charts.items()},
            style=asset("page.css") + asset("evidence.css", "shoal.workbench.evidence"),
            written=now(),
            when=_when,
            whole=whole,
            above_alone=above_alone,
        )
    )


def _limit(evidence: Evidence) -> str:
    """The limit of everybody, or the range of limits."""
    limits, kind = evidence.facts.limits, evidence.facts.verdict.limit
    if len(limits) == 1:
        return limit_words(percent(limits[0]), kind)
    return limit_words(f"{percent(limits[0])} to {percent(limits[-1])}, by event", kind)


def _when(time: str) -> str:
    """A time as people read it."""
    return f"{datetime.fromisoformat(time):%Y-%m-%d %H:%M} UTC"
