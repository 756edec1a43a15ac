"""Events beside a column: what their entries stand for, as values that occur in it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from shoal.arrays import Ints
from shoal.data.spec import MISSING, Event, InputWarning
from shoal.data.spec.events import Compared, Entry, Listed, Matched, parse_entry, without
from shoal.data.table.alike import skeleton
from shoal.data.table.coding import Column
from shoal.data.table.hierarchy import read_hierarchy
from shoal.data.table.scale import Dates, Numbers, scale_of
from shoal.errors import InputError, nearest
from shoal.memory import read_text

SHOWN_NEAR, SHOWN_VALUES = 3, 5


def resolve_events(
    events: Iterable[Event], column: Column, rows: Callable[[], Ints], *, recoded: bool = False
) -> tuple[Event, ...]:
    """The events with the values of the column that their entries stand for, in the column's order;
    an event that names values only stays as it is. `rows` counts the rows of each value; a column
    that was `recoded` may hold others than the user knows."""
    beside = _Beside(column, rows, recoded)
    resolved = tuple(beside.resolve(event) for event in events)
    owner: dict[str, Event] = {}
    for event in resolved:
        for value in event.values:
            if value in owner:
                raise InputError(
                    "event-overlap",
                    f'The value "{value}" of "{column.name}" belongs to the events '
                    f'"{owner[value].label}" and "{event.label}".',
                    "Put each value into one event.",
                )
            owner[value] = event
    return resolved


@dataclass(frozen=True)
class _Beside:
    """What entries stand for in one column."""

    column: Column
    rows: Callable[[], Ints]
    recoded: bool

    @cached_property
    def known(self) -> set[str]:
        return set(self.column.labels)

    @cached_property
    def scale(self) -> Numbers | Dates | None:
        return scale_of(self.column)

    def resolve(self, event: Event) -> Event:
        if self.known.issuperset(event.values):
            return event
        added: set[str] = set()
        taken: dict[str, set[str]] = {}
        for text in event.values:
            negated, body = (False, text) if text in self.known else without(text)
            if negated:
                taken[text] = set(self.covered(body))
            else:
                added.update(self.covered(text))
        if len(taken) == len(event.values):
            added = self.known - {MISSING}
        for text, less in taken.items():
            if not added & less:
                raise InputError(
                    "event-form",
                    f'In the event "{event.label}", "{text}" takes nothing away.',
                    'Write "not" before each value that is left out: not a|not b.',
                )
        held = added.difference(*taken.values())
        if not held:
            raise InputError(
                "event-empty",
                f'The event "{event.label}" covers no value of "{self.column.name}".',
                "Leave something in it.",
            )
        return replace(event, values=tuple(one for one in self.column.labels if one in held))

    def covered(self, text: str) -> Sequence[str]:
        """The values that one entry stands for: at least one, or an InputError."""
        if text in self.known:
            return [text]
        front = f"{self.column.name}="
        if text.startswith(front):
            return self.covered(text.removeprefix(front).strip())
        entry = parse_entry(text, self.column.name)
        if isinstance(entry, Listed):
            return self.under(entry) if entry.node is not None else self.listed(entry)
        found = self.equal(text) if entry is None else self.spanned(text, entry)
        if not found:
            raise InputError(
                "value-missing",
                f'The protected value "{text}" never occurs in "{self.column.name}"'
                f"{self.near(text, entry)}.",
                f"Protect values that occur in the table{self.instead()}.",
            )
        return found

    def instead(self) -> str:
        """Values of a column that was recoded, which a user may not have in mind."""
        shown = ", ".join(f'"{label}"' for label in self.column.labels[:SHOWN_VALUES])
        return f" as it is recoded, such as {shown}" if self.recoded else ""

    def equal(self, text: str) -> list[str]:
        """The value of a column of numbers that a text is another way to write: 3.0 for 3."""
        if not self.column.numeric or not isinstance(self.scale, Numbers):
            return []
        return self.scale.equal(text)

    def spanned(self, text: str, entry: Entry) -> list[str]:
        """The values in a range, beyond a bound, or that match a pattern."""
        if isinstance(entry, Matched):
            texts = (label for label in self.column.labels if label != MISSING)
            return [label for label in texts if entry.pattern.fullmatch(label)]
        assert not isinstance(entry, Listed), "files are read elsewhere"
        if self.scale is None:
            return []
        compared = isinstance(entry, Compared)
        found = self.scale.compared(entry) if compared else self.scale.ranged(entry)  # type: ignore[arg-type]
        if found is None:
            raise InputError(
                "event-form",
                f'"{text}" is no range of "{self.column.name}", which holds {self.scale.kind}.',
                "Write numbers as >= 40 or 290..319, dates as 2020-03-01..2020-05-31, the smaller "
                "end first.",
            )
        return found

    def listed(self, entry: Listed) -> list[str]:
        """What the lines of a file stand for; lines that never occur are warned of."""
        lines: list[str] = []
        absent: list[str] = []
        for line in _lines(entry.path):
            try:
                lines += self.covered(line)
            except InputError as error:
                if error.code != "value-missing":
                    raise
                absent.append(line)
        name = Path(entry.path).name
        if not lines:
            raise InputError(
                "value-missing",
                f'Nothing in the file "{name}" ever occurs in "{self.column.name}".',
                "Write one value or entry in each line, as the table has them.",
            )
        if absent:
            more = f", and {len(absent) - SHOWN_NEAR:,} more" if len(absent) > SHOWN_NEAR else ""
            shown = ", ".join(f'"{line}"' for line in absent[:SHOWN_NEAR])
            warnings.warn(
                f'Of the file "{name}", {len(absent):,} never occur in "{self.column.name}": '
                f"{shown}{more}.",
                InputWarning,
                stacklevel=2,
            )
        return lines

    def under(self, entry: Listed) -> list[str]:
        """The values of the column below a node of a hierarchy."""
        hierarchy = read_hierarchy(entry.path, name=self.column.name)
        if hierarchy.widths is not None:
            hierarchy = hierarchy.bind(self.column.values.to_list())
        below = {path[0] for path in hierarchy.paths if entry.node in path[1:]}
        name = Path(entry.path).name
        if not below:
            nodes = {label for path in hierarchy.paths for label in path[1:]}
            raise InputError(
                "event-file",
                f'The hierarchy "{name}" has no node "{entry.node}"'
                f"{nearest(str(entry.node), nodes)}.",
                "Name a label that stands above values.",
            )
        found = [label for label in self.column.labels if label in below and label != MISSING]
        if not found:
            raise InputError(
                "value-missing",
                f'No value below "{entry.node}" of "{name}" ever occurs in "{self.column.name}".',
                "Protect values that occur in the table.",
            )
        return found

    def near(self, text: str, entry: Entry | None) -> str:
        """What occurs instead: values that look alike with their rows, the ends of the scale."""
        ordered = entry is not None and not isinstance(entry, Matched)
        if ordered and self.scale is not None:
            places = sorted(self.scale.places, key=self.scale.places.__getitem__)
            return f", which reaches from {places[0]} to {places[-1]}" if places else ""
        bare = self.equal(re.sub(r"^[^\d.-]+|[^\d.]+$", "", text))  # a unit is no part of numbers
        wanted = {skeleton(one) for one in (text, *bare)}
        alike = [code for code, one in enumerate(self.column.labels) if skeleton(one) in wanted]
        if not alike:
            unordered = ", whose values are neither numbers nor dates" if ordered else ""
            return nearest(text, self.known) or unordered
        rows, shown = self.rows(), alike[:SHOWN_NEAR]
        times = (f'"{self.column.labels[code]}" occurs {_times(int(rows[code]))}' for code in shown)
        return f"; {', '.join(times)}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _lines(path: str) -> list[str]:
    try:
        text = read_text(path, "utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            "event-file",
            f'The file "{path}" of a protected event could not be read: {error}.',
            "Give the path of a UTF-8 text file.",
        ) from None
    return [line.strip() for line in text.splitlines() if line.strip()]
