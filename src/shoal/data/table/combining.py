"""How a table with several sensitive columns is made of tables with one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from shoal.arrays import Bools, IntArray
from shoal.data.spec import OTHER, Event, Spec
from shoal.data.table.coding import Column, digits, factorize
from shoal.data.table.several import Aspect, Several
from shoal.data.table.table import Table, TableLines, count_cells, weigh_cells

KNOWN_TOGETHER = 256
"""The most combinations whose joint distribution is known one by one, the commonest."""
JOINED = " | "


def combine(
    spec: Spec, columns: tuple[Table, ...], codes: list[IntArray], lines: TableLines
) -> Table:
    """One table of tables with a column each; `codes` are the lines' values in each column."""
    sizes = [len(table.members) for table in columns]
    member, keys = factorize(codes, sizes)
    raw = digits(keys, sizes)
    shown = np.column_stack([t.member_value[raw[:, c]] for c, t in enumerate(columns)])
    combinations, member_value = np.unique(shown, axis=0, return_inverse=True)
    events = _events(spec, columns)
    found = [
        replace(one, values=event.values)
        for one, event in zip(spec.protect or (), events, strict=True)
    ]
    spec = spec.with_(protect=found)
    made = _Made.of(spec, columns, combinations, raw)
    texts = [_texts(table, raw[:, c]) for c, table in enumerate(columns)]
    labels = [JOINED.join(row) for row in zip(*texts, strict=True)]
    name = JOINED.join(table.members.name for table in columns)
    whole = Table(
        spec=spec,
        qi=columns[0].qi,
        members=Column(name, pl.Series(labels, dtype=pl.String), tuple(labels), False),
        values=tuple(JOINED.join(row) for row in made.parts[:-1]),
        member_value=member_value.reshape(-1).astype(np.int32),
        events=made.events,
        value_event=_first(made.carries[:-1]),
        signatures=columns[0].signatures,
        member_cells=count_cells(lines, member, len(keys)),
        people=lines.people(member),
        counted=lines.counted(member),
        native=lines.native,
        weights=weigh_cells(lines, member, len(keys)),
    )
    return replace(whole, several=made.several(whole))


def with_pairs(table: Table, pairs: IntArray) -> tuple[Table, IntArray]:
    """The same people in a table that also knows combinations that nobody has, and the code of each
    line of `pairs` in it (lines x columns, in the columns' own codes; one more for the pooled
    value). For columns that are published apart: how their values are paired says nothing, but
    whoever judges them takes whole values."""
    several = table.several
    assert several is not None
    width = [len(column.values) + 1 for column in several.columns]
    known = several.codes[: several.combinations]
    line, keys = factorize([*np.vstack([known, pairs]).T], width)
    place = np.full(len(keys), -1, np.int32)
    place[line[: len(known)]] = np.arange(len(known))
    new = np.flatnonzero(place < 0)
    place[new] = len(known) + np.arange(len(new))
    combinations = np.vstack([known, digits(keys[new], width)])
    made = _Made.of(table.spec, several.columns, combinations, several.member_codes)
    wider = replace(
        table,
        values=tuple(JOINED.join(row) for row in made.parts[:-1]),
        value_event=_first(made.carries[:-1]),
        several=None,
    )
    return replace(wider, several=made.several(wider)), place[line[len(known) :]]


def _texts(table: Table, codes: IntArray) -> list[str]:
    return [table.members.labels[code] for code in codes.tolist()]


def _first(carries: Bools) -> IntArray:
    """The first event of each line, or -1."""
    return np.where(carries.any(axis=1), carries.argmax(axis=1), -1).astype(np.int32)


class _Kinds(NamedTuple):
    """Values of a coarser kind."""

    labels: tuple[str, ...]
    carries: Bools
    """kinds x events."""
    true: IntArray
    """The kind of each combination that people have."""
    shown: IntArray
    """The kind of each published value, and the pooled one; one without an event for all that is
    published in groups of which another kind speaks."""


