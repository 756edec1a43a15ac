"""Events: what must not be linked to anybody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.errors import InputError
from shoal.spec.checks import checked_names, checked_r


@dataclass(frozen=True)
class Event:
    """A protected event: one value of the sensitive attribute, or several taken as one."""

    values: tuple[str, ...]
    """The sensitive values that make up the event."""
    label: str = ""
    """What the event is called, and how it is published; the values joined by `|` by default."""
    r: float | None = None
    """The event's own r; None means the spec's."""

    def __post_init__(self) -> None:
        values = checked_names(self.values, "protect")
        if not values:
            raise InputError(
                "event-empty", "A protected event has no values.", "Name at least one value."
            )
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "label", str(self.label or "|".join(values)))
        if self.r is not None:
            object.__setattr__(self, "r", checked_r(self.r))

    @property
    def is_set(self) -> bool:
        return len(self.values) > 1


EventLike = Event | str | Sequence[str] | Mapping[str, Any]


def as_event(given: EventLike) -> Event:
    """An Event from what a caller may write: an Event, a value, values, or a mapping."""
    if isinstance(given, Event):
        return given
    if isinstance(given, Mapping):
        unknown = set(given) - {"values", "label", "r"}
        if unknown or "values" not in given:
            raise InputError(
                "event-key",
                f"A protected event was given as {dict(given)!r}.",
                "Write values = [...], and if you like label and r.",
            )
        return Event(
            checked_names(given["values"], "protect"), given.get("label", ""), given.get("r")
        )
    return Event(checked_names(given, "protect"))


def parse_event(text: str) -> Event:
    """An event from the command line: `a|b`, or `a|b@r=5` for an r of its own."""
    body, mark, own = text.rpartition("@r=")
    return Event(tuple((body if mark else text).split("|")), r=checked_r(own) if mark else None)
