"""What is asked of sensitive columns, in their own values: events, and what is published."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from shoal.arrays import IntArray, Ints
from shoal.data.spec import Event, Spec
from shoal.data.table.coding import Column
from shoal.data.table.events import resolve_events
from shoal.errors import InputError


def column_events(
    members: Column, spec: Spec, rows: Callable[[], Ints]
) -> tuple[Spec, tuple[Event, ...]]:
    """The events in the column's own values, and the spec with these."""
    if len(members) == 1:
        raise InputError(
            "sensitive-constant",
            f'The sensitive column "{members.name}" has one value, "{members.labels[0]}": '
            "everybody is known to have it.",
            "Choose a column that differs between people.",
        )
    if spec.protect is None:
        return spec, tuple(Event((label,)) for label in members.labels)
    known = set(members.labels)
    is_recoded = members.name in dict(spec.recode)
    events = resolve_events(spec.protect, members, rows, recoded=is_recoded)
    for event in events:
        values = set(event.values)
        if event.is_set and event.label in known and event.label not in values:
            raise InputError(
                "event-label",
                f'The event label "{event.label}" is also a value of "{members.name}" outside it.',
                "Choose another label.",
            )
        if known <= values:
            raise InputError(
                "event-everything",
                f'The event "{event.label}" covers every value of "{members.name}".',
                "Leave at least one value outside it.",
            )
    return (spec if events == spec.protect else spec.with_(protect=events)), events


def specs_alone(spec: Spec, columns: Sequence[Column]) -> list[Spec]:
    """What is asked of each column. A value that an event of several columns names for another of
    them is none of a column that does not have it."""
    if len(columns) == 1:
        return [spec]
    known = {column.name: set(column.labels) for column in columns}

    def mine(event: Event, name: str) -> Event:
        others = set().union(*(known[other] for other in event.column))
        kept = [one for one in event.values if one in known[name] or one not in others]
        return replace(event, values=tuple(kept or event.values), column=())

    return [
        spec.alone(name).with_(
            protect=[mine(event, name) for event in spec.protect or () if name in event.column]
        )
        for name in known
    ]


def published_values(
    members: Column, events: tuple[Event, ...], spec: Spec
) -> tuple[tuple[str, ...], IntArray, IntArray]:
    """Published values, the published code of each member, the event of each published value."""
    event_of = {value: e for e, event in enumerate(events) for value in event.values}
    shown = [
        label
        if spec.publish_members or label not in event_of
        else (events[event_of[label]].label if events[event_of[label]].is_set else label)
        for label in members.labels
    ]
    values = tuple(dict.fromkeys(shown))
    code = {value: position for position, value in enumerate(values)}
    member_value = np.array([code[label] for label in shown], dtype=np.int32)
    value_event = np.full(len(values), -1, dtype=np.int32)
    for label, value in zip(members.labels, member_value, strict=True):
        value_event[value] = event_of.get(label, -1)
    return values, member_value, value_event
