"""Verify: is a release folder what its certificate says?"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from shoal.errors import InputError, ShoalError
from shoal.file_names import CERTIFICATE
from shoal.workbench.bench import Visit, begin, go
from shoal.workbench.blame import VERIFY, beside, failed_before
from shoal.workbench.inside import folders_with, inside, table_files
from shoal.workbench.project import Run, Source, verify_steps
from shoal.workbench.project.project import RUNS
from shoal.workbench.same import same_as
from shoal.workbench.uploads import unpack_release


def show(visit: Visit) -> Response:
    return _page(visit, failed_before(visit))


def start(visit: Visit) -> Response:
    """Makes the run and lets it begin."""
    folder = visit.project.folder
    try:
        release = inside(folder, visit.text("release"))
        made = _run_of(visit, release)
        source = _table_of(visit, made) if "table" in visit.form else None
        private, file = visit.text("private"), visit.text("knowledge")
        steps = verify_steps(
            release,
            source,
            private=inside(folder, private) if private else None,
            spec={**_recoded(visit, made), "knowledge": inside(folder, file) if file else None},
        )
        run = begin(visit, "verify", lambda _: steps, title=release)
    except ShoalError as error:
        return _page(visit, error)
    return go(f"/runs/{run.name}")


def _run_of(visit: Visit, release: str) -> Run | None:
    """The run of this project that made a release."""
    parts = Path(release).parts
    made = len(parts) == 3 and (parts[0], parts[2]) == (RUNS, "release")
    return visit.project.run(parts[1]) if made else None


def _table_of(visit: Visit, run: Run | None) -> Source | None:
    """The table that a run was made from, or else the project's; an InputError where that file is
    another now."""
    source = visit.project.source if run is None else run.source
    if run is not None and source is not None and not run.is_of(source):
        raise InputError(
            "verify-table",
            f'"{source.address}" is no longer the table that run {run.name} was made from.',
            "Put that file back, or verify without the table.",
        )
    return source


def take(visit: Visit, path: str) -> Response:
    """Unpacks a release that has arrived as a zip."""
    folder = visit.project.folder
    try:
        release = unpack_release(folder / path, limit=visit.bench.upload_limit)
    except ShoalError as error:
        return refuse(visit, error)
    return go(f"/verify?{urlencode({'release': str(release.relative_to(folder))})}")


def refuse(visit: Visit, error: ShoalError) -> Response:
    """It has not arrived, or is no release."""
    return _page(visit, error)


def _page(visit: Visit, error: ShoalError | None = None) -> Response:
    folder, source = visit.project.folder, visit.project.source
    releases = list(folders_with(folder, CERTIFICATE))
    private = [str(Path(one).with_name("private")) for one in releases]
    private = [one for one in private if (folder / one).is_dir()]
    asked = visit.asked("release")
    shown = asked if asked in releases else releases[-1] if releases else "release"
    return visit.page(
        "verify",
        releases=releases,
        chosen=visit.text("release") or shown,
        limit=visit.bench.upload_limit,
        private=private,
        files=table_files(folder),
        source=source,
        typed=visit.form,
        sent=visit.request.method == "POST",
        errors=beside(error, VERIFY),
        **same_as(verify_steps(shown, source, spec=_recoded(visit, None))),
    )


def _recoded(visit: Visit, run: Run | None) -> dict[str, Any]:
    """What a run, or else the draft, says of files that columns are recoded by, if it can be
    read."""
    try:
        spec = visit.project.draft if run is None else run.made["spec"]
        return {"recode": spec.get("recode")}
    except ShoalError:
        return {}
