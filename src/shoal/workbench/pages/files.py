"""What a run made, to be looked at or taken away."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response, StreamingResponse

from shoal.file_names import CERTIFICATE, SIGNATURES
from shoal.release.stated import read_certificate
from shoal.workbench.bench import Visit
from shoal.workbench.evidence import EVIDENCE_FILE
from shoal.workbench.project import Run
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
    made = (run.folder / "release" / CERTIFICATE).is_file()
    return [*held, *(["release.zip"] if made else [])]


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
        zipped(run.folder / "release", _published(run.folder / "release")),
        media_type="application/zip",
        headers={"content-disposition": f'attachment; filename="release-{run.name}.zip"'},
    )


def _published(folder: Path) -> list[str]:
    """The files of a release: what its certificate names, and what vouches for that. Whatever else
    came to lie in the folder was never judged, and stays here."""
    named = [*read_certificate(folder)["files"], CERTIFICATE, SIGNATURES]
    root = folder.resolve()
    paths = [(root / name).resolve() for name in sorted(named)]
    return [
        str(path.relative_to(root)) for path in paths if path.is_relative_to(root) if path.is_file()
    ]


def zipped(folder: Path, names: Sequence[str]) -> Iterator[bytes]:
    """Files as a zip archive, piece by piece: it is never whole in memory or on disk."""
    out = _Passing()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        for name in names:
            entry_name = f"release/{name}"
            with (
                (folder / name).open("rb") as file,
                archive.open(entry_name, "w", force_zip64=True) as entry,
            ):
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
