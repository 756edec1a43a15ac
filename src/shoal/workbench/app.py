"""The application: addresses, the pages behind them, and the guard before all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import lru_cache
from importlib import import_module
from importlib.resources import files
from typing import Any, cast

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shoal.errors import ShoalError
from shoal.workbench.bench import Bench, Endpoint, Visit, broken, endpoint
from shoal.workbench.security import Guard, Keys

INTO = "uploads"
"""The folder of a project that files of the browser come to."""
STATIC = {
    "page.css": ("shoal.report", "templates", "text/css"),
    "workbench.css": ("shoal.workbench", "static", "text/css"),
    "workbench.js": ("shoal.workbench", "static", "text/javascript"),
    "htmx.min.js": ("shoal.workbench", "static", "text/javascript"),
}
PAGES = {
    "GET /": "home.show",
    "GET /changes": "changes.show",
    "POST /changes/undo": "changes.undo",
    "POST /changes/redo": "changes.redo",
    "POST /changes/put": "changes.put",
    "GET /table": "table.show",
    "POST /table/choose": "table.choose",
    "POST /table/again": "table.again",
    "GET /roles": "roles.show",
    "POST /roles": "roles.save",
    "GET /roles/known": "roles.known",
    "GET /coarser": "coarser.show",
    "GET /coarser/tried": "coarser.tried",
    "POST /coarser": "coarser.use",
    "POST /coarser/groups": "coarser.groups",
    "GET /plan": "plan.show",
    "GET /plan/curve": "plan.curve",
    "POST /plan": "plan.start",
    "POST /plan/choose": "plan.choose",
    "GET /find": "find.show",
    "GET /find/tried": "find.tried",
    "GET /find/picture": "find.picture",
    "POST /find": "find.start",
    "POST /find/use": "find.use",
    "GET /run": "run.show",
    "POST /run": "run.start",
    "POST /run/same": "run.same",
    "GET /runs": "runs.show",
    "GET /runs/picture": "runs.picture",
    "GET /runs/{name}": "runs.show_one",
    "GET /runs/{name}/progress": "runs.progress",
    "POST /runs/{name}/stop": "runs.stop",
    "POST /runs/{name}/start": "runs.start",
    "POST /runs/{name}/decide": "runs.decide",
    "GET /runs/{name}/{file}": "files.show",
    "GET /evidence/{name}": "files.show",
    "POST /evidence/{name}": "runs.evidence",
    "GET /look": "look.show",
    "GET /look/groups": "look.groups",
    "GET /look/group": "look.group",
    "GET /look/like": "look.like",
    "POST /look/like": "look.like",
    "GET /look/crossed": "look.crossed",
    "POST /look/crossed": "look.crossed",
    "GET /context": "context.show",
    "POST /context": "context.save",
    "GET /compare": "compare.show",
    "GET /audit": "audit.show",
    "POST /audit": "audit.start",
    "GET /verify": "verify.show",
    "POST /verify": "verify.start",
}
UPLOADS = ("table", "audit", "verify")
"""Pages are named and not imported: a first page is there before Polars is."""


def make_app(bench: Bench, keys: Keys) -> Starlette:
    """The workbench of a project."""
    routes = [_route(where, _shown(bench, page)) for where, page in PAGES.items()]
    routes += [_route(f"POST /{page}/upload", _upload(bench, page)) for page in UPLOADS]
    routes.append(Route("/static/{name}", _static, methods=["GET"]))
    routes += [Route(path, _nothing, methods=["GET"]) for path in ("/favicon.ico", "/alive")]
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, keys=keys)],
        exception_handlers={HTTPException: _missing(bench)},
    )


def import_pages() -> None:
    """Imports every page, so that none makes its first visitor wait."""
    for page in PAGES.values():
        _named(page)


def _route(where: str, answer: Endpoint) -> Route:
    method, path = where.split(" ")
    return Route(path, answer, methods=[method])


def _shown(bench: Bench, page: str) -> Endpoint:
    return endpoint(bench, lambda visit: cast(Response, _named(page)(visit)))


def _upload(bench: Bench, page: str) -> Endpoint:
    """Takes a file from the browser, piece by piece, and hands it to its page."""

    async def answer(request: Request) -> Response:
        visit = Visit(bench, request, FormData())
        refuse = await run_in_threadpool(_named, f"{page}.refuse")
        from shoal.workbench.uploads import is_table, is_zip, save_upload

        try:
            folder, wanted = bench.project.folder, is_zip if page == "verify" else is_table
            into = folder / INTO
            path = await save_upload(request, into, limit=bench.upload_limit, wanted=wanted)
            take = _named(f"{page}.take")
            told = await run_in_threadpool(take, visit, str(path.relative_to(folder)))
        except ShoalError as error:
            told = await run_in_threadpool(refuse, visit, error)
        except Exception as error:
            return broken(visit, error)
        return cast(Response, told)

    return answer


def _named(page: str) -> Callable[..., Any]:
    module, name = page.split(".")
    return cast(Callable[..., Any], getattr(import_module(f"shoal.workbench.pages.{module}"), name))


def _missing(bench: Bench) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def answer(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        visit = Visit(bench, request, FormData())
        return visit.page("said", status=error.status_code, what="missing")

    return answer


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    return Response(_file(name), media_type=STATIC[name][2])


async def _nothing(request: Request) -> Response:
    return Response(status_code=204)


@lru_cache(maxsize=len(STATIC))
def _file(name: str) -> str:
    package, folder, _ = STATIC[name]
    return (files(package) / folder / name).read_text(encoding="utf-8")
