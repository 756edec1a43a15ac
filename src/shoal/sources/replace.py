"""Replaces files and folders whole: a reader finds the old one or the new one, never half of one.

New content is made under a hidden name beside the target, forced to disk, and renamed at the end.
An old folder changes places with the new one in a single step where the system can do that (Linux);
elsewhere it is renamed out of the way first, and a kill between the two renames is mended by
`recover_folder`, which every next run calls. What killed runs leave behind is known by its name
and by nobody holding its lock any more, and is removed by the next run.
"""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from shoal.errors import InputError
from shoal.sources.location import redact, source_path

try:
    import fcntl
except ImportError:  # Windows: leftovers of killed runs stay
    fcntl = None  # type: ignore[assignment]

_EXCHANGE = 2  # RENAME_EXCHANGE of <linux/fs.h>
_HERE = -100  # AT_FDCWD


@contextmanager
def replace_file(path: str | Path) -> Iterator[Path]:
    """Gives the path of a new file to write; it takes the place of `path` at the end.

    On any failure the new file is removed, and an old one stays as it was.
    """
    target = _real(path)
    with _explained(path):
        if target.is_dir():
            raise InputError("output-folder", f'"{path}" is a folder.', "Name a file.")
        new, lock = _begin(target, folder=False)
        try:
            yield new
            _flush(new)
            if target.exists():
                shutil.copymode(target, new)
            new.replace(target)
            _flush(target.parent)
        finally:
            new.unlink(missing_ok=True)
            _release(lock)


@contextmanager
def replace_folder(
    path: str | Path, *, force: bool = False, marker: str | None = None
) -> Iterator[Path]:
    """Gives a new folder to fill; it becomes `path` at the end, or is removed on any failure.

    An existing folder is refused unless `force`; then it is replaced, provided that it is empty
    or holds the file `marker` (if one is named), so that a slip does not cost another folder.
    """
    target = _real(path)
    with _explained(path):
        recover_folder(target)
        _check_target(target, path, force=force, marker=marker)
        new, lock = _begin(target, folder=True)
        try:
            yield new
            _flush_tree(new)
            with _locked(target.parent):
                _check_target(target, path, force=force, marker=marker)
                old = _swap(new, target)
            _flush(target.parent)
            if old is not None:
                shutil.rmtree(old, ignore_errors=True)
        finally:
            shutil.rmtree(new, ignore_errors=True)
            _release(lock)


def recover_folder(path: str | Path) -> None:
    """Puts an old folder back that a killed run had renamed out of the way."""
    target = _real(path)
    if not target.parent.is_dir():
        return
    with _locked(target.parent):
        for old in _leftovers(target, "old"):
            if not target.exists():
                old.rename(target)


def refuse_overlap(output: str | Path, source: str | Path) -> None:
    """An InputError if writing the output could destroy the input, or become part of it."""
    target, origin = _real(output), source_path(source)
    if origin is None:
        return
    origin = origin.resolve()
    if target == origin:
        how = f'The output "{output}" is the input itself.'
    elif origin in target.parents:
        how = f'The output "{output}" lies inside the input "{redact(source)}".'
    elif target in origin.parents:
        how = f'The input "{redact(source)}" lies inside the output "{output}".'
    else:
        return
    raise InputError("output-input", how, "Write to another place.")


# --- Names, locks, leftovers ---------------------------------------------------------------


def _real(path: str | Path) -> Path:
    return Path(path).resolve()


def _hidden(target: Path, kind: str) -> Path:
    return target.with_name(f".{target.name}.shoal-{kind}-{secrets.token_hex(8)}")


def _leftovers(target: Path, kind: str) -> list[Path]:
    prefix = f".{target.name}.shoal-{kind}-"
    return sorted(entry for entry in target.parent.iterdir() if entry.name.startswith(prefix))


def _begin(target: Path, *, folder: bool) -> tuple[Path, int | None]:
    """A new, locked file or folder beside the target, after clearing away what is stale."""
    new = _hidden(target, "new")
    with _locked(target.parent):
        _remove_stale(target)
        if folder:
            new.mkdir()
        else:
            new.touch(exist_ok=False)
        return new, _try_lock(new)


def _remove_stale(target: Path) -> None:
    olds = _leftovers(target, "old") if target.exists() else []
    for entry in [*_leftovers(target, "new"), *olds]:
        lock = _try_lock(entry)
        if lock is None:  # somebody is writing it, or nobody can tell
            continue
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
        _release(lock)


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


def _release(lock: int | None) -> None:
    if lock is not None:
        os.close(lock)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Holds the folder's lock, where there are locks: nobody clears up or swaps meanwhile.

    A folder that is still being made is locked by its maker already.
    """
    if fcntl is None or ".shoal-new-" in folder.name:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


# --- The swap ------------------------------------------------------------------------------


def _check_target(target: Path, path: str | Path, *, force: bool, marker: str | None) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise InputError("output-file", f'"{path}" is a file.', "Name a folder.")
    if not force:
        raise InputError(
            "output-exists", f'"{path}" exists already.', "Name another folder, or use force."
        )
    here, home = Path.cwd(), Path("~").expanduser().resolve()
    if target in (here, home, *here.parents, *home.parents):
        raise InputError(
            "output-precious",
            f'"{path}" holds the working folder or the home folder.',
            "Name a folder below it.",
        )
    if marker is not None and any(target.iterdir()) and not (target / marker).is_file():
        raise InputError(
            "output-foreign",
            f'"{path}" holds no "{marker}", so it is not a folder that shoal made.',
            "Name another folder, or remove this one yourself.",
        )


def _swap(new: Path, target: Path) -> Path | None:
    """Puts `new` into place; returns where the old folder is now, if there was one."""
    if not target.exists():
        new.rename(target)
        return None
    shutil.copymode(target, new)
    if _exchange(new, target):
        return new
    old = _hidden(target, "old")
    target.rename(old)
    try:
        new.rename(target)
    except BaseException:
        old.rename(target)
        raise
    return old


def _exchange(one: Path, other: Path) -> bool:
    """Exchanges two names in one step; False where the system cannot."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    if rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number), str(other))


# --- To disk, and what can go wrong --------------------------------------------------------


def _flush(path: Path) -> None:
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _flush_tree(folder: Path) -> None:
    for parent, _, files in os.walk(folder):
        for name in files:
            _flush(Path(parent) / name)
        _flush(Path(parent))


@contextmanager
def _explained(path: str | Path) -> Iterator[None]:
    """Turns a full disk, a missing folder or missing rights at the output into an InputError."""
    parent = _real(path).parent
    try:
        yield
    except OSError as error:
        failed = parent if error.filename is None else Path(os.fsdecode(error.filename))
        if failed != parent and parent not in failed.parents:
            raise
        if failed == parent and isinstance(error, FileNotFoundError | NotADirectoryError):
            raise InputError(
                "output-parent", f'There is no folder "{parent}" to write to.', "Make it first."
            ) from None
        raise InputError(
            "output-failed",
            f'"{path}" cannot be written: {error.strerror or error}.',
            "Nothing was changed; free some space, change the rights, or write elsewhere.",
        ) from None
