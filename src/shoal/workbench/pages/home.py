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
        return f"/{step}", f"Next: {say(f'nav.{step}')}"
    if stages[-1][1] and not stages[-2][1]:
        return "/context", f"Next: {say('nav.context')}"
    return f"/runs/{made[-1]}", f"{'Open' if stages[-1][1] else 'Decide on'} run {made[-1]}"


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
        ("table", source is not None, source.address if source else "No table yet."),
        _roles(visit),
        (
            "plan",
            bool(plans),
            f"Planned in run {plans[-1]}." if plans else "Not planned yet.",
        ),
        ("run", bool(made), f"{len(made)} so far." if made else "Nothing was run yet."),
        _context(visit),
        (
            "runs",
            last is not None,
            f"Run {last[0].name}: {last[1]['decision']}."
            if last and last[1]
            else "Not decided yet."
            if made
            else "Nothing to decide on yet.",
        ),
    ]


def _roles(visit: Visit) -> Stage:
    try:
        spec = visit.project.spec()
    except ShoalError:
        return ("roles", False, "The roles of the columns are not settled yet.")
    roles = f"{len(spec.qi)} known to outsiders, {len(spec.sensitive_columns)} sensitive"
    return ("roles", True, f"{roles}, r = {spec.r:g}.")


def _context(visit: Visit) -> Stage:
    """How much of what only people can say is stated."""
    stated = len(visit.project.context.stated.keys() & {*TEXTS})
    return (
        "context",
        stated == len(TEXTS),
        f"{stated} of {len(TEXTS)} things that only people can say are stated.",
    )
