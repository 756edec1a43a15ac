"""Audit: what another tool made of the table, judged by the same readers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from shoal.errors import InputError, ShoalError
from shoal.workbench.asked import Asked, after_roles, begin
from shoal.workbench.bench import Bench, Visit, broken, go
from shoal.workbench.blame import AUDIT, beside, failed_before
from shoal.workbench.inside import UPLOADS, inside, table_files
from shoal.workbench.project import audit_steps
from shoal.workbench.same import same_as
from shoal.workbench.uploads import save_upload


@after_roles
def show(visit: Visit, asked: Asked) -> Response:
    return _page(visit, asked, failed_before(visit))


@after_roles
def start(visit: Visit, asked: Asked) -> Response:
    """Makes the run and lets it begin."""
    released, groups = visit.text("released"), visit.text("groups")
    try:
        if bool(released) == bool(groups):
            raise InputError(
                "audit-what",
                "Two things to judge are named." if released else "Nothing to judge is named.",
                "Choose either a file or a column that labels the groups.",
            )
        path = inside(visit.project.folder, released) if released else None
        run = begin(
            visit,
            "audit",
            lambda run: audit_steps(
                run,
                asked.source,
                released=path,
                groups=groups or None,
                key=visit.text("key") or None,
                models="models" in visit.form,
            ),
            title=path or groups,
        )
    except ShoalError as error:
        return _page(visit, asked, error)
    return go(f"/runs/{run.name}")


def upload(bench: Bench) -> Callable[[Request], Awaitable[Response]]:
    """Takes the file of another tool from the browser."""

    async def answer(request: Request) -> Response:
        visit = Visit(bench, request, FormData())
        try:
            folder = bench.project.folder
            await save_upload(request, folder / UPLOADS, limit=bench.upload_limit)
        except ShoalError as error:
            refused = after_roles(partial(_page, error=error))
            return await run_in_threadpool(refused, visit)
        except Exception as error:
            return broken(visit, error)
        return go("/audit")

    return answer


def _page(visit: Visit, asked: Asked, error: ShoalError | None = None) -> Response:
    folder = visit.project.folder
    files = [file for file in table_files(folder) if file != asked.source.address]
    newest = max(files, key=lambda file: (folder / file).stat().st_mtime, default="")
    columns = visit.bench.tables.get(asked.source, folder).columns
    steps = audit_steps(".", asked.source, released=newest or "released.csv")
    return visit.page(
        "audit",
        status=visit.status(error),
        files=files,
        columns=columns,
        typed=visit.form or {"released": newest},
        limit=visit.bench.upload_limit,
        errors=beside(error, AUDIT),
        spec=asked.spec,
        **same_as(steps),
    )
