"""What pages after the roles need: a table and a whole spec, or the page that says what lacks."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import NamedTuple

from starlette.responses import Response

from shoal.data.spec import Spec
from shoal.errors import ShoalError
from shoal.workbench.bench import Shown, Visit
from shoal.workbench.project import Run, Source, Steps


class Asked(NamedTuple):
    """A table and what is asked of it."""

    source: Source
    spec: Spec


def after_roles(show: Callable[[Visit, Asked], Response]) -> Shown:
    """A page that needs both; where something is missing, the page that leads there instead."""

    @wraps(show)
    def shown(visit: Visit) -> Response:
        source = visit.project.source
        if source is None:
            return visit.page("needs_table")
        try:
            asked = Asked(source, visit.project.spec())
        except ShoalError as error:
            return visit.page("needs_roles", error=error)
        return show(visit, asked)

    return shown


def begin(visit: Visit, kind: str, steps: Callable[[str], Steps], *, title: str = "") -> Run:
    """Makes a run and lets it begin. A form that is sent twice leads to the same run."""
    page, begun = visit.text("page"), visit.bench.begun
    with visit.bench.editing:
        if page in begun:
            return visit.project.run(begun[page])
        run = visit.project.new_run(kind, steps, title=title)
        run.start()
        if page:
            begun[page] = run.name
    return run


def last_run(visit: Visit, kind: str) -> Run | None:
    """The newest run of a kind."""
    return next((run for run in reversed(visit.project.runs()) if run.kind == kind), None)
