"""Events: what must not be linked to anybody."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, time
from itertools import product
from numbers import Number
from pathlib import Path
from typing import Any

from shoal.data.spec.checks import checked_names, checked_r
from shoal.errors import InputError, nearest

# How an event's entries are written: a value, or a text that stands for several.
#
# Every entry is plain text, alike in Python, in TOML and on the command line. What it stands for
# is known only beside a column, where a value that occurs always wins (shoal.data.table.events).
#
#     HIV                          a value
#     >= 40, > 40, <= 40, < 40     numbers or dates, compared exactly
#     290..319, 2020-03..2020-05   from one to the other, both included with all that begins like th
#     B2*, B2?                     a pattern: * is any text, ? any one character
#     not B24                      without B24: everything else, or the event's other entries less i
#     @codes.txt                   the entries in a file, one in each line
#     @icd.csv:Mental disorders    the values below a node of a hierarchy

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


@dataclass(frozen=True)
class Event:
    """A protected event: one value of a sensitive column, or several taken as one."""

    values: tuple[str, ...]
    """The sensitive values that make up the event, or entries that stand for several: `>= 40`,
    `290..319`, `B2*`, `not X`, `@codes.txt`, `@icd.csv:node`. A Table's events hold values."""
    label: str = ""
    """What the event is called, and how it is published; the entries joined by `|` by default."""
    r: float | None = None
    """The event's own r; None means the spec's."""
    column: tuple[str, ...] = ()
    """Of several sensitive columns those that the event is of: it is carried by whoever has one of
    the values in any of them."""

    def __post_init__(self) -> None:
        values = entry_texts(self.values, "protect")
        if not values:
            raise InputError(
                "event-empty", "A protected event has no values.", "Name at least one value."
            )
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "label", str(self.label or _label(values)))
        if self.r is not None:
            object.__setattr__(self, "r", checked_r(self.r))
        object.__setattr__(self, "column", checked_names(self.column or (), "column"))

    @property
    def name(self) -> str:
        """What the event is called among those of all columns."""
        return f"{' or '.join(self.column)}: {self.label}" if self.column else self.label

    @property
    def is_set(self) -> bool:
        return len(self.values) > 1


Scalar = str | float | date
EventLike = Event | Scalar | Sequence[Scalar] | Mapping[str, Any]


def as_event(given: EventLike) -> Event:
    """An Event from what a caller may write: an Event, a value, values, or a mapping."""
    if isinstance(given, Event):
        return given
    if isinstance(given, Mapping):
        unknown = set(given) - {"values", "label", "r", "column"}
        if unknown or "values" not in given:
            raise InputError(
                "event-form",
                f"A protected event was given as {dict(given)!r}.",
                "Write values = [...], and if you like column, label and r.",
            )
        values = entry_texts(given["values"], "protect")
        return Event(values, given.get("label", ""), given.get("r"), given.get("column", ()))
    return Event(entry_texts(given, "protect"))


def parse_event(text: str) -> Event:
    """An event from the command line: entries as `a|b`, or `a|b@r=5` for an r of its own."""
    body, mark, own = text.rpartition("@r=")
    return Event(tuple((body if mark else text).split("|")), r=checked_r(own) if mark else None)


def of_columns(event: Event, columns: Sequence[str]) -> Event:
    """An event of one or several sensitive columns, whose values may begin with the name of the
    column: `BMI >= 40`; where there are several also `asthma=yes`, and `a,b=yes` for any of two."""
    if event.column:
        if len(columns) == 1 and event.column == tuple(columns):
            return replace(event, column=())
        return event
    first, *more = event.values
    named, rest = _split(first, columns)
    if not named:
        return event
    values = (rest, *more)
    label = _label(values) if event.label == _label(event.values) else event.label
    return replace(event, values=values, label=label, column=named if len(columns) > 1 else ())


