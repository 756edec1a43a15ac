"""A release and its private folder are a pair: the latter says to which release it belongs."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path

from shoal.errors import InputError
from shoal.file_names import CERTIFICATE

ROW_GROUPS = "row_groups.parquet"
CELL_GROUPS = "cell_groups.parquet"
KEY_GROUPS = "key_groups.parquet"
SEED = "seed.json"
PAIR = "release.json"


def by_row(private: str | Path | None) -> bool:
    """Whether a private folder says which row is in which group."""
    return private is not None and (Path(private) / ROW_GROUPS).is_file()


def has_record(private: Path) -> bool:
    """Whether a folder says who is in which group, by row or by cell."""
    return any((private / name).is_file() for name in (ROW_GROUPS, CELL_GROUPS))


def name_release(private: Path, release: Path) -> None:
    """Writes into the private folder to which release it belongs."""
    named = json.dumps({"certificate": sha256(release / CERTIFICATE)}, indent=2)
    (private / PAIR).write_text(named + "\n", encoding="utf-8")


def belong_together(release: Path, private: Path) -> bool:
    """Whether the private folder was written with the release. Folders of older versions do not
    say, and are taken for what they are said to be."""
    if not is_recorded(private):
        return True
    try:
        named = json.loads((private / PAIR).read_text(encoding="utf-8"))["certificate"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    return bool(named == sha256(release / CERTIFICATE))


def is_recorded(private: str | Path | None) -> bool:
    """Whether a private folder says to which release it belongs."""
    return private is not None and (Path(private) / PAIR).is_file()


def refuse_strangers(release: Path, private: Path) -> None:
    """An InputError unless the two belong together."""
    if not belong_together(release, private):
        raise InputError(
            "private-stranger",
            f'"{private}" belongs to another release than "{release}".',
            "Name the private folder that was written with this release.",
        )


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# Tables of a release that are folders of parts: one after the other, these are the table.

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
