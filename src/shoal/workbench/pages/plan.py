"""Plan: which r is possible, what stands in the way, and what each r would cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from shoal.data.spec import Spec, checked_r
from shoal.errors import InputError, ShoalError
from shoal.report.charts.plan import plan_chart
from shoal.workbench.bench import TableAsked, Visit, after_roles, begin, go, last_run
from shoal.workbench.blame import PLAN, beside
from shoal.workbench.project import Run, plan_steps
from shoal.workbench.project.run import option_of
from shoal.workbench.rendering import drawn, shown_number
from shoal.workbench.same import same_as

USUAL = (2, 3, 4, 5, 7, 10, 15, 20)
MOST = 16
LABEL = "The share of cases who find no group, over r; the table below has the figures"


@after_roles
def start(visit: Visit, asked: TableAsked) -> Response:
    """Plans for several r, in a run."""
    typed = visit.text("curve")
    try:
        values = _values(typed)
        begin(visit, "plan", lambda run: plan_steps(run, asked.source, r=values))
    except ShoalError as error:
        return _page(visit, asked, typed, error)
    return go("/plan")


@after_roles
def curve(visit: Visit, asked: TableAsked) -> Response:
    """What each r would cost as a chart, in two widths of which the page shows one. It is a part of
    its own, since the first drawing takes a moment."""
    run = last_run(visit, "plan")
    points = _points(run) if run is not None else []
    nearest = _nearest(points, asked.spec.r)
    if nearest is None:
        return Response(status_code=204)
    largest = nearest["plan"]["largest_r"]
    chart = plan_chart(
        [{"r": one["r"], "lost_share": one["lost_share"]} for one in points],
        chosen=asked.spec.r,
        chosen_label=f"chosen: r = {asked.spec.r:g}",
        largest=largest,
        largest_label=f"bound on r if nobody is left out: {shown_number(largest)}",
        across="r",
    )
    curve = (LABEL, "", drawn("curve", chart))
    return visit.page("charts_part", charts=[curve])


def choose(visit: Visit) -> Response:
    """Takes an r from the curve."""
    visit.project.write_draft({**visit.project.draft, "r": checked_r(visit.text("r"))})
    return go("/plan")


def _values(typed: str) -> list[float]:
    values = sorted(
        {checked_r(part) for part in typed.replace(";", ",").split(",") if part.strip()}
    )
    if not values or len(values) > MOST:
        raise InputError(
            "plan-values", f"{len(values)} values of r are named.", f"Name 1 to {MOST} of them."
        )
    return values


def _page(
    visit: Visit, asked: TableAsked, typed: str | None = None, error: ShoalError | None = None
) -> Response:
    run = last_run(visit, "plan")
    points = _points(run) if run is not None else []
    usual = ", ".join(f"{r:g}" for r in sorted({*map(float, USUAL), asked.spec.r}))
    curve = typed if typed is not None else ", ".join(p["text"] for p in points) or usual
    steps = run.steps if run is not None else plan_steps(".", asked.source, r=[asked.spec.r])
    return visit.page(
        "plan",
        spec=asked.spec,
        run=run,
        state=run.state if run else None,
        progress=run.progress if run else None,
        changed=run is not None
        and (_changed(run, visit.project.draft) or not run.is_of(asked.source)),
        points=points,
        plan=_nearest(points, asked.spec.r),
        curve_text=curve,
        errors=beside(error, PLAN),
        **same_as(steps),
    )


show = after_roles(_page)


def _points(run: Run) -> list[dict[str, Any]]:
    """What each r would cost, as far as it is known."""
    points = []
    for number, step in enumerate(run.steps, 1):
        told = run.result(number)
        if told is None:
            continue
        text = option_of(step, "r") or f"{run.made['spec'].get('r')}"
        points.append({"r": float(text), "text": text, "plan": told, **_cost(told)})
    return points


def _cost(told: Mapping[str, Any]) -> dict[str, Any]:
    """Carriers who find no group at best, and how large groups get."""
    bound = "coverage_bound_prior" if told["limit"] == "prior" else "coverage_bound"
    events = told["events"]
    carriers = sum(one["carriers"] for one in events)
    kept = sum(min(one[bound], one["carriers"]) for one in events)
    return {
        "carriers": carriers,
        "lost": carriers - kept,
        "lost_share": (carriers - kept) / carriers if carriers else 0.0,
        "size": max((one["expected_size"] for one in events), default=0.0),
        "known": max((one["known_before"] for one in events), default=0),
    }


def _nearest(points: list[dict[str, Any]], r: float) -> dict[str, Any] | None:
    """The plan for the r at hand, or the next one."""
    return min(points, key=lambda point: abs(point["r"] - r), default=None)


def _changed(run: Run, draft: Mapping[str, Any]) -> bool:
    """Whether more than r is another now; both name their files from the project's folder."""
    try:
        kept, now = Spec.from_mapping(run.made["spec"]), Spec.from_mapping(draft)
    except ShoalError:
        return True
    return kept.with_(r=now.r) != now