def _split(text: str, columns: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """The columns that a text begins with, and the rest; none if it begins with no column."""
    for name in sorted(columns, key=len, reverse=True):
        rest = text.removeprefix(name).lstrip() if text.startswith(name) else ""
        if rest.startswith((">", "<")):
            return (name,), rest
        if len(columns) > 1 and rest.startswith("="):
            return (name,), rest[1:].lstrip()
        if len(columns) > 1 and rest.startswith(","):
            others, value = _split(rest[1:].lstrip(), columns)
            if others:
                return (name, *others), value
    return (), text


def labelled(event: Event, labels: Mapping[str, str]) -> Event:
    """An event whose codes are called by their labels, as values are that stand for the same."""
    known = set(labels.values())

    def named(text: str) -> str:
        taken, body = without(text)
        if text in known or (found := labels.get(text, labels.get(body))) is None:
            return text
        return f"{NOT}{found}" if taken and text not in labels else found

    values = dict.fromkeys(map(named, event.values))
    if tuple(values) == event.values:
        return event
    label = _label(tuple(values)) if event.label == _label(event.values) else event.label
    return replace(event, values=tuple(values), label=label)


def entry_texts(given: Any, what: str) -> tuple[str, ...]:
    """Values or entries as texts; numbers and dates as they are shown in a column."""
    if isinstance(given, Number | date | time):
        given = [given]
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        given = [_text(one) for one in given]
    return checked_names(given, what)


def _text(value: Any) -> Any:
    if isinstance(value, Number) and str(value) in ("True", "False"):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else value


def _label(values: tuple[str, ...]) -> str:
    return "|".join(dict.fromkeys(entry_label(value) for value in values))


def check_events(events: tuple[Event, ...] | None, columns: Sequence[str]) -> None:
    """An InputError for events that name nothing, the same twice, or no column of theirs."""
    if events == ():
        raise InputError(
            "event-empty",
            "protect names no event, so nothing would be protected.",
            "Name an event, or leave protect out to protect each value.",
        )
    seen: set[tuple[str, str]] = set()
    for event in events or ():
        for pair in product(event.column or columns, event.values):
            if pair in seen:
                raise InputError(
                    "event-overlap",
                    f'The value "{pair[1]}" is protected twice.',
                    "Put each value into one event.",
                )
            seen.add(pair)
    _check_columns(events or (), columns)
    labels = [event.name for event in events or ()]
    if len(set(labels)) < len(labels):
        raise InputError(
            "event-label", "Two protected events have the same label.", "Rename one of them."
        )


def check_apart(events: tuple[Event, ...] | None, columns: Sequence[str]) -> None:
    """An InputError where columns cannot be published apart."""
    if len(columns) == 1:
        raise InputError(
            "apart",
            f'publish_apart is for several sensitive columns, and "{columns[0]}" is the only one.',
            "Leave it out, or name the others as sensitive too.",
        )
    for event in events or ():
        if len(event.column) > 1:
            raise InputError(
                "apart",
                f'The event "{event.label}" is one of several columns, and once these are '
                "permuted apart nobody can say how many people have it.",
                "Name an event for each column, or leave publish_apart out.",
            )


def _check_columns(events: Sequence[Event], columns: Sequence[str]) -> None:
    for event in events:
        strange = [name for name in event.column if name not in columns]
        if strange:
            raise InputError(
                "event-column",
                f'The event "{event.label}" is of "{strange[0]}", which is no sensitive column'
                f"{nearest(strange[0], columns)}.",
                "Name that column as sensitive too, or give the event another.",
            )
        name, equals, value = event.values[0].partition("=")
        if len(columns) > 1 and not event.column and equals:
            raise InputError(
                "event-column",
                f'"{name.strip()}" is no sensitive column{nearest(name.strip(), columns)}.',
                f"Write one of them before the value, as {columns[0]}={value.strip()}.",
            )
        if len(columns) > 1 and not event.column:
            raise InputError(
                "event-column",
                f'The event "{event.label}" does not say which of {len(columns)} sensitive '
                "columns it is of.",
                f'Write {columns[0]}={event.values[0]}, or in a spec file column = "{columns[0]}".',
            )
    named = {name for event in events for name in event.column}
    without = [name for name in columns if name not in named]
    if len(columns) > 1 and without:
        raise InputError(
            "event-column",
            f'No event of the sensitive column "{without[0]}" is protected.',
            f"Name one, as {without[0]}=yes, or take the column out of sensitive.",
        )
