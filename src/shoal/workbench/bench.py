"""What every page has at hand: the project, the tables held in memory, and how to answer."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from shoal.data.spec import Spec
from shoal.errors import InputError, ShoalError
from shoal.workbench.project import Project, Run, Source, Steps
from shoal.workbench.rendering import page

if TYPE_CHECKING:
    from shoal.workbench.held import HeldReleases, HeldTables


UPLOAD_LIMIT = 10 * 10**9
FORM_LIMIT = 16 * 10**6
MOST_FIELDS = 20_000


@dataclass(frozen=True)
class Bench:
    """One workbench: it keeps nothing but what can be read again from the folder."""

    project: Project
    upload_limit: int = UPLOAD_LIMIT
    editing: threading.RLock = field(default_factory=threading.RLock)
    """Held by whoever changes the draft: of two requests at once, each changes it whole."""
    looked_at: dict[str, str] = field(default_factory=dict)
    """The version of the draft that a figure was last asked for, so that older work can end."""
    wrote: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Which page of roles changed the draft last, and the state that it left."""
    begun: dict[str, str] = field(default_factory=dict)
    """The run that a form made, by the number of the page that it stood on."""

    @cached_property
    def tables(self) -> HeldTables:
        """The tables held in memory."""
        from shoal.workbench.held import HeldTables

        return HeldTables()

    @cached_property
    def releases(self) -> HeldReleases:
        """The releases held in memory."""
        from shoal.workbench.held import HeldReleases

        return HeldReleases()


@dataclass(frozen=True)
class Visit:
    """One request for a page: what was asked, and what was typed."""

    bench: Bench
    request: Request
    form: FormData

    @property
    def project(self) -> Project:
        return self.bench.project

    def text(self, name: str) -> str:
        """A field of the form as text, without spaces around it; empty if it is not there."""
        value = self.form.get(name, "")
        return value.strip() if isinstance(value, str) else ""

    def texts(self, name: str) -> list[str]:
        """All fields of that name."""
        return [value for value in self.form.getlist(name) if isinstance(value, str)]

    def asked(self, name: str) -> str:
        """A parameter of the address."""
        return self.request.query_params.get(name, "")

    def page(self, template: str, *, status: int | None = None, **shown: Any) -> Response:
        """A page of the workbench; refused where it has errors of what was sent."""
        status = self.status(shown.get("errors")) if status is None else status
        return page(self, template, status=status, **shown)

    def status(self, error: object) -> int:
        """Whether what was sent is refused."""
        return 422 if error and self.request.method == "POST" else 200


Shown = Callable[[Visit], Response]
Endpoint = Callable[[Request], Awaitable[Response]]


def endpoint(bench: Bench, show: Shown) -> Endpoint:
    """A page as Starlette wants it: read the form, work in a thread, and say what went wrong."""

    async def answer(request: Request) -> Response:
        form = FormData()
        try:
            if request.method == "POST":
                length = request.headers.get("content-length", "")
                if not length.isdigit() or int(length) > FORM_LIMIT:
                    return PlainTextResponse(
                        "This form is larger than any that the workbench sends.\n", 413
                    )
                form = await request.form(max_files=0, max_fields=MOST_FIELDS)
            visit = Visit(bench, request, form)
            return await run_in_threadpool(show, visit)
        except ShoalError as error:
            return await run_in_threadpool(failed, Visit(bench, request, FormData()), error)
        except Exception as error:
            return broken(Visit(bench, request, form), error)

    return answer


def broken(visit: Visit, error: Exception) -> Response:
    """The page for a fault of shoal's own. The terminal is told where it happened, and not with
    which words: these may hold values of the table."""
    if isinstance(error, HTTPException):
        raise error
    if isinstance(error, ClientDisconnect):  # nobody is there to be answered
        return Response(status_code=400)
    places = "".join(traceback.format_tb(error.__traceback__))
    print(f"{type(error).__name__}, at\n{places}", file=sys.stderr)
    typed = [text for _, text in visit.form.multi_items() if isinstance(text, str) and " " in text]
    return visit.page("said", status=500, what="broken", typed=typed)


def failed(visit: Visit, error: ShoalError) -> Response:
    """The page for what no form is to blame for."""
    missing = isinstance(error, InputError) and error.code in ("run-none",)
    return visit.page("failed", status=404 if missing else 422, error=error)


def go(address: str) -> Response:
    """On to another page, after something was done."""
    return RedirectResponse(address, 303)


# What pages after the roles need: a table and a whole spec, or the page that says what lacks.


class TableAsked(NamedTuple):
    """A table and what is asked of it."""

    source: Source
    spec: Spec


def after_roles(show: Callable[[Visit, TableAsked], Response]) -> Shown:
    """A page that needs both; where something is missing, the page that leads there instead."""

    @wraps(show)
    def shown(visit: Visit) -> Response:
        source = visit.project.source
        if source is None:
            return visit.page("needs_table")
        try:
            asked = TableAsked(source, visit.project.spec())
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
