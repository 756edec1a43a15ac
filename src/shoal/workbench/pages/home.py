"""The project: how far it is, and what only a person can say of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from shoal.errors import ShoalError
from shoal.workbench.bench import Visit, go
from shoal.workbench.blame import beside
from shoal.workbench.project.context import TEXTS
from shoal.workbench.project.project import stated_in
from shoal.workbench.same import same_as_statement
from shoal.workbench.texts import say

Stage = tuple[str, bool, str]


def show(visit: Visit) -> Response:
    return _page(visit, visit.project.statement, None)


def save(visit: Visit) -> Response:
    given = {name: visit.text(name) for name in TEXTS if name in visit.form}
    try:
        return keep_statement(visit, given) or go("/")
    except ShoalError as error:
        return _page(visit, {**visit.project.statement, **given}, error)


def keep_statement(visit: Visit, given: Mapping[str, Any]) -> Response | None:
    """Keeps what is stated; the page of both versions where another page stated otherwise."""
    project, seen = visit.project, visit.text("version")
    with visit.bench.editing:
        shown = stated_in(project.journal.state(int(seen))) if seen.isdecimal() else None
        if shown not in (None, project.statement) and not _said(given, project.statement):
            from shoal.workbench.pages.changes import conflict

            return conflict(visit, project.aside(statement=given))
        project.state(**given)
    return None


def _said(given: Mapping[str, Any], statement: Mapping[str, str]) -> bool:
    """Whether what is given is stated already."""
    return all(statement.get(name, "") == given[name] for name in given if name in TEXTS)


def _page(visit: Visit, statement: dict[str, str], error: ShoalError | None) -> Response:
    return visit.page(
        "home",
        status=visit.status(error),
        stages=(stages := _stages(visit)),
        step=_next(visit, stages),
        statement=statement,
        version=visit.project.version(),
        errors=beside(error, {}),
        **same_as_statement(visit.project.statement),
    )


def _next(visit: Visit, stages: list[Stage]) -> tuple[str, str]:
    """The next step: its address, and what its button says."""
    made = [run.name for run in visit.project.runs() if run.kind == "anonymize"]
    if not made:
        step = next(name for name, done, _ in stages if not done)
        return f"/{step}", say("home.next", step=say(f"nav.{step}"))
    told = "home.open" if stages[-1][1] else "home.decide"
    return f"/runs/{made[-1]}", say(told, run=made[-1])


def _stages(visit: Visit) -> list[Stage]:
    """Each step, whether it is done, and how it stands."""
    project, runs = visit.project, visit.project.runs()
    source = project.source
    kinds = {run.name: run.kind for run in runs}
    plans = [name for name, kind in kinds.items() if kind == "plan"]
    made = [run for run in runs if kinds[run.name] == "anonymize"]
    decided = [(run, run.decision) for run in made]
    last = next(((run, one) for run, one in reversed(decided) if one), None)
    return [
        ("table", source is not None, source.address if source else say("home.table.none")),
        _roles(visit),
        (
            "plan",
            bool(plans),
            say("home.plan.done", run=plans[-1]) if plans else say("home.plan.none"),
        ),
        ("run", bool(made), say("home.run.done", n=len(made)) if made else say("home.run.none")),
        (
            "runs",
            last is not None,
            say("home.runs.done", run=last[0].name, decision=say(f"decision.{last[1]['decision']}"))
            if last and last[1]
            else say("home.runs.open" if made else "home.runs.none"),
        ),
    ]


def _roles(visit: Visit) -> Stage:
    try:
        spec = visit.project.spec()
    except ShoalError:
        return ("roles", False, say("home.roles.none"))
    sentence = say(
        "home.roles.done", qi=len(spec.qi), sensitive=len(spec.sensitive_columns), r=f"{spec.r:g}"
    )
    return ("roles", True, sentence)
