"""The application: addresses, the pages behind them, and the guard before all."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shoal.workbench.bench import Bench, Shown, Visit, endpoint
from shoal.workbench.pages import home, roles, table
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
}


def make_app(bench: Bench, keys: Keys) -> Starlette:
    """The workbench of a project."""
    routes = [_route(bench, where, show) for where, show in PAGES.items()]
    routes.append(Route("/table/upload", table.upload(bench), methods=["POST"]))
    routes.append(Route("/static/{name}", _static, methods=["GET"]))
    routes.append(Route("/favicon.ico", _nothing, methods=["GET"]))
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, keys=keys)],
        exception_handlers={
            HTTPException: _said(bench, "missing"),
            Exception: _said(bench, "broken"),
        },
    )


def _route(bench: Bench, where: str, show: Shown) -> Route:
    method, path = where.split(" ")
    return Route(path, endpoint(bench, show), methods=[method])


def _said(bench: Bench, what: str):  # type: ignore[no-untyped-def]
    async def answer(request: Request, error: Exception) -> Response:
        from starlette.datastructures import FormData

        status = error.status_code if isinstance(error, HTTPException) else 500
        return Visit(bench, request, FormData()).page("said", status=status, what=what)

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