@dataclass(frozen=True, eq=False)
class _Made:
    """Combinations, masks, and the events that they carry."""

    spec: Spec
    columns: tuple[Table, ...]
    events: tuple[Event, ...]
    codes: IntArray
    """Of each published value, and the pooled one: its parts, in the columns' own codes."""
    combinations: int
    members: IntArray
    """members x columns: values as they stand in the table."""
    masks: IntArray
    """masks x columns."""
    mask: IntArray
    """Of each published value, and the pooled one."""
    mask_carries: Bools

    @classmethod
    def of(
        cls, spec: Spec, columns: tuple[Table, ...], combinations: IntArray, members: IntArray
    ) -> _Made:
        nothing = np.array([len(table.values) for table in columns], np.int32)
        held = np.column_stack(
            [table.shown_event[combinations[:, c]] >= 0 for c, table in enumerate(columns)]
        )
        hidden = np.vstack([np.where(held, combinations, nothing), nothing])
        masks, mask = np.unique(hidden, axis=0, return_inverse=True)
        mask = mask.reshape(-1)
        carries = _carried(spec, columns, masks)
        holding = np.flatnonzero(carries.any(axis=1))
        return cls(
            spec=spec,
            columns=columns,
            events=_events(spec, columns),
            codes=np.vstack([combinations, masks[holding], nothing]).astype(np.int32),
            combinations=len(combinations),
            members=members,
            masks=masks.astype(np.int32),
            mask=np.concatenate([mask[:-1], holding, mask[-1:]]).astype(np.int32),
            mask_carries=carries,
        )

    @property
    def carries(self) -> Bools:
        return self.mask_carries[self.mask]

    @property
    def parts(self) -> tuple[tuple[str, ...], ...]:
        texts = [(*table.values, OTHER) for table in self.columns]
        return tuple(
            tuple(texts[c][code] for c, code in enumerate(row)) for row in self.codes.tolist()
        )

    def several(self, whole: Table) -> Several:
        masks, known = self._mask_kinds(), self._known(whole)
        place = np.full(len(self.masks), len(whole.values), np.int32)
        holding = self.mask[self.combinations : -1]
        place[holding] = self.combinations + np.arange(len(holding))
        numbers = range(len(self.events))
        together = [self._together(whole, kinds, e) for kinds in (known, masks) for e in numbers]
        return Several(
            columns=self.columns,
            combinations=self.combinations,
            codes=self.codes,
            member_codes=self.members,
            parts=self.parts,
            masked=place[self.mask],
            carries=self.carries,
            mask=self.mask,
            masks=self._of_masks(whole, masks),
            mask_codes=self.masks,
            mask_carries=self.mask_carries,
            aspects=(*self._alone(), *together),
        )

    def _mask_kinds(self) -> _Kinds:
        """Every mask is a kind: what is published in pooled groups."""
        nothing = [len(table.values) for table in self.columns]
        labels = [
            " + ".join(
                f"{table.members.name}: {table.values[code]}"
                for table, code, none in zip(self.columns, row, nothing, strict=True)
                if code != none
            )
            for row in self.masks.tolist()
        ]
        true, shown = self.mask[: self.combinations], self.mask.copy()
        shown[: self.combinations] = self.mask[-1]
        return _Kinds(tuple(one or OTHER for one in labels), self.mask_carries, true, shown)

    def _known(self, whole: Table) -> _Kinds:
        """The commonest combinations, and the others by their masks: for groups that show them."""
        rows = whole.value_rows
        enough = np.flatnonzero(rows[: self.combinations] >= whole.min_support)
        common = enough[np.argsort(-rows[enough], kind="stable")[:KNOWN_TOGETHER]]
        shown = self.mask.copy()
        shown[self.combinations :] = self.mask[-1]
        shown[common] = len(self.masks) + np.arange(len(common))
        carries = np.vstack([self.mask_carries, self.carries[common]])
        labels = tuple(str(number) for number in range(len(carries)))
        return _Kinds(labels, carries, shown[: self.combinations], shown)

    def _of_masks(self, whole: Table, masks: _Kinds) -> Table:
        """The same people with masks for values, each of which with an event is one itself."""
        r = np.array([event.r or self.spec.r for event in self.events])
        holds = masks.carries.any(axis=1)
        strictest = np.where(masks.carries, r, 0.0).max(axis=1)
        return replace(
            whole,
            values=masks.labels,
            member_value=masks.true[whole.member_value],
            events=tuple(
                Event((masks.labels[kind],), r=float(strictest[kind]))
                for kind in np.flatnonzero(holds)
            ),
            value_event=np.where(holds, np.cumsum(holds) - 1, -1).astype(np.int32),
        )

    def _together(self, whole: Table, kinds: _Kinds, event: int) -> Aspect:
        table = replace(
            whole,
            values=kinds.labels,
            member_value=kinds.true[whole.member_value],
            events=(self.events[event],),
            value_event=np.where(kinds.carries[:, event], 0, -1).astype(np.int32),
        )
        return Aspect(None, table, kinds.shown, (event,))

    def _alone(self) -> list[Aspect]:
        return [
            Aspect(
                table.members.name,
                table,
                np.ascontiguousarray(self.codes[:, c]),
                tuple(
                    e
                    for e, event in enumerate(self.spec.protect or ())
                    if table.members.name in event.column
                ),
            )
            for c, table in enumerate(self.columns)
        ]


def _events(spec: Spec, columns: tuple[Table, ...]) -> tuple[Event, ...]:
    """The events of all columns, with their values, under names that tell them apart."""
    by_name = {table.members.name: iter(table.events) for table in columns}
    found = []
    for event in spec.protect or ():
        values = [value for name in event.column for value in next(by_name[name]).values]
        found.append(replace(event, values=tuple(dict.fromkeys(values)), label=event.name))
    return tuple(found)


def _carried(spec: Spec, columns: tuple[Table, ...], codes: IntArray) -> Bools:
    """codes x events: whether an event is carried, in any column."""
    carries = np.zeros((len(codes), len(spec.protect or ())), bool)
    for c, table in enumerate(columns):
        name = table.members.name
        mine = [e for e, event in enumerate(spec.protect or ()) if name in event.column]
        held = table.shown_event[codes[:, c]]
        for number, event in enumerate(mine):
            carries[:, event] |= held == number
    return carries
