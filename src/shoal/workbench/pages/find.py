"""Find: settings that hold, each of them run; one of them becomes the draft."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from shoal.api.find import check_importance
from shoal.data.spec import Spec
from shoal.data.spec.checks import number_or_text
from shoal.errors import InputError, ShoalError
from shoal.report.charts.found import found_chart
from shoal.workbench.bench import TableAsked, Visit, after_roles, begin, go, last_run
from shoal.workbench.blame import FIND, beside
from shoal.workbench.held import key_of
from shoal.workbench.project import Run, find_steps
from shoal.workbench.project.commands import options_of
from shoal.workbench.rendering import drawn
from shoal.workbench.same import same_as

SECONDS, MOST = "60", 3600
LABEL = (
    "The largest chance of a protected value, and the error of counts, of each setting; the table "
    "above has the figures"
)
USUAL = "1"
"""The importance of a column of which nothing is said."""


@after_roles
def start(visit: Visit, asked: TableAsked) -> Response:
    """Tries settings, in a run."""
    try:
        seconds, importance = _seconds(visit.text("seconds")), _importance(visit, asked)
        begin(
            visit,
            "find",
            lambda run: find_steps(run, asked.source, seconds=seconds, importance=importance),
        )
    except ShoalError as error:
        return _page(visit, asked, error)
    return go("/find")


@after_roles
def tried(visit: Visit, asked: TableAsked) -> Response:
    """What was tried so far, as a part of the page."""
    return visit.page("find_part", **_shown(visit, asked))


@after_roles
def picture(visit: Visit, asked: TableAsked) -> Response:
    """Risk against error of what was tried, in two widths of which the page shows one."""
    run = last_run(visit, "find")
    lines = _tried(run)
    if not any(one["robust"] for one in lines):
        return Response(status_code=204)
    chart = (LABEL, "", drawn("found", found_chart(lines)))
    return visit.page("charts_part", charts=[chart])


def use(visit: Visit) -> Response:
    """Writes the spec of a setting that was run into the draft."""
    run = visit.project.run(visit.text("run"))
    chosen = [one for one in _tried(run) if one["words"] == visit.text("setting") and one["robust"]]
    if not chosen:
        raise InputError(
            "find-setting", f"Run {run.name} has no such setting.", "Choose one of its table."
        )
    with visit.bench.editing:
        visit.project.write_draft(chosen[0]["spec"])
    return go("/find")


def _seconds(typed: str) -> float:
    try:
        seconds = float(typed)
    except ValueError:
        seconds = 0.0
    if not 1 <= seconds <= MOST:
        raise InputError(
            "find-seconds", f"seconds is {typed!r}.", f"Give a number from 1 to {MOST:,}."
        )
    return seconds


def _importance(visit: Visit, asked: TableAsked) -> dict[str, float]:
    """How important each QI is, of those that are not as usual."""
    typed = {name: visit.text(f"importance-{key_of(name)}") for name in asked.spec.qi}
    found = {name: number_or_text(text) for name, text in typed.items() if text not in ("", USUAL)}
    return check_importance(found, asked.spec)


def _asked_importance(
    visit: Visit, asked: TableAsked, run: Run | None
) -> list[tuple[str, str, str]]:
    """Each QI with the key of its field and what stands in it: as typed, or as tried last."""
    said = options_of(run.steps[0]).get("importance", []) if run else []
    last = {name: number for name, _, number in (text.rpartition("=") for text in said)}
    fields = [(name, key_of(name)) for name in asked.spec.qi]
    return [
        (name, key, visit.text(f"importance-{key}") or last.get(name, USUAL))
        for name, key in fields
    ]


def _page(visit: Visit, asked: TableAsked, error: ShoalError | None = None) -> Response:
    shown = _shown(visit, asked)
    run: Run | None = shown["run"]
    seconds = visit.text("seconds") or SECONDS
    steps = find_steps(".", asked.source, seconds=float(SECONDS)) if run is None else run.steps
    return visit.page(
        "find",
        progress=run.progress if run else None,
        seconds=seconds,
        importance=_asked_importance(visit, asked, run),
        errors=beside(error, FIND),
        **shown,
        **same_as(steps),
    )


show = after_roles(_page)


def _shown(visit: Visit, asked: TableAsked) -> dict[str, Any]:
    run = last_run(visit, "find")
    lines = [{**one, "chosen": _same(one["spec"], asked.spec)} for one in _tried(run)]
    begun = run is not None and _same(run.made["spec"], asked.spec)
    told = None if run is None else run.found
    return {
        "run": run,
        "state": run.state if run else None,
        "found": told
        and {
            **told,
            "tried": lines,
            "supports": any("min_support" in one["words"] for one in lines),
        },
        "changed": run is not None
        and not (run.is_of(asked.source) and (begun or any(one["chosen"] for one in lines))),
    }


def _tried(run: Run | None) -> list[dict[str, Any]]:
    """The lines of what was tried, each with its words."""
    told = (run.found if run else None) or {"tried": []}
    return [{**one, "words": ", ".join(one["changes"]) or "as asked"} for one in told["tried"]]


def _same(kept: Mapping[str, Any], spec: Spec) -> bool:
    """Whether a spec that was kept is the draft's; both name files from the project's folder."""
    try:
        return Spec.from_mapping(kept) == spec
    except ShoalError:
        return False
