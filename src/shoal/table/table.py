"""Table: a table of people, coded as integers and compressed to signatures.

Everything that a person is to the adversary is their combination of QI values, the full
*signature*. `n` rows become `M` signatures and, for each of them, a count per sensitive value;
knowledge, search and audit run on those, and rows are touched only on reading and writing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, nearest
from shoal.spec import Event, Spec
from shoal.table.coding import Column, IntArray, code_column, digits, factorize
from shoal.table.frames import to_polars


@dataclass(frozen=True, eq=False)
class Table:
    """A coded table. Make one with `Table.from_frame`."""

    spec: Spec
    qi: tuple[Column, ...]
    members: Column
    """The sensitive column as it stands in the table."""
    values: tuple[str, ...]
    """The sensitive values as published: a set event stands under its label."""
    member_value: IntArray
    """For each member code, the code of the published value that stands for it."""
    events: tuple[Event, ...]
    value_event: IntArray
    """For each published value, its event, or -1 for filler."""
    row_signature: IntArray
    row_member: IntArray
    signatures: IntArray
    """One row of QI codes per signature, in lexicographic order."""
    native: Any
    """The frame that the table was made from, as the caller gave it; None if it was not kept."""

    @classmethod
    def from_frame(cls, frame: Any, spec: Spec, *, keep: bool = True) -> Table:
        """Codes a pandas, Polars or PyArrow frame, after checking it against the spec. Without
        `keep` the frame itself can be forgotten: all but `shoal.plan` needs the codes only."""
        data = to_polars(frame)
        _check_columns(data, spec)
        coded = [code_column(data[name]) for name in spec.qi]
        members, row_member = code_column(data[spec.sensitive])
        events = _events(members, spec)
        values, member_value, value_event = _published(members, events, spec)
        sizes = [len(column) for column, _ in coded]
        row_signature, keys = factorize([codes for _, codes in coded], sizes)
        return cls(
            spec=spec,
            qi=tuple(column for column, _ in coded),
            members=members,
            values=values,
            member_value=member_value,
            events=events,
            value_event=value_event,
            row_signature=row_signature,
            row_member=row_member,
            signatures=digits(keys, sizes),
            native=frame if keep else None,
        )

    @property
    def rows(self) -> int:
        return len(self.row_signature)

    @cached_property
    def row_value(self) -> IntArray:
        """The published value of each row."""
        return self.member_value[self.row_member]

    @cached_property
    def row_event(self) -> IntArray:
        """The event that each row carries, or -1."""
        return self.value_event[self.row_value]

    @cached_property
    def signature_rows(self) -> NDArray[np.int64]:
        """How many rows each signature has."""
        return np.bincount(self.row_signature, minlength=len(self.signatures))

    @cached_property
    def cells(self) -> tuple[IntArray, IntArray, NDArray[np.int64]]:
        """The table compressed: (signature, published value, rows), for rows > 0, in order."""
        return self._counted(self.row_value, len(self.values))

    @cached_property
    def member_cells(self) -> tuple[IntArray, IntArray, NDArray[np.int64]]:
        """The same with the sensitive values as they stand in the table."""
        return self._counted(self.row_member, len(self.members))

    def _counted(self, codes: IntArray, size: int) -> tuple[IntArray, IntArray, NDArray[np.int64]]:
        sizes = [len(self.signatures), size]
        inverse, keys = factorize([self.row_signature, codes], sizes)
        parts = digits(keys, sizes)
        return parts[:, 0], parts[:, 1], np.bincount(inverse, minlength=len(keys))

    @cached_property
    def value_rows(self) -> NDArray[np.int64]:
        """How many rows carry each published value."""
        return np.bincount(self.row_value, minlength=len(self.values))

    @cached_property
    def event_r(self) -> NDArray[np.float64]:
        """The r of each event."""
        return np.array([event.r or self.spec.r for event in self.events], dtype=np.float64)

    def describe(self, signature: int) -> dict[str, str]:
        """A signature's QI values, as text."""
        codes = self.signatures[signature]
        return {
            column.name: column.labels[code] for column, code in zip(self.qi, codes, strict=True)
        }


def _check_columns(data: pl.DataFrame, spec: Spec) -> None:
    if data.height == 0:
        raise InputError("table-empty", "The table has no rows.", "Give a table with people in it.")
    if data.height == 1:
        raise InputError(
            "table-one-row", "The table has one row, so nobody can hide.", "Give more rows."
        )
    roles = [("QI", name) for name in spec.qi] + [("sensitive", spec.sensitive)]
    for role, name in [*roles, *(("identifier", name) for name in spec.identifiers)]:
        if name not in data.columns:
            raise InputError(
                "column-missing",
                f'The {role} column "{name}" does not exist{nearest(name, data.columns)}.',
                f"Columns: {', '.join(data.columns)}.",
            )


def _events(members: Column, spec: Spec) -> tuple[Event, ...]:
    if len(members) == 1:
        raise InputError(
            "sensitive-constant",
            f'The sensitive column "{members.name}" has one value, "{members.labels[0]}": '
            "everybody is known to have it.",
            "Choose a column that differs between people.",
        )
    if spec.protect is None:
        return tuple(Event((label,)) for label in members.labels)
    known = set(members.labels)
    for event in spec.protect:
        for value in event.values:
            if value not in known:
                raise InputError(
                    "value-missing",
                    f'The protected value "{value}" never occurs in "{members.name}"'
                    f"{nearest(value, known)}.",
                    "Protect values that occur in the table.",
                )
        others = known - set(event.values)
        if event.is_set and event.label in others:
            raise InputError(
                "label-taken",
                f'The event label "{event.label}" is also a value of "{members.name}" outside it.',
                "Choose another label.",
            )
        if not others:
            raise InputError(
                "event-everything",
                f'The event "{event.label}" covers every value of "{members.name}".',
                "Leave at least one value outside it.",
            )
    return spec.protect


def _published(
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
