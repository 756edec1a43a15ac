"""Small files of a project: JSON in and out, moved into place whole."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from shoal.data.storage import replace_file
from shoal.errors import InputError


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def write_text(path: Path, text: str) -> None:
    """Puts a text in a file's place, whole or not at all."""
    with replace_file(path) as new:
        new.write_text(text, encoding="utf-8")


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Puts plain data in a file's place; what JSON has no form for is written as text."""
    write_text(path, json.dumps(data, indent=2, ensure_ascii=False, default=str) + "\n")


def read_json(path: Path) -> dict[str, Any] | None:
    """What a file holds; None if there is none, or it holds no JSON object."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def read_lines(path: Path) -> list[str]:
    """The lines of a text; none if there is no such file."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


# What the files of a run were when it ended, so that a later change of one of them is noticed.

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


# Locks that the system itself gives up when their holder ends, however it ends.

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PATIENCE = 1.0
"""Seconds for which a lock is tried: a look at it takes it for a moment too."""


def take(path: Path) -> int | None:
    """The handle of a file that is locked from now on until the handle and its copies in other
    processes are closed; None if somebody else has it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    until = time.monotonic() + PATIENCE
    while not _locked(handle, shared=False):
        if time.monotonic() > until:
            os.close(handle)
            return None
        time.sleep(0.02)
    return handle


def tell(handle: int, held: Mapping[str, Any]) -> None:
    """Writes into a locked file who holds it."""
    os.truncate(handle, 0)
    os.pwrite(handle, json.dumps(held).encode(), 0)


def is_held(path: Path) -> bool:
    """Whether somebody holds the lock of a file."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        return not _locked(handle, shared=True)
    finally:
        os.close(handle)


@contextmanager
def waiting_for(path: Path) -> Iterator[None]:
    """Holds a lock that others hold for a moment only."""
    while (handle := take(path)) is None:
        continue
    try:
        yield
    finally:
        os.close(handle)


def _locked(handle: int, *, shared: bool) -> bool:
    if fcntl is None:
        raise InputError(
            "project-system",
            "This system has no locks that a project needs.",
            "Work in a project on Linux or macOS.",
        )
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
