"""Verify: is a release folder what its certificate says?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.responses import Response

from shoal.errors import ShoalError
from shoal.file_names import CERTIFICATE
from shoal.workbench.asked import begin
from shoal.workbench.bench import Visit, go
from shoal.workbench.blame import VERIFY, beside, failed_before
from shoal.workbench.inside import folders_with, inside, table_files
from shoal.workbench.project import verify_steps
from shoal.workbench.same import same_as


def show(visit: Visit) -> Response:
    return _page(visit, failed_before(visit))


def start(visit: Visit) -> Response:
    """Makes the run and lets it begin."""
    folder, source = visit.project.folder, visit.project.source
    try:
        release = inside(folder, visit.text("release"))
        private, file = visit.text("private"), visit.text("knowledge")
        steps = verify_steps(
            release,
            source if "table" in visit.form else None,
            private=inside(folder, private) if private else None,
            spec={**_recoded(visit), "knowledge": inside(folder, file) if file else None},
        )
        run = begin(visit, "verify", lambda _: steps, title=release)
    except ShoalError as error:
        return _page(visit, error)
    return go(f"/runs/{run.name}")


def _page(visit: Visit, error: ShoalError | None = None) -> Response:
    folder, source = visit.project.folder, visit.project.source
    releases = list(folders_with(folder, CERTIFICATE))
    private = [str(Path(one).with_name("private")) for one in releases]
    private = [one for one in private if (folder / one).is_dir()]
    shown = releases[-1] if releases else "release"
    return visit.page(
        "verify",
        status=visit.status(error),
        releases=releases,
        private=private,
        files=table_files(folder),
        source=source,
        typed=visit.form,
        sent=visit.request.method == "POST",
        errors=beside(error, VERIFY),
        **same_as(verify_steps(shown, source, spec=_recoded(visit))),
    )


def _recoded(visit: Visit) -> dict[str, Any]:
    """What the draft says of files that columns are recoded by, if it can be read."""
    try:
        return {"recode": visit.project.draft.get("recode")}
    except ShoalError:
        return {}
