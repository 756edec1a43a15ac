"""What the files of a run were when it ended, so that a later change of one of them is noticed."""

from __future__ import annotations

import hashlib
from pathlib import Path

from shoal.workbench.project.files import read_json, write_json

HASHES = "hashes.json"
_TOP = ("run.json", "spec.toml", "table.json", "report.html", "report-public.html")
_FOLDERS = ("steps", "release", "private")
_PASSING = ("worker.log", ".progress.json")


def keep_hashes(run: Path) -> None:
    """Keeps the hashes of what a run was asked for and has made."""
    write_json(run / HASHES, {"sha256": _hashes(run)})


def changed_files(run: Path) -> list[str] | None:
    """The files of a run that are others now, gone or new, by their paths in its folder; None if
    nothing was kept of it that tells."""
    kept = (read_json(run / HASHES) or {}).get("sha256")
    if not isinstance(kept, dict):
        return None
    held = _hashes(run)
    return sorted(name for name in {*kept, *held} if kept.get(name) != held.get(name))


def is_as_left(run: Path, *names: str) -> bool:
    """Whether files of a run are as it left them; also where nothing was kept of it that tells."""
    kept = (read_json(run / HASHES) or {}).get("sha256")
    return not isinstance(kept, dict) or all(kept.get(n) == file_hash(run / n) for n in names)


def file_hash(path: Path) -> str | None:
    """The SHA-256 of a file; None if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _hashes(run: Path) -> dict[str, str]:
    found = [run / name for name in _TOP]
    found += [path for folder in _FOLDERS for path in sorted((run / folder).rglob("*"))]
    held = {path: file_hash(path) for path in found if not path.name.endswith(_PASSING)}
    return {path.relative_to(run).as_posix(): sha for path, sha in held.items() if sha}
