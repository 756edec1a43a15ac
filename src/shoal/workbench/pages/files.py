"""What a run made, to be looked at or taken away."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response, StreamingResponse

from shoal.evidence import EVIDENCE_FILE
from shoal.project import Run
from shoal.workbench.bench import Visit
from shoal.workbench.security import FOREIGN_POLICY

PAGES = {
    "report.html": "report.html",
    "report-public.html": "report-public.html",
    EVIDENCE_FILE: EVIDENCE_FILE,
}
FILES = {"certificate.json": "release/certificate.json", "spec.toml": "spec.toml"}
PIECE = 1 << 16


def there(run: Run) -> list[str]:
    """The names under which a run's files can be asked for."""
    held = [name for name, path in {**PAGES, **FILES}.items() if (run.folder / path).is_file()]
    return [*held, *(["release.zip"] if (run.folder / "release").is_dir() else [])]


def show(visit: Visit) -> Response:
    """One file: pages are shown, apart from the workbench; the others are taken away."""
    run = visit.project.run(visit.request.path_params["name"])
    name = visit.request.path_params.get("file", EVIDENCE_FILE)
    if name not in there(run):
        raise HTTPException(404)
    if name in PAGES:
        return FileResponse(
            run.folder / PAGES[name],
            media_type="text/html; charset=utf-8",
            headers={"content-security-policy": FOREIGN_POLICY},
        )
    if name in FILES:
        return FileResponse(run.folder / FILES[name], filename=f"run-{run.name}-{name}")
    return StreamingResponse(
        zipped(run.folder / "release"),
        media_type="application/zip",
        headers={"content-disposition": f'attachment; filename="release-{run.name}.zip"'},
    )


def zipped(folder: Path) -> Iterator[bytes]:
    """A folder as a zip archive, piece by piece: it is never whole in memory or on disk."""
    out = _Passing()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        for path in sorted(folder.rglob("*")):
            if not path.is_file():
                continue
            name = str(Path("release") / path.relative_to(folder))
            with path.open("rb") as file, archive.open(name, "w", force_zip64=True) as entry:
                while piece := file.read(PIECE):
                    entry.write(piece)
                    yield out.take()
    yield out.take()


class _Passing(io.RawIOBase):
    """A file that is only ever written to, and hands on what it got."""

    def __init__(self) -> None:
        super().__init__()
        self._held = bytearray()
        self._place = 0

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._held += data
        self._place += len(data)
        return len(data)

    def tell(self) -> int:
        return self._place

    def take(self) -> bytes:
        held, self._held = bytes(self._held), bytearray()
        return held
