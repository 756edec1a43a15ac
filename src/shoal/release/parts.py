"""Tables of a release that are folders of parts: one after the other, these are the table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_PART = re.compile(r"((?:qi|sensitive)\.(csv|parquet))/part-([0-9]{5})\.\2", re.ASCII)


def files_of(folder: Path, name: str) -> tuple[str, ...]:
    """The files of a table: the one of its name, or the parts in the folder of that name."""
    if not (folder / name).is_dir():
        return (name,)
    return tuple(sorted(f"{name}/{file.name}" for file in (folder / name).iterdir()))


def parts_among(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The parts of each table that has some, by the table's name, in order."""
    found: dict[str, tuple[str, ...]] = {}
    for name in sorted(names):
        if is_part(name):
            table = name.partition(".")[0]
            found[table] = (*found.get(table, ()), name)
    return found


def is_part(name: str) -> bool:
    """Whether a file goes by the name of a part."""
    return _PART.fullmatch(name) is not None


def without_gaps(parts: Iterable[str]) -> bool:
    """Whether parts are numbered from nought on."""
    numbers = [int(found[3]) for name in parts if (found := _PART.fullmatch(name))]
    return numbers == list(range(len(numbers)))
