"""Events: what must not be linked to anybody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, time
from itertools import product
from numbers import Number
from typing import Any

from shoal.data.spec.checks import checked_names, checked_r
from shoal.data.spec.entries import NOT, entry_label, without
from shoal.errors import InputError, nearest


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
