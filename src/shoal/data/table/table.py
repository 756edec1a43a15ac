"""Table: a table of people, coded as integers and compressed to signatures.

Everything that a person is to the adversary is their combination of QI values, the full
*signature*. `n` rows become `M` signatures and, for each of them, a count per sensitive value, the
*cells*; knowledge, search and audit run on those. The rows themselves may be elsewhere: only an
engine (shoal.engines) touches them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from shoal.arrays import Bools, Floats, IntArray, Ints
from shoal.data.spec import ROWS_OF_PERSON, Event, Spec, support_for
from shoal.data.table.coding import Column, code_column, digits, factorize
from shoal.data.table.frames import to_polars
from shoal.data.table.k_anonymity import Cost, shared
from shoal.data.table.persons import Persons, by_person, check_identifiers
from shoal.data.table.published import column_events, published_values, specs_alone
from shoal.data.table.several import Several
from shoal.data.table.survey import refuse_shared, weight_units
from shoal.display import counted
from shoal.errors import InputError, unknown
from shoal.wording import visible


class Cells(NamedTuple):
    """A table compressed: how many rows have which signature and sensitive value."""

    signature: IntArray
    value: IntArray
    rows: Ints


class RowCodes(NamedTuple):
    """Rows in codes."""

    signature: IntArray
    member: IntArray


class TableLines(NamedTuple):
    """Rows, or cells with their counts, as far as their QIs go."""

    qi: tuple[Column, ...]
    signatures: IntArray
    signature: IntArray
    """Of each line."""
    rows: Ints | None
    """How many people each line stands for; None: one each."""
    native: Any
    weight: Ints | None = None
    """The survey weights of its people together, in units."""

    def people(self, member: IntArray) -> RowCodes | None:
        """The lines with their sensitive values, if they are people."""
        return RowCodes(self.signature, member) if self.rows is None else None

    def counted(self, member: IntArray) -> RowCodes | None:
        """The lines with their sensitive values, if they are counts."""
        return None if self.rows is None else RowCodes(self.signature, member)


class Everybody(NamedTuple):
    """What is known of each person of a table."""

    signature: IntArray
    value: IntArray
    """The published value."""
    event: IntArray
    """The event carried, or -1."""


@dataclass(frozen=True, eq=False)
class Table:
    """A coded table. Make one with `Table.from_frame`, or from counted cells with `from_cells`."""

    spec: Spec
    """What is asked, its events as the values that their entries stand for in this table, and
    min_support as a number."""
    qi: tuple[Column, ...]
    members: Column
    """The sensitive column as it stands in the table."""
    values: tuple[str, ...]
    """The sensitive values as published: a set event stands under its label."""
    member_value: IntArray
    """For each member code, the code of the published value that stands for it."""
    events: tuple[Event, ...]
    value_event: IntArray
    """For each published value, its event (the first of them), or -1 for filler."""
    signatures: IntArray
    """One row of QI codes per signature, in lexicographic order."""
    member_cells: Cells
    """The table compressed: (signature, sensitive value as it stands there, rows), in order."""
    people: RowCodes | None
    """The rows in codes, if they are here."""
    native: Any
    """The frame that the table was made from, as the caller gave it; None if it was not kept."""
    several: Several | None = None
    """What values are made of, where there are several sensitive columns."""
    counted: RowCodes | None = None
    """The codes of each line that was counted, in the order given; None where rows were."""
    cost: Cost | None = None
    """What it cost that at least k people share every combination of QI values, if that was asked
    for."""
    source: Any = None
    """Where an engine can read the rows again, if it can."""
    persons: Persons | None = None
    """Whose rows are whose, if the spec names the column."""
    weights: Ints | None = None
    """For each of `member_cells`: the survey weights of its rows together, in units."""

    @classmethod
    def from_frame(cls, frame: Any, spec: Spec, *, keep: bool = True) -> Table:
        """Codes a pandas, Polars or PyArrow frame, after checking it against the spec. Without
        `keep` the frame itself can be forgotten: to publish a table needs the codes only."""
        data = to_polars(frame)
        _check_columns(data, spec, rows=data.height)
        data, persons = by_person(data, spec, lambda: protected_rows(data, spec))
        refuse_shared(spec, persons)
        _check_columns(data, spec, rows=data.height)
        check_identifiers(data, spec)
        weight = weight_units(data, spec, None)
        made, spec, cost = shared(data, spec)
        table = cls._coded(made, spec, None, weight, native=frame if keep else None)
        return replace(table, cost=cost, persons=persons)

    @classmethod
    def from_cells(cls, cells: Any, spec: Spec, *, rows: str = "rows") -> Table:
        """From counted cells: the QI columns and the sensitive one, and in the column `rows` how
        many people have these values. Who they are stays where they were counted."""
        data = to_polars(cells)
        if rows not in data.columns or not data[rows].dtype.is_integer():
            raise InputError(
                "cells-rows",
                f'The cells have no column "{rows}" of whole numbers.',
                "Count the rows of each combination of values into one.",
            )
        if data[rows].null_count() or (data[rows] < 1).any():
            raise InputError(
                "cells-rows", "A cell has no rows.", "Give only combinations that occur."
            )
        counts = data[rows].cast(pl.Int64).to_numpy()
        _check_columns(data, spec.unnamed(), rows=int(counts.sum()))
        weight = weight_units(data, spec, counts)
        made, spec, cost = shared(data, spec, counts)
        table = cls._coded(made, spec, counts, weight, native=None)
        return table if cost is None else replace(table, cost=cost)

    @classmethod
    def _coded(
        cls,
        data: pl.DataFrame,
        spec: Spec,
        counts: Ints | None,
        weight: Ints | None,
        *,
        native: Any,
    ) -> Table:
        spec = spec.of_rows(data.height if counts is None else int(counts.sum()))
        coded = [code_column(data[name]) for name in spec.qi]
        sizes = [len(column) for column, _ in coded]
        signature, keys = factorize([codes for _, codes in coded], sizes)
        qi = tuple(column for column, _ in coded)
        lines = TableLines(qi, digits(keys, sizes), signature, counts, native, weight)
        columns = [code_column(data[name]) for name in spec.sensitive_columns]
        specs = specs_alone(spec, [column for column, _ in columns])
        tables = tuple(
            cls._of_column(alone, column, codes, lines)
            for alone, (column, codes) in zip(specs, columns, strict=True)
        )
        if len(tables) == 1:
            return tables[0]
        from shoal.data.table.combining import combine

        return combine(spec, tables, [codes for _, codes in columns], lines)

    @classmethod
    def _of_column(cls, spec: Spec, members: Column, member: IntArray, lines: TableLines) -> Table:
        """The table of one sensitive column."""
        spec, events = column_events(
            members, spec, lambda: np.bincount(member, lines.rows, len(members)).astype(np.int64)
        )
        values, member_value, value_event = published_values(members, events, spec)
        return cls(
            spec=spec,
            qi=lines.qi,
            members=members,
            values=values,
            member_value=member_value,
            events=events,
            value_event=value_event,
            signatures=lines.signatures,
            member_cells=count_cells(lines, member, len(members)),
            people=lines.people(member),
            counted=lines.counted(member),
            native=lines.native,
            weights=weigh_cells(lines, member, len(members)),
        )

    def __repr__(self) -> str:
        qi = ", ".join(visible(column.name) for column in self.qi)
        people = int(self.value_rows[self.value_event >= 0].sum())
        return (
            f"Table: {counted(self.rows, 'row')}, {counted(len(self.signatures), 'signature')} of "
            f"{qi}\n"
            f"  {visible(self.members.name)} with {counted(len(self.members), 'value')}, "
            f"{counted(len(self.events), 'event')} protected; {people:,} people have one"
        )

    def answers(self, spec: Spec) -> bool:
        """Whether the table was coded with this spec."""
        if self.cost is not None and spec.k == self.cost.k and spec.recode == self.cost.asked:
            spec = spec.with_(recode=self.spec.recode)
        spec = spec.of_rows(self.rows)
        if self.several is not None:
            columns = self.several.columns
            same = spec.sensitive == self.spec.sensitive
            return same and all(
                one.answers(alone)
                for one, alone in zip(
                    columns, specs_alone(spec, [one.members for one in columns]), strict=True
                )
            )
        try:
            return spec == self.spec or (
                column_events(self.members, spec, lambda: self.member_rows)[0] == self.spec
            )
        except InputError:  # its events are those of another column
            return False

    def only(self, rows: Ints) -> Table:
        """The same table with some of its rows alone: signatures and values keep their codes."""
        people = RowCodes(self.row_signature[rows], self.row_member[rows])
        width = np.int64(len(self.members))
        keys, count = np.unique(people.signature * width + people.member, return_counts=True)
        signature, member = (keys // width).astype(np.int32), (keys % width).astype(np.int32)
        cells = Cells(signature, member, count.astype(np.int64))
        weights = self.weights_of(cells)
        return replace(
            self, member_cells=cells, people=people, native=None, cost=None, weights=weights
        )

    def weights_of(self, some: Cells) -> Ints | None:
        """What some of the rows weigh: each as much as the rows of its cell do on average."""
        if self.weights is None:
            return None
        (signature, member, rows), width = self.member_cells, np.int64(len(self.members))
        place = np.searchsorted(signature * width + member, some.signature * width + some.value)
        return np.asarray(self.weights[place] // rows[place] * some.rows, np.int64)

    @property
    def frame(self) -> Any:
        """The frame that the table was made from, or an InputError if it was not kept."""
        if self.native is None:
            raise InputError(
                "table-forgotten",
                "The table was coded without keeping its frame, which is needed here.",
                "Give the frame and its spec, or code it with keep=True.",
            )
        return self.native

    @cached_property
    def rows(self) -> int:
        return int(self.member_cells.rows.sum())

    @property
    def min_support(self) -> int:
        """How many people must share values before the adversary knows the distribution there."""
        return self.spec.min_support or support_for(self.rows)

    @property
    def row_signature(self) -> IntArray:
        """The signature of each row."""
        return self._here().signature

    @property
    def row_member(self) -> IntArray:
        """The sensitive value of each row, as it stands in the table."""
        return self._here().member

    def _here(self) -> RowCodes:
        if self.people is None:
            raise InputError(
                "rows-elsewhere",
                "The table was counted elsewhere, and its rows are not here.",
                "Ask for what counts can answer, or give the table itself.",
            )
        return self.people

    @cached_property
    def row_value(self) -> IntArray:
        """The published value of each row."""
        return self.member_value[self.row_member]

    @cached_property
    def row_event(self) -> IntArray:
        """The event that each row carries, or -1."""
        return self.value_event[self.row_value]

    @cached_property
    def signature_rows(self) -> Ints:
        """How many rows each signature has."""
        signature, _, rows = self.member_cells
        return np.bincount(signature, rows, len(self.signatures)).astype(np.int64)

    def qi_rows(self, place: int) -> Ints:
        """How many rows have each value of a QI."""
        codes, size = self.signatures[:, place], len(self.qi[place])
        return np.bincount(codes, self.signature_rows, size).astype(np.int64)

    @cached_property
    def cells(self) -> Cells:
        """The table compressed: (signature, published value, rows), for rows > 0, in order."""
        signature, member, rows = self.member_cells
        sizes = [len(self.signatures), len(self.values)]
        return _counted(signature, self.member_value[member], rows, sizes)

    @cached_property
    def member_rows(self) -> Ints:
        """How many rows carry each sensitive value, as it stands in the table."""
        _, member, rows = self.member_cells
        return np.bincount(member, rows, len(self.members)).astype(np.int64)

    @cached_property
    def value_rows(self) -> Ints:
        """How many rows carry each published value."""
        return np.bincount(self.member_value, self.member_rows, len(self.values)).astype(np.int64)

    @cached_property
    def event_rows(self) -> Ints:
        """How many rows carry each event."""
        if self.several is not None:
            return np.asarray(self.value_rows @ self.several.carries[:-1], np.int64)
        carried = self.value_event >= 0
        counts = np.bincount(self.value_event[carried], self.value_rows[carried], len(self.events))
        return counts.astype(np.int64)

    @property
    def carriers(self) -> int:
        """How many rows carry an event."""
        return int(self.value_rows[self.value_event >= 0].sum())

    @cached_property
    def masked(self) -> IntArray:
        """What each published value, and last the pooled one, is published as in a pooled group:
        the pooled value, where it is outside every event."""
        if self.several is not None:
            return self.several.masked
        pooled = len(self.values)
        kept = np.where(self.value_event >= 0, np.arange(pooled), pooled)
        return np.append(kept, pooled).astype(np.int32)

    @cached_property
    def shown_event(self) -> IntArray:
        """The event of each value that can be published, or -1; last, of the pooled one."""
        return np.append(self.value_event, np.int32(-1))

    def holds(self, event: int) -> Bools:
        """Which of the published values, and last of the pooled one, carry an event."""
        if self.several is not None:
            return np.asarray(self.several.carries[:, event])
        return np.append(self.value_event == event, False)

    @cached_property
    def everybody(self) -> Everybody:
        """One entry per person: in the order of the rows if they are here, else of the cells."""
        if self.people is None:
            return self.by_cell
        return Everybody(self.row_signature, self.row_value, self.row_event)

    @cached_property
    def by_cell(self) -> Everybody:
        """The same people in the order of the cells. A method that draws people starts from these:
        what it makes does not depend on the order of the rows."""
        signature, value, rows = self.cells
        shown = np.repeat(value, rows)
        return Everybody(np.repeat(signature, rows), shown, self.value_event[shown])

    @cached_property
    def event_r(self) -> Floats:
        """The r of each event."""
        return np.array([event.r or self.spec.r for event in self.events], dtype=np.float64)

    def with_limits(self, change: Callable[[float], float]) -> Table:
        """The same people with every r changed."""
        several = self.several
        if several is not None:
            aspects = [replace(one, table=one.table.with_limits(change)) for one in several.aspects]
            several = replace(
                several,
                columns=tuple(one.with_limits(change) for one in several.columns),
                masks=several.masks.with_limits(change),
                aspects=tuple(aspects),
            )

        def of(events: Sequence[Event]) -> tuple[Event, ...]:
            return tuple(replace(one, r=one.r and change(one.r)) for one in events)

        protect = None if self.spec.protect is None else of(self.spec.protect)
        spec = self.spec.with_(r=change(self.spec.r), protect=protect)
        return replace(self, spec=spec, events=of(self.events), several=several)

    def describe(self, signature: int) -> dict[str, str]:
        """A signature's QI values, as text."""
        codes = self.signatures[signature]
        return {
            column.name: column.labels[code] for column, code in zip(self.qi, codes, strict=True)
        }


