"""Hidden names beside a target: new content in the making, its lock, and what killed runs left.

What is being made is known by its name and locked by its maker; what nobody holds any more was left
by a killed run and is removed by the next one.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: leftovers of killed runs stay
    fcntl = None  # type: ignore[assignment]


def hidden(target: Path, kind: str) -> Path:
    """A fresh name beside the target: "new" for what will replace it, "old" for what it was."""
    return target.with_name(f"{_prefix(target, kind)}{secrets.token_hex(8)}")


def leftovers(target: Path, kind: str) -> list[Path]:
    """All such names that exist."""
    prefix = _prefix(target, kind)
    return sorted(entry for entry in target.parent.iterdir() if entry.name.startswith(prefix))


def target_of(new: Path) -> Path | None:
    """What the new content of that name is for; None if it is no such name."""
    begin, mark, _ = new.name.rpartition(".shoal-new-")
    return new.with_name(begin[1:]) if mark and begin[:1] == "." and begin[1:] else None


def notice_of(target: Path) -> Path:
    """Where it is written that the target is being replaced, together with others."""
    return target.with_name(f".{target.name}.shoal-moves")


def begin(target: Path, *, folder: bool) -> tuple[Path, int | None]:
    """A new, locked file or folder beside the target, after clearing away what is stale."""
    new = hidden(target, "new")
    with locked(target.parent):
        _remove_stale(target)
        if folder:
            new.mkdir()
        else:
            new.touch(exist_ok=False)
        return new, _try_lock(new)


def release(lock: int | None) -> None:
    """Gives up the lock of `begin`."""
    if lock is not None:
        os.close(lock)


@contextmanager
def locked(*folders: Path) -> Iterator[None]:
    """Holds the folders' locks, where there are locks: nobody clears up or swaps meanwhile.

    A folder that is still being made is locked by its maker already. Everybody locks in the same
    order, so that no two wait for each other.
    """
    with ExitStack() as stack:
        for folder in sorted(set(folders)):
            if fcntl is None or ".shoal-new-" in folder.name:
                continue
            handle = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, handle)
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def flush(path: Path) -> None:
    """Forces a file, or the names in a folder, to disk."""
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def flush_tree(folder: Path) -> None:
    """Forces a folder with all that it holds to disk."""
    for parent, _, files in os.walk(folder):
        for name in files:
            flush(Path(parent) / name)
        flush(Path(parent))


def _prefix(target: Path, kind: str) -> str:
    return f".{target.name}.shoal-{kind}-"


def _remove_stale(target: Path) -> None:
    if notice_of(target).exists():  # they are still to be moved into place
        return
    olds = leftovers(target, "old") if target.exists() else []
    for entry in [*leftovers(target, "new"), *olds]:
        lock = _try_lock(entry)
        if lock is None:  # somebody is writing it, or nobody can tell
            continue
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
        release(lock)


def _try_lock(path: Path) -> int | None:
    if fcntl is None:
        return None
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:  # somebody else removed it
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle
