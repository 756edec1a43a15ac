"""The application: addresses, the pages behind them, and the guard before all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import lru_cache
from importlib.resources import files

from starlette.applications import Starlette
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shoal.workbench.bench import Bench, Shown, Visit, endpoint
from shoal.workbench.pages import (
    audit,
    compare,
    home,
    plan,
    roles,
    run,
    runs,
    table,
    verify,
)
from shoal.workbench.pages import (
    files as made,
)
from shoal.workbench.security import Guard, Keys

STATIC = {
    "page.css": ("shoal.report", "templates", "text/css"),
    "workbench.css": ("shoal.workbench", "static", "text/css"),
    "workbench.js": ("shoal.workbench", "static", "text/javascript"),
    "htmx.min.js": ("shoal.workbench", "static", "text/javascript"),
}
PAGES: dict[str, Shown] = {
    "GET /": home.show,
    "POST /": home.save,
    "GET /table": table.show,
    "POST /table/choose": table.choose,
    "POST /table/again": table.again,
    "GET /roles": roles.show,
    "POST /roles": roles.save,
    "GET /roles/known": roles.known,
    "GET /plan": plan.show,
    "POST /plan": plan.start,
    "POST /plan/choose": plan.choose,
    "GET /run": run.show,
    "POST /run": run.start,
    "POST /run/same": run.same,
    "GET /runs": runs.show,
    "GET /runs/{name}": runs.show_one,
    "GET /runs/{name}/progress": runs.progress,
    "POST /runs/{name}/stop": runs.stop,
    "POST /runs/{name}/start": runs.start,
    "POST /runs/{name}/decide": runs.decide,
    "GET /runs/{name}/{file}": made.show,
    "GET /evidence/{name}": made.show,
    "POST /evidence/{name}": runs.evidence,
    "GET /compare": compare.show,
    "GET /audit": audit.show,
    "POST /audit": audit.start,
    "GET /verify": verify.show,
    "POST /verify": verify.start,
}


def make_app(bench: Bench, keys: Keys) -> Starlette:
    """The workbench of a project."""
    routes = [_route(bench, where, show) for where, show in PAGES.items()]
    routes.append(Route("/table/upload", table.upload(bench), methods=["POST"]))
    routes.append(Route("/audit/upload", audit.upload(bench), methods=["POST"]))
    routes.append(Route("/static/{name}", _static, methods=["GET"]))
    routes.append(Route("/favicon.ico", _nothing, methods=["GET"]))
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, keys=keys)],
        exception_handlers={HTTPException: _missing(bench)},
    )


def _route(bench: Bench, where: str, show: Shown) -> Route:
    method, path = where.split(" ")
    return Route(path, endpoint(bench, show), methods=[method])


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
