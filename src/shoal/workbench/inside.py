"""Paths that stay inside the project's folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from shoal.data.sources.formats import file_kind
from shoal.errors import InputError

DEEPEST, MOST = 4, 500
LONGEST_NAME, LONGEST_PATH = 255, 1000
"""In bytes; longer ones are no files on any usual system."""


def inside(folder: Path, given: str) -> str:
    """A path below a folder, as commands take it there; an InputError for any other."""
    path = Path(os.path.normpath(folder / given))
    if not given or "\0" in given or folder not in path.parents or _too_long(given):
        raise InputError(
            "project-path",
            "This is no place in the project's folder.",
            "Choose one of those that are listed, or put the file there first.",
        )
    plain = str(path.relative_to(folder))
    return f"./{plain}" if plain.startswith("-") else plain  # no option of a command


def _too_long(given: str) -> bool:
    names = [len(os.fsencode(name)) for name in given.split("/")]
    return max(names) > LONGEST_NAME or sum(names) > LONGEST_PATH


def table_files(folder: Path) -> list[str]:
    """The files that can be tables, without what runs made."""
    found = (file for file in _files(folder, {"runs"}) if file_kind(Path(file)) is not None)
    return list(islice(found, MOST))


def folders_with(folder: Path, name: str) -> Iterator[str]:
    """The folders that hold a file of that name."""
    found = (file for file in _files(folder, set()) if Path(file).name == name)
    return (str(Path(file).parent) for file in islice(found, MOST))


def _files(folder: Path, left_out: set[str]) -> Iterator[str]:
    for here, folders, names in os.walk(folder):
        place = Path(here).relative_to(folder)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and (place.parts or name not in left_out)
        )
        if len(place.parts) == DEEPEST:
            folders.clear()
        yield from (str(place / name) for name in sorted(names) if not name.startswith("."))
