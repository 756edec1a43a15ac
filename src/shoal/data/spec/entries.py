"""How an event's entries are written: a value, or a text that stands for several.

Every entry is plain text, alike in Python, in TOML and on the command line. What it stands for is
known only beside a column, where a value that occurs always wins (shoal.data.table.events).

    HIV                          a value
    >= 40, > 40, <= 40, < 40     numbers or dates, compared exactly
    290..319, 2020-03..2020-05   from one to the other, both included with all that begins like them
    B2*, B2?                     a pattern: * is any text, ? any one character
    not B24                      without B24: everything else, or the event's other entries less it
    @codes.txt                   the entries in a file, one in each line
    @icd.csv:Mental disorders    the values below a node of a hierarchy
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_COMPARED = re.compile(r"(>=|<=|>|<)\s*(\S+)", re.DOTALL)
_RANGED = re.compile(r"(\S+?)\s*\.\.\s*(\S+)")
_LISTED = re.compile(r"@(.+?\.(?:csv|tsv|txt|toml))(?::(.+))?", re.IGNORECASE | re.DOTALL)
NOT = "not "


@dataclass(frozen=True)
class Compared:
    """Values on one side of a bound."""

    sign: str
    bound: str


@dataclass(frozen=True)
class Ranged:
    """Values from one end to the other."""

    low: str
    high: str


@dataclass(frozen=True)
class Matched:
    """Values that a pattern matches as a whole, capitals and small letters told apart."""

    pattern: re.Pattern[str]


@dataclass(frozen=True)
class Listed:
    """Entries in a file, or the values below a node of the hierarchy in it."""

    path: str
    node: str | None = None


Entry = Compared | Ranged | Matched | Listed


def parse_entry(text: str, column: str) -> Entry | None:
    """What a text stands for if it is no value of the column; None if it can only be a value. The
    column's own name may lead a comparison: `bmi >= 40`."""
    bare = text.strip()
    if listed := _LISTED.fullmatch(bare):
        return Listed(listed[1], listed[2])
    if compared := _COMPARED.fullmatch(bare.removeprefix(column).lstrip()):
        return Compared(compared[1], compared[2])
    if ranged := _RANGED.fullmatch(bare):
        return Ranged(ranged[1], ranged[2])
    if "*" in text or "?" in text:
        spelt = (".*" if sign == "*" else "." if sign == "?" else re.escape(sign) for sign in text)
        return Matched(re.compile("".join(spelt), re.DOTALL))
    return None


def entry_label(text: str) -> str:
    """An entry as it is shown: a file by its name alone, a node without its file."""
    taken, body = without(text)
    entry = parse_entry(body, "")
    if not isinstance(entry, Listed):
        return text
    return (NOT if taken else "") + (entry.node or Path(entry.path).stem)


def without(text: str) -> tuple[bool, str]:
    """Whether an entry says `not`, and what follows."""
    bare = text.strip()
    return (True, bare[len(NOT) :].strip()) if bare.startswith(NOT) else (False, text)


def located(text: str, place: Callable[[str], str]) -> str:
    """An entry whose file, if it names one, lies where `place` says."""
    taken, body = without(text)
    entry = parse_entry(body, "")
    if not isinstance(entry, Listed):
        return text
    node = "" if entry.node is None else f":{entry.node}"
    return f"{NOT if taken else ''}@{place(entry.path)}{node}"


def located_event(given: Any, place: Callable[[str], str]) -> Any:
    """An event as a spec file has it, with its files where `place` says."""
    if isinstance(given, str):
        return located(given, place)
    if isinstance(given, list):
        return [located_event(one, place) for one in given]
    if isinstance(given, Mapping) and "values" in given:
        return {**given, "values": located_event(given["values"], place)}
    return given