def protected_rows(data: pl.DataFrame, spec: Spec) -> Bools:
    """Which rows have a protected value, of a frame with the sensitive columns and that which names
    the person."""
    assert spec.person is not None
    recode = [pair for pair in spec.recode if pair[0] in spec.sensitive_columns]
    asked = Spec(
        qi=spec.person, sensitive=spec.sensitive, protect=spec.protect, r=spec.r, recode=recode
    )
    return np.asarray(Table.from_frame(data, asked).row_event >= 0)


def count_cells(lines: TableLines, member: IntArray, members: int) -> Cells:
    """The lines by signature and sensitive value."""
    return _counted(lines.signature, member, lines.rows, [len(lines.signatures), members])


def weigh_cells(lines: TableLines, member: IntArray, members: int) -> Ints | None:
    """The survey weights of these cells."""
    if lines.weight is None:
        return None
    line, keys = factorize([lines.signature, member], [len(lines.signatures), members])
    total = np.zeros(len(keys), np.int64)
    np.add.at(total, line, lines.weight)  # whole numbers: in whatever order the lines come
    return total


def _counted(signature: IntArray, code: IntArray, rows: Ints | None, sizes: list[int]) -> Cells:
    """The distinct pairs in order, and how many rows have each (one a line, if not told)."""
    line, keys = factorize([signature, code], sizes)
    parts = digits(keys, sizes)
    counts = np.bincount(line, rows, len(keys)).astype(np.int64)
    return Cells(parts[:, 0], parts[:, 1], counts)


def _check_columns(data: pl.DataFrame, spec: Spec, *, rows: int) -> None:
    if rows == 0:
        raise InputError("table-empty", "The table has no rows.", "Give a table with people in it.")
    if rows == 1:
        raise InputError(
            "table-empty", "The table has one row, so nobody can hide.", "Give more rows."
        )
    check_roles(data.columns, spec)


def check_roles(columns: Sequence[str], spec: Spec) -> None:
    """An InputError for a column that the spec names and a table lacks."""
    roles = [("QI", name) for name in spec.qi]
    roles += [("sensitive", name) for name in spec.sensitive_columns]
    roles += [("identifier", name) for name in spec.identifiers]
    roles += [("person", name) for name in spec.named_person]
    roles += [("survey weight", name) for name in (spec.weight,) if name is not None]
    roles += [("ordering", name) for name in (spec.row_rule.by,) if name is not None]
    for role, name in roles:
        if name not in columns and not (name == ROWS_OF_PERSON and role == "QI" and spec.person):
            problem = f'The {role} column "{name}" does not exist'
            raise unknown("column-missing", problem, name, columns)
