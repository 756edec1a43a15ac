"""The project: how far it is, and the next step."""

from __future__ import annotations

from starlette.responses import Response

from shoal.errors import ShoalError
from shoal.workbench.bench import Visit
from shoal.workbench.project.context import TEXTS
from shoal.workbench.same import same_as_runs
from shoal.workbench.texts import say

Stage = tuple[str, bool, str]


def show(visit: Visit) -> Response:
    stages = _stages(visit)
    return visit.page("home", stages=stages, step=_next(visit, stages), **same_as_runs())


def _next(visit: Visit, stages: list[Stage]) -> tuple[str, str]:
    """The next step: its address, and what its button says."""
    made = [run.name for run in visit.project.runs() if run.kind == "anonymize"]
    if not made:
        step = next(name for name, done, _ in stages if not done)
        return f"/{step}", say("home.next", step=say(f"nav.{step}"))
    told = "home.open" if stages[-1][1] else "home.decide"
    if stages[-1][1] and not stages[-2][1]:
        return "/context", say("home.next", step=say("nav.context"))
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
        _context(visit),
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


def _context(visit: Visit) -> Stage:
    """How much of what only people can say is stated."""
    stated = len(visit.project.context.stated.keys() & {*TEXTS})
    return ("context", stated == len(TEXTS), say("home.context", n=stated, all=len(TEXTS)))
