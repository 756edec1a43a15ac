"""Runs: what was run, how a run goes, what it found, and what is decided on it."""

from __future__ import annotations

from typing import Any

from starlette.responses import HTMLResponse, Response

from shoal.auditing.checks import largest_chance, verdict
from shoal.errors import ShoalError
from shoal.report.charts.found import found_chart
from shoal.workbench import verdicts
from shoal.workbench.bench import Visit, go
from shoal.workbench.blame import DECISION, beside
from shoal.workbench.evidence import EVIDENCE_FILE, unfitting, write_evidence
from shoal.workbench.pages.files import there
from shoal.workbench.project import Run, summary
from shoal.workbench.rendering import drawn
from shoal.workbench.same import same_as_run, same_as_runs

PAGES = {"anonymize": "decide", "audit": "judged", "verify": "verified"}
LABEL = (
    "Releases by the largest chance of a protected value and the error of counts; each is a link "
    "to its run"
)
OWN_PAGES = ("plan", "find")
"""The kinds whose last run is shown where it was started."""


def show(visit: Visit) -> Response:
    """All runs, the newest first."""
    lines = [_line(run) for run in reversed(visit.project.runs())]
    drawn = any(one["kind"] == "anonymize" and one["state"] == "done" for one in lines)
    return visit.page("runs", runs=lines, drawn=drawn, **same_as_runs())


def picture(visit: Visit) -> Response:
    """Risk against error of every run with a release; each point leads to its run."""
    home = str(visit.request.base_url)
    points = [point for run in visit.project.runs() if (point := _point(run, home)) is not None]
    if not points:
        return Response(status_code=204)
    chart = (LABEL, "", drawn("runs", found_chart(points)))
    return visit.page("charts_part", charts=[chart])


def _point(run: Run, home: str) -> dict[str, Any] | None:
    facts = verdicts.facts_of(run) if run.kind == "anonymize" and run.state == "done" else None
    found = None if facts is None else run.result("anonymize")
    if facts is None or found is None or not facts.queries or not facts.queries.lines:
        return None
    return {
        "words": f"{run.name} {run.title or found['method']}, r = {found['r']:g}",
        "largest_chance": largest_chance(facts.checks, found["worst_posterior"]),
        "error": facts.queries.lines[-1].mean,
        "robust": verdict(facts.checks),
        "address": f"{home}runs/{run.name}",
    }


def show_one(visit: Visit) -> Response:
    return _page(visit, _run(visit))


def progress(visit: Visit) -> Response:
    """How far a run is, as a part of a page; the page is loaded anew when it has ended."""
    run = _run(visit)
    if run.state != "running":
        return HTMLResponse("", headers={"HX-Refresh": "true"})
    return visit.page("going", run=run, progress=run.progress)


def stop(visit: Visit) -> Response:
    run = _run(visit)
    run.stop()
    return go(_place(run))


def start(visit: Visit) -> Response:
    run = _run(visit)
    run.start()
    return go(_place(run))


def decide(visit: Visit) -> Response:
    """Keeps a person's decision with the run."""
    run = _run(visit)
    typed = {name: visit.text(name) for name in ("decision", "name", "reason", "review", "despite")}
    try:
        run.decide(
            typed["decision"],
            name=typed["name"],
            reason=typed["reason"],
            review=typed["review"] or None,
            despite=typed["despite"],
        )
    except ShoalError as error:
        fields = {**DECISION, **({} if typed["name"] else {"decision-missing": "name"})}
        return _page(visit, run, typed, beside(error, fields))
    if EVIDENCE_FILE in there(run):
        write_evidence(run.folder)
    return go(f"/runs/{run.name}#decision")


def evidence(visit: Visit) -> Response:
    """Writes the evidence file as things stand now."""
    run = _run(visit)
    write_evidence(run.folder)
    return go(f"/runs/{run.name}#evidence")


def _run(visit: Visit) -> Run:
    return visit.project.run(visit.request.path_params["name"])


def _place(run: Run) -> str:
    return f"/{run.kind}" if run.kind in OWN_PAGES else f"/runs/{run.name}"


def _line(run: Run) -> dict[str, Any]:
    """A run in the list of all, with the address of its page."""
    return {**summary(run), "place": _place(run)}


def _page(
    visit: Visit,
    run: Run,
    typed: dict[str, str] | None = None,
    errors: Any = None,
) -> Response:
    state, kind = run.state, run.kind
    if kind in OWN_PAGES:
        return go(_place(run))
    template = PAGES.get(kind, "ended") if state == "done" else "ended"
    verdict = verdicts.of_run(run) if template in ("decide", "judged") else None
    if template in ("decide", "judged") and verdict is None:
        template = "ended"
    found = run.result(1) if state == "done" else None
    return visit.page(
        template,
        run=run,
        line=_line(run),
        state=state,
        progress=run.progress,
        verdict=verdict,
        unfit=unfitting(run) if (state, kind) == ("done", "anonymize") else [],
        found=found,
        certified=verdicts.certified(found) if found and kind == "verify" else None,
        checked=run.result("verify") if state == "done" else None,
        warnings=run.warnings,
        files=there(run),
        decision=run.decision,
        typed=typed or {},
        why_r=visit.project.statement.get("why_r", ""),
        reviewer=visit.project.statement.get("reviewer", ""),
        errors=errors or {},
        **same_as_run(run),
    )
