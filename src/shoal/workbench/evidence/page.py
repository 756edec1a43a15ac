"""The evidence file as one HTML page: no script, nothing from outside, made to be printed."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

from jinja2 import TemplateError

from shoal.auditing.checks import most_people
from shoal.auditing.findings import PublicFindings
from shoal.errors import InputError
from shoal.plain import typed
from shoal.release.stated import as_json
from shoal.report import measured, sentences
from shoal.report.charts.audit import attack_chart
from shoal.report.page import asset, chart_specs, drawing, templates, write
from shoal.wording import limit_words, percent, whole
from shoal.workbench.evidence.clauses import answered
from shoal.workbench.evidence.contents import Evidence, gather
from shoal.workbench.evidence.questions import above_alone, answers
from shoal.workbench.evidence.record import computed, open_points, record, states
from shoal.workbench.evidence.statements import WORDS, statements
from shoal.workbench.project.context import Context
from shoal.workbench.project.decision import certificate_hash
from shoal.workbench.project.files import now

EVIDENCE_FILE = "evidence.html"
TEMPLATES, TEMPLATE = "templates", "evidence.html.j2"
MOST_VALUES = 40
"""So many sensitive values stand on the page; the JSON has all."""
DRAWN = ("risk-before", "risk-after")


def write_evidence(
    folder: str | Path, out: str | Path | None = None, *, context: Context | None = None
) -> Path:
    """Writes the evidence file of a run, by default beside what the run made, and the same as JSON
    beside it. What the `context` states counts before what the project does."""
    path = Path(folder) / EVIDENCE_FILE if out is None else Path(out)
    evidence, written = gather(folder, context=context), now()
    page = evidence_page(evidence, written=written)
    write(as_json(record(evidence, written=written)), path.with_suffix(".json"))
    write(page, path)
    return path


def evidence_page(evidence: Evidence, *, written: str | None = None) -> str:
    """The page, as HTML. A template of that name in the project's folder `templates` counts before
    shoal's, which it can extend as shoal/evidence.html.j2."""
    own = evidence.run.folder.parent.parent / TEMPLATES
    replaced = (own / TEMPLATE).is_file()
    try:
        return _rendered(evidence, own if replaced else None, written or now())
    except TemplateError as error:
        if not replaced:
            raise
        raise InputError(
            "evidence-template",
            f"The template {TEMPLATES}/{TEMPLATE} of the project cannot be used: {error}.",
            "Correct it, or take it away to have shoal's own.",
        ) from None


def _rendered(evidence: Evidence, own: Path | None, written: str) -> str:
    facts = evidence.facts
    charts = {
        name: spec for name, spec in chart_specs(facts, public=False).items() if name in DRAWN
    }
    for number, attack in enumerate(evidence.attacks):
        if drawn := attack_chart(attack):
            charts[f"attack-{number}"] = drawn
    run, said = evidence.run, statements(evidence.context, facts)
    faceless = typed(PublicFindings, facts.verdict).worst
    return (
        templates("shoal.workbench.evidence", "shoal.report", own=own)
        .get_template(TEMPLATE)
        .render(
            evidence=SimpleNamespace(**vars(evidence) | {"run": None}),
            run={
                **{name: run.made[name] for name in ("made", "title") if name in run.made},
                "name": run.name,
                "table": run.table,
                "commands": run.commands(),
            },
            replaced=own is not None,
            context=said,
            by_words=WORDS,
            open=open_points(evidence),
            clauses=answered(states(evidence), computed(evidence)),
            several=facts.spec.columns > 1,
            most_values=MOST_VALUES,
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
            said_of=measured.attack_sentence,
            surest_of=measured.surest_table,
            seed=sentences.seed_sentence(facts),
            class_errors=measured.class_errors_in_short(facts.queries),
            certificate_hash=certificate_hash(evidence.run.folder),
            charts=charts,
            drawings={name: drawing(name, spec) for name, spec in charts.items()},
            style=asset("page.css") + asset("evidence.css", "shoal.workbench.evidence"),
            written=written,
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
