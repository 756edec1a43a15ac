"""Replaces files and folders whole: a reader finds the old one or the new one, never half of one.

New content is made under a hidden name beside the target, forced to disk, and renamed at the end.
Several folders that belong together are replaced together.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from shoal.data.storage.hidden import begin, flush, flush_tree, notice_of, release
from shoal.data.storage.location import redact, source_path
from shoal.data.storage.moves import move_into_place, settled
from shoal.errors import InputError


class Place(NamedTuple):
    """Where a folder goes."""

    path: str | Path
    marker: str | None = None
    """A file that an older folder in this place holds if shoal made it: no other is replaced."""


@contextmanager
def replace_file(path: str | Path) -> Iterator[Path]:
    """Gives the path of a new file to write; it takes the place of `path` at the end.

    On any failure the new file is removed, and an old one stays as it was.
    """
    target = _real(path)
    with _explained(path):
        if target.is_dir():
            raise InputError("output-place", f'"{path}" is a folder.', "Name a file.")
        new, lock = begin(target, folder=False)
        try:
            yield new
            flush(new)
            if target.exists():
                shutil.copymode(target, new)
            new.replace(target)
            flush(target.parent)
        finally:
            new.unlink(missing_ok=True)
            release(lock)


@contextmanager
def replace_folder(
    path: str | Path, *, force: bool = False, marker: str | None = None
) -> Iterator[Path]:
    """Gives a new folder to fill; it becomes `path` at the end, or is removed on any failure.

    An existing folder is refused unless `force`; then it is replaced, provided that it is empty
    or holds the file `marker` (if one is named), so that a slip does not cost another folder.
    """
    with replace_folders([Place(path, marker)], force=force) as news:
        yield news[0]


@contextmanager
def replace_folders(places: Sequence[Place], *, force: bool = False) -> Iterator[list[Path]]:
    """Gives new folders to fill, one for each place; at the end all of them take their places, or
    none does. A kill between leaves a state that `recover_folder` mends."""
    targets = [_real(place.path) for place in places]

    def check() -> None:
        for target, place in zip(targets, places, strict=True):
            _check_target(target, place, force=force)

    with _explained(*(place.path for place in places)):
        with settled(targets):
            check()
        with _new_folders(targets) as news:
            yield news
            for new in news:
                flush_tree(new)
            with settled(targets):
                check()
                move_into_place(news, targets)


@contextmanager
def _new_folders(targets: Sequence[Path]) -> Iterator[list[Path]]:
    """New folders beside the targets. What goes by their names at the end is half done, or an old
    folder, unless it is still to be moved."""
    with ExitStack() as stack:
        news: list[Path] = []
        try:
            for target in targets:
                new, lock = begin(target, folder=True)
                stack.callback(release, lock)
                news.append(new)
            yield news
        finally:
            if not any(notice_of(target).exists() for target in targets):
                for new in news:
                    shutil.rmtree(new, ignore_errors=True)


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


def _real(path: str | Path) -> Path:
    return Path(path).resolve()


def _check_target(target: Path, place: Place, *, force: bool) -> None:
    path, marker = place
    if not target.exists():
        return
    if not target.is_dir():
        raise InputError("output-place", f'"{path}" is a file.', "Name a folder.")
    if not force:
        raise InputError(
            "output-exists", f'"{path}" exists already.', "Name another folder, or use force."
        )
    here, home = Path.cwd(), Path("~").expanduser().resolve()
    if target in (here, home, *here.parents, *home.parents):
        raise InputError(
            "output-foreign",
            f'"{path}" holds the working folder or the home folder.',
            "Name a folder below it.",
        )
    if marker is not None and any(target.iterdir()) and not (target / marker).is_file():
        raise InputError(
            "output-foreign",
            f'"{path}" holds no "{marker}", so it is not a folder that shoal made.',
            "Name another folder, or remove this one yourself.",
        )


@contextmanager
def _explained(*paths: str | Path) -> Iterator[None]:
    """Turns a full disk, a missing folder or missing rights at an output into an InputError."""
    try:
        yield
    except OSError as error:
        failed = None if error.filename is None else Path(os.fsdecode(error.filename))
        concerned = [path for path in paths if failed is None or _concerns(failed, path)]
        if not concerned:
            raise
        parent = _real(concerned[0]).parent
        if failed == parent and isinstance(error, FileNotFoundError | NotADirectoryError):
            raise InputError(
                "output-place", f'There is no folder "{parent}" to write to.', "Make it first."
            ) from None
        named = " or ".join(f'"{path}"' for path in concerned)
        raise InputError(
            "output-failed",
            f"{named} cannot be written: {error.strerror or error}.",
            "Nothing was changed; free some space, change the rights, or write elsewhere.",
        ) from None


def _concerns(failed: Path, path: str | Path) -> bool:
    """Whether something failed at an output, by its own name or a hidden one, or at its parent."""
    target = _real(path)
    if failed == target.parent:
        return True
    if target.parent not in failed.parents:
        return False
    name = failed.relative_to(target.parent).parts[0]
    return name == target.name or name.startswith(f".{target.name}.shoal-")
