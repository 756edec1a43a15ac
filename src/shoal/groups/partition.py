"""Partition: any grouping of a table as the adversary sees it, compressed for the judge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from shoal.arrays import Bools, IntArray, Ints, Whole
from shoal.data.table import Table, code_column
from shoal.data.table.several import Aspect
from shoal.groups.grouping import Grouping
from shoal.groups.ragged import Counts, Ragged


@dataclass(frozen=True, eq=False)
class Partition:
    """A-groups as (group, signature) pairs with sizes, and published values with counts.

    People published alone without an event tell the adversary nothing about any event, and there
    may be millions of them: they are counted in `alone`, and the groups here are all others, those
    with the same content once, with `copies`. What is true of a pair's people is for measuring how
    often guesses are right, and for a world to start from.
    """

    group_number: Ints
    """The number of each group among all groups, those of one person included; of the first, where
    there are copies."""
    copies: Ints
    """How many groups with its content there are."""
    alone: int
    """Groups of one person that publish no event."""
    pairs: Counts
    """The signatures of each group, and how many people have each."""
    values: Counts
    """Its published value codes; `len(table.values)` stands for the pooled value."""
    events: Counts
    """The events of each pair, and how many of its people have each."""
    worlds: Counts
    """Published value codes of each pair's people; in a release of unknown origin, possible ones.
    """
    signature_people: Ints
    """How many people of each signature are published, alone or not."""
    distorted: bool
    """Whether published values differ from the true ones."""

    @property
    def groups(self) -> int:
        """How many groups are here, whatever copies there are."""
        return len(self.group_number)

    @property
    def all_groups(self) -> int:
        return int(self.copies.sum()) + self.alone

    @property
    def published(self) -> int:
        return int(self.signature_people.sum())

    @property
    def signature(self) -> IntArray:
        """Of each pair."""
        return self.pairs.code

    @property
    def pair_people(self) -> Ints:
        """How many people each pair stands for, in all copies of its group."""
        return self.pairs.times(self.copies)

    def people_of(self, pairs: Whole) -> Ints:
        """How many people some pairs stand for, in all copies."""
        return np.asarray(self.pairs.count[pairs] * self.copies[self.pairs.owner_of(pairs)])

    def cases_of(self, pairs: Whole) -> int:
        """How many people of some pairs have an event."""
        owner, entry = self.events.entries(pairs)
        copies = self.copies[self.pairs.owner_of(pairs)]
        return int((self.events.count[entry] * copies[owner]).sum())

    @property
    def cases(self) -> int:
        """How many people have an event."""
        return int(self.events.times(self.pairs.spread(self.copies)).sum())

    def holders(self, value_event: IntArray) -> IntArray:
        """The groups that hold an event; `value_event` has one more entry, for the pooled value."""
        return np.flatnonzero(self._hold(value_event)).astype(np.int32)

    def held_pairs(self, value_event: IntArray) -> IntArray:
        """The pairs of the groups that hold an event, in order."""
        return np.flatnonzero(self.pairs.spread(self._hold(value_event))).astype(np.int32)

    def _hold(self, value_event: IntArray) -> Bools:
        """Of each group: whether it holds an event."""
        return self.values.any((value_event >= 0)[self.values.code])

    @cached_property
    def _pair_keys(self) -> Ints:
        """Group and signature of each pair as one number, in order."""
        return self.pairs.owner * len(self.signature_people) + self.signature

    def find_pairs(self, groups: Whole, signatures: IntArray) -> IntArray:
        """The pair of each (number of a group, signature); -1 where a person is alone or in none.
        People alone are most, and are passed over."""
        last = np.append(self.group_number + self.copies, 0)
        place = np.searchsorted(self.group_number, groups, side="right") - 1
        inside = np.flatnonzero((groups >= 0) & (place >= 0) & (groups < last[place]))
        width = len(self.signature_people)
        pairs = np.full(len(groups), -1, np.int32)
        pairs[inside] = np.searchsorted(self._pair_keys, place[inside] * width + signatures[inside])
        return pairs

    def some(self, groups: Ints) -> Partition:
        """Some of the groups alone, under their numbers."""
        pair = self.pairs.entries(groups)[1]
        return replace(
            self,
            group_number=self.group_number[groups],
            copies=self.copies[groups],
            pairs=self.pairs.some(groups),
            values=self.values.some(groups),
            events=self.events.some(pair),
            worlds=self.worlds.some(pair),
        )

    def read(self, aspect: Aspect) -> Partition:
        """The same groups in one aspect of several sensitive columns."""
        shown = aspect.value[self.worlds.code]
        return self._counted(
            group=self.worlds.spread(self.pairs.owner),
            signature=self.worlds.spread(self.signature),
            shown=shown,
            rows=self.worlds.count,
            event=aspect.table.shown_event[shown],
            group_number=self.group_number,
            copies=self.copies,
            alone=self.alone,
            signature_people=self.signature_people,
            distorted=self.distorted,
        )

    @classmethod
    def of(cls, table: Table, grouping: Grouping) -> Partition:
        """Any grouping of the table as the adversary sees it."""
        alone = (grouping.sizes == 1) & ~grouping.holding(table)
        chosen = np.flatnonzero(~alone)
        group, line = grouping.lines.entries(chosen)
        return cls._counted(
            group=group,
            signature=grouping.signature[line],
            shown=grouping.published_values(table)[line],
            rows=_narrow(grouping.rows)[line],
            event=table.value_event[grouping.value[line]],
            group_number=grouping.first_number[chosen],
            copies=grouping.copies[chosen],
            alone=int(grouping.copies[alone].sum()),
            signature_people=grouping.signature_people(table),
            distorted=grouping.values_changed > 0,
        )

    @classmethod
    def from_published(
        cls,
        table: Table,
        copies: Ints,
        line_group: Ints,
        line_signature: IntArray,
        line_people: Ints,
        values: Counts,
    ) -> Partition:
        """From published tables alone: the copies of each group, and in one copy lines with their
        signatures and numbers of people, and values with their counts. Who has which value is not
        known, so nobody is a case."""
        everybody = np.bincount(
            line_signature, line_people * copies[line_group], len(table.signatures)
        )
        person = np.repeat(np.arange(len(line_group)), line_people)
        line_group, line_signature = line_group[person], line_signature[person]
        shown = np.empty(len(line_group), np.int32)
        shown[np.argsort(line_group, kind="stable")] = np.repeat(values.code, values.count)
        value_event = table.shown_event
        alone = np.bincount(line_group, minlength=len(copies)) == 1
        alone[line_group[value_event[shown] >= 0]] = False
        chosen = np.flatnonzero(~alone)
        lines = np.flatnonzero(~alone[line_group])
        return cls._counted(
            group=np.searchsorted(chosen, line_group[lines]).astype(np.int64),
            signature=line_signature[lines],
            shown=shown[lines],
            rows=np.ones(len(lines), np.int64),
            event=np.full(len(lines), -1, np.int32),
            group_number=Ragged.of_lengths(copies).start[:-1][chosen],
            copies=copies[chosen],
            alone=int(copies[alone].sum()),
            signature_people=everybody.astype(np.int64),
            distorted=True,
        )

    @classmethod
    def _counted(
        cls,
        *,
        group: Whole,
        signature: IntArray,
        shown: IntArray,
        rows: Whole,
        event: IntArray,
        group_number: Ints,
        **more: Any,
    ) -> Partition:
        groups, rows = len(group_number), _narrow(rows)
        pair, pairs = Counts.placed(group, signature, rows, groups)
        case, count = np.flatnonzero(event >= 0), len(pairs.code)
        return cls(
            group_number=group_number,
            pairs=pairs,
            values=Counts.of_lines(group, shown, rows, groups),
            events=Counts.of_lines(pair[case], event[case], rows[case], count),
            worlds=Counts.of_lines(pair, shown, rows, count),
            **more,
        )


def _narrow(rows: Whole) -> Whole:
    """Numbers in half the memory, if no sum of them can be too large for that."""
    return rows.astype(np.int32, copy=False) if int(rows.sum()) < 2**31 else rows


def number_groups(labels: pl.Series) -> tuple[IntArray, tuple[str, ...]]:
    """Group numbers of labelled rows in the order of the labels, and the labels. A missing label,
    or the number -1, means that the row is not published."""
    column, codes = code_column(labels.alias("group"))
    unpublished = np.array([column.numeric and label == "-1" for label in column.labels], bool)
    if column.values.null_count():
        unpublished[-1] = True
    number = np.where(unpublished, -1, np.cumsum(~unpublished) - 1).astype(np.int32)
    kept = tuple(label for label, gone in zip(column.labels, unpublished, strict=True) if not gone)
    return number[codes], kept
