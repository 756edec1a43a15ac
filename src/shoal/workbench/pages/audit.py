"""Audit: what another tool made of the table, judged by the same readers."""

from __future__ import annotations

from functools import partial

from starlette.responses import Response

from shoal.errors import InputError, ShoalError
from shoal.workbench.bench import TableAsked, Visit, after_roles, begin, go
from shoal.workbench.blame import AUDIT, beside, failed_before
from shoal.workbench.inside import inside, table_files
from shoal.workbench.project import audit_steps
from shoal.workbench.same import same_as


@after_roles
def show(visit: Visit, asked: TableAsked) -> Response:
    return _page(visit, asked, failed_before(visit))


@after_roles
def start(visit: Visit, asked: TableAsked) -> Response:
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


def take(visit: Visit, path: str) -> Response:
    """The file of another tool has arrived."""
    return go("/audit")


def refuse(visit: Visit, error: ShoalError) -> Response:
    """It has not."""
    return after_roles(partial(_page, error=error))(visit)


def _page(visit: Visit, asked: TableAsked, error: ShoalError | None = None) -> Response:
    folder = visit.project.folder
    files = [file for file in table_files(folder) if file != asked.source.address]
    newest = max(files, key=lambda file: (folder / file).stat().st_mtime, default="")
    columns = visit.bench.tables.get(asked.source, folder).columns
    steps = audit_steps(".", asked.source, released=newest or "released.csv")
    return visit.page(
        "audit",
        files=files,
        columns=columns,
        typed=visit.form or {"released": newest},
        limit=visit.bench.upload_limit,
        errors=beside(error, AUDIT),
        spec=asked.spec,
        **same_as(steps),
    )
