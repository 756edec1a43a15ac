"""Grouping: who is published together, as counts, and in which form. What every method returns.

A line says how many people of one signature and value are in one group. Search, audit and
certificate need no more than that: people of one line are alike in all that is published, so which
of a table's rows they are is settled once, at the end, and only for whoever keeps that record.
Groups with the same content, above all people who are published alone, are one group with `copies`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np

from shoal.arrays import Bools, Floats, IntArray, Ints
from shoal.data.table import Everybody, Table, digits, factorize
from shoal.data.table.several import Aspect
from shoal.display import counted
from shoal.errors import InternalError
from shoal.groups.ragged import Ragged

FormName = Literal["bucketized", "generalized"]
SUPPRESSED = -1
WEIGHT = "weight"
"""What a column of weights is called, unless the table has one of that name."""


@dataclass(frozen=True, eq=False)
class Recoding:
    """How one QI is generalized: each group's node, and the domain values that a node covers."""

    labels: tuple[str, ...]
    """The label of each node, as published."""
    members: Bools
    """nodes x domain: the values (codes of the table's QI column) that a node covers."""
    node: IntArray
    """The node of each group."""


@dataclass(frozen=True, eq=False)
class Grouping:
    """The A-groups of a table. Whoever is in no line is suppressed: not published at all."""

    group: IntArray
    """The group of each line, 0 to K-1; lines are in the order of (group, signature, value), and
    of weight where these are the same."""
    signature: IntArray
    value: IntArray
    """The true value code."""
    rows: Ints
    """How many people each copy of the group has of this signature and value."""
    copies: Ints
    """How many groups with this content there are."""
    shown: IntArray | None = None
    """The published value codes where a method changes values; None means the true ones."""
    form: FormName = "bucketized"
    recodings: tuple[Recoding, ...] = ()
    """One per QI in the generalized form; empty in the bucketized form."""
    pooled: Bools | None = None
    """Groups whose values outside every event are published as one pooled value."""
    weight: Floats | None = None
    """Of each line: how much of its group's cases (people with a protected event) one person counts
    as; all of a group's people together count as its cases. Not a number in groups whose cases are
    shared equally; None: all are."""
    claims: Mapping[str, Any] = field(default_factory=dict)
    """What the method itself promises or reports (l, k, t, rules found, values changed, ...)."""

    def __post_init__(self) -> None:
        present = np.bincount(self.group, minlength=len(self.copies))
        if len(present) > len(self.copies) or not present.all():
            raise InternalError("group numbers have holes")
        if self.rows.min(initial=1) < 1 or self.copies.min(initial=1) < 1:
            raise InternalError("a group has a line without people")
        if (self.form == "generalized") != bool(self.recodings):
            raise InternalError("a generalized grouping needs a recoding per QI, and only it")

    def __repr__(self) -> str:
        sizes = sorted({int(self.sizes.min()), int(self.sizes.max())}) if self.count else []
        text = f"Grouping: {counted(self.published, 'person', 'people')} in "
        text += f"{counted(self.count, 'group')}"
        text += f" of {' to '.join(f'{size:,}' for size in sizes)}" if sizes else ""
        pooled = 0 if self.pooled is None else int(self.copies[self.pooled].sum())
        return f"{text}\n  {self.form}, {pooled:,} pooled, {self.values_changed:,} values changed"

    @classmethod
    def of_lines(
        cls,
        table: Table,
        group: IntArray,
        signature: IntArray,
        value: IntArray,
        rows: Ints,
        *,
        copies: Ints | None = None,
        shown: IntArray | None = None,
        weight: Floats | None = None,
        **more: Any,
    ) -> Grouping:
        """From lines in any order; equal ones are added up."""
        count = int(group.max(initial=-1)) + 1
        columns = [group, signature, value] + ([] if shown is None else [shown])
        sizes = [count, len(table.signatures), *[len(table.values)] * (len(columns) - 2)]
        known = np.empty(0)
        if weight is not None:
            known, place = np.unique(weight, return_inverse=True)
            columns, sizes = [*columns, place.astype(np.int32)], [*sizes, len(known)]
        line, keys = factorize(columns, sizes)
        parts = digits(keys, sizes)
        return cls(
            group=parts[:, 0].copy(),
            signature=parts[:, 1].copy(),
            value=parts[:, 2].copy(),
            rows=np.bincount(line, rows, len(keys)).astype(np.int64),
            copies=np.ones(count, np.int64) if copies is None else copies,
            shown=None if shown is None else parts[:, 3].copy(),
            weight=None if weight is None else known[parts[:, -1]],
            **more,
        )

    @classmethod
    def of_rows(
        cls,
        table: Table,
        groups: IntArray,
        *,
        values: IntArray | None = None,
        weights: Floats | None = None,
        people: Everybody | None = None,
        **more: Any,
    ) -> Grouping:
        """From the group of each of the table's `everybody`, 0 to K-1 or -1 (suppressed), published
        values where they are not the true ones, and weights."""
        people = table.everybody if people is None else people
        kept = np.flatnonzero(groups >= 0)
        return cls.of_lines(
            table,
            groups[kept],
            people.signature[kept],
            people.value[kept],
            np.ones(len(kept), np.int64),
            shown=None if values is None else values[kept],
            weight=None if weights is None else weights[kept],
            **more,
        )

    @classmethod
    def of_people(cls, table: Table, groups: IntArray, **more: Any) -> Grouping:
        """From the group of each of the table's people `by_cell`."""
        return cls.of_rows(table, groups, people=table.by_cell, **more)

    @classmethod
    def of_classes(cls, table: Table, classes: IntArray, **more: Any) -> Grouping:
        """From the group of each signature, 0 to K-1 or -1: people who are alike stay together."""
        signature, value, rows = table.cells
        kept = np.flatnonzero(classes[signature] >= 0)
        signature = signature[kept]
        return cls.of_lines(table, classes[signature], signature, value[kept], rows[kept], **more)

    def alone(self, aspect: Aspect) -> Grouping:
        """The same groups with one of several sensitive columns."""
        if self.shown is not None:
            raise InternalError("values of several columns were changed")
        return Grouping.of_lines(
            aspect.table,
            self.group,
            self.signature,
            aspect.value[self.value],
            self.rows,
            copies=self.copies,
            pooled=self.pooled,
            form=self.form,
            recodings=self.recodings,
            claims=self.claims,
        )

    @property
    def count(self) -> int:
        """The number of groups, copies counted."""
        return int(self.copies.sum())

    @property
    def people(self) -> Ints:
        """How many people each line stands for, in all copies of its group."""
        return self.rows * self.copies[self.group]

    @property
    def published(self) -> int:
        """The number of published rows."""
        return int(self.people.sum())

    @cached_property
    def lines(self) -> Ragged:
        """Which lines are whose."""
        return Ragged.of_owners(self.group, len(self.copies))

    @property
    def sizes(self) -> Ints:
        """How many people each group has."""
        return self.lines.summed(self.rows)

    @property
    def first_number(self) -> Ints:
        """The number of the first copy of each group, when all copies are numbered in order."""
        return Ragged.of_lengths(self.copies).start[:-1]

    def cases(self, table: Table) -> Ints:
        """How many published values of each group belong to a protected event."""
        event = table.shown_event[self.published_values(table)] >= 0
        return np.bincount(self.group, self.rows * event, len(self.copies)).astype(np.int64)

    @property
    def values_changed(self) -> int:
        """How many people are published with another value than their own."""
        return 0 if self.shown is None else int(self.people[self.shown != self.value].sum())

    def signature_people(self, table: Table) -> Ints:
        """How many people of each signature are published."""
        return np.bincount(self.signature, self.people, len(table.signatures)).astype(np.int64)

    def published_values(self, table: Table) -> IntArray:
        """The value code that each line publishes; `len(table.values)` where it is pooled."""
        value = self.value if self.shown is None else self.shown
        if self.pooled is None:
            return value
        return np.where(self.pooled[self.group], table.masked[value], value).astype(np.int32)

    def carriers(self, table: Table) -> int:
        """How many of the published people carry an event."""
        return int(self.people[table.value_event[self.value] >= 0].sum())

    def holding(self, table: Table) -> Bools:
        """The groups that publish an event (a pooled value is none)."""
        return self.cases(table) > 0


class Progress(Protocol):
    """What a long step reports to: done and total in its own unit, and what it is doing."""

    def __call__(self, step: str, done: int, total: int) -> None: ...


def silent(step: str, done: int, total: int) -> None:
    """A Progress that shows nothing."""


class Anonymizer(Protocol):
    """An algorithm with its parameters set."""

    @property
    def name(self) -> str: ...

    def anonymize(
        self, table: Table, *, seed: int = 0, progress: Progress = silent
    ) -> Grouping: ...
