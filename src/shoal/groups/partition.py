"""Partition: any grouping of a table as the adversary sees it, compressed for the judge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from shoal.arrays import Bools, IntArray, Ints, Whole
from shoal.data.table import Table, code_column
from shoal.data.table.several import Aspect
from shoal.groups.grouping import Grouping
from shoal.groups.pairs import count_pairs
from shoal.groups.pairs import ragged as ragged
from shoal.groups.pairs import starts as starts


@dataclass(frozen=True, eq=False)
class Partition:
    """A-groups as (group, signature) pairs with sizes, and published values with counts.

    People published alone without an event tell the adversary nothing about any event, and there
    may be millions of them: they are counted in `alone`, and the groups here are all others, those
    with the same content once, with `copies`. The pairs of group g are `group_start[g]` to
    `group_start[g+1]`; likewise its values, the carriers (event, people) of a pair, and the
    published values of a pair: what is true, for measuring how often guesses are right and for a
    world to start from.
    """

    group_number: Ints
    """The number of each group among all groups, those of one person included; of the first, where
    there are copies."""
    copies: Ints
    """How many groups with its content there are."""
    alone: int
    """Groups of one person that publish no event."""
    group_start: IntArray
    pair_signature: IntArray
    pair_size: Whole
    value_start: IntArray
    value_code: IntArray
    """Published value codes; `len(table.values)` stands for the pooled value."""
    value_count: Whole
    carrier_start: IntArray
    carrier_event: IntArray
    carrier_count: Whole
    world_start: IntArray
    world_value: IntArray
    """Published value codes of a pair's people; in a release of unknown origin, possible ones."""
    world_count: Whole
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
    def pair_group(self) -> Ints:
        return np.repeat(np.arange(self.groups), np.diff(self.group_start))

    @property
    def pair_people(self) -> Ints:
        """How many people each pair stands for, in all copies of its group."""
        return np.asarray(self.pair_size * np.repeat(self.copies, np.diff(self.group_start)))

    def people_of(self, pairs: Whole) -> Ints:
        """The same of some pairs."""
        group = np.searchsorted(self.group_start, pairs, side="right") - 1
        return np.asarray(self.pair_size[pairs] * self.copies[group])

    @property
    def carriers(self) -> int:
        """How many people carry an event."""
        before = np.append(0, np.cumsum(self.carrier_count, dtype=np.int64))
        return int(np.diff(before[self.carrier_start[self.group_start]]) @ self.copies)

    def carriers_of(self, pairs: Whole) -> int:
        """How many people of some pairs do."""
        owner, entry = ragged(self.carrier_start, pairs)
        group = np.searchsorted(self.group_start, pairs, side="right") - 1
        return int((self.carrier_count[entry] * self.copies[group[owner]]).sum())

    def holders(self, value_event: IntArray) -> IntArray:
        """The groups that hold an event; `value_event` has one more entry, for the pooled value."""
        return np.flatnonzero(self._hold(value_event)).astype(np.int32)

    def held_pairs(self, value_event: IntArray) -> IntArray:
        """The pairs of the groups that hold an event, in order."""
        holds = np.repeat(self._hold(value_event), np.diff(self.group_start))
        return np.flatnonzero(holds).astype(np.int32)

    def _hold(self, value_event: IntArray) -> Bools:
        """Of each group, which has at least one value: whether it holds an event."""
        if not self.groups:
            return np.zeros(0, bool)
        return np.logical_or.reduceat((value_event >= 0)[self.value_code], self.value_start[:-1])

    @cached_property
    def _pair_keys(self) -> Ints:
        """Group and signature of each pair as one number, in order."""
        return self.pair_group * len(self.signature_people) + self.pair_signature

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
        pair_group, pair = ragged(self.group_start, groups)
        value_group, value = ragged(self.value_start, groups)
        carrier_pair, carrier = ragged(self.carrier_start, pair)
        world_pair, world = ragged(self.world_start, pair)
        return replace(
            self,
            group_number=self.group_number[groups],
            copies=self.copies[groups],
            group_start=starts(pair_group, len(groups)).astype(np.int32),
            pair_signature=self.pair_signature[pair],
            pair_size=self.pair_size[pair],
            value_start=starts(value_group, len(groups)).astype(np.int32),
            value_code=self.value_code[value],
            value_count=self.value_count[value],
            carrier_start=starts(carrier_pair, len(pair)).astype(np.int32),
            carrier_event=self.carrier_event[carrier],
            carrier_count=self.carrier_count[carrier],
            world_start=starts(world_pair, len(pair)).astype(np.int32),
            world_value=self.world_value[world],
            world_count=self.world_count[world],
        )

    def read(self, aspect: Aspect) -> Partition:
        """The same groups in one aspect of several sensitive columns."""
        table = aspect.table
        shown = aspect.value[self.world_value]
        pair = np.repeat(np.arange(len(self.pair_signature)), np.diff(self.world_start))
        return Partition._counted(
            group_number=self.group_number,
            copies=self.copies,
            alone=self.alone,
            group=self.pair_group[pair],
            signature=self.pair_signature[pair],
            shown=shown,
            rows=self.world_count,
            event=np.append(table.value_event, np.int32(-1))[shown],
            signature_people=self.signature_people,
            distorted=self.distorted,
        )

    @classmethod
    def of(cls, table: Table, grouping: Grouping) -> Partition:
        """Any grouping of the table as the adversary sees it."""
        everybody, holds = grouping.signature_people(table), grouping.holding(table)
        alone = (grouping.sizes == 1) & ~holds
        chosen = np.flatnonzero(~alone)
        group, line = ragged(starts(grouping.group, len(holds)), chosen)
        return cls._counted(
            group_number=grouping.first_number[chosen],
            copies=grouping.copies[chosen],
            alone=int(grouping.copies[alone].sum()),
            group=group,
            signature=grouping.signature[line],
            shown=grouping.published_values(table)[line],
            rows=_narrow(grouping.rows)[line],
            event=table.value_event[grouping.value[line]],
            signature_people=everybody,
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
        value_group: IntArray,
        value_code: IntArray,
        value_count: Ints,
    ) -> Partition:
        """From published tables alone: the copies of each group, and in one copy lines with their
        signatures and numbers of people, and values with their counts (sorted by group and code).
        Who has which value is not known, so nobody is a carrier."""
        everybody = np.bincount(
            line_signature, line_people * copies[line_group], len(table.signatures)
        )
        person = np.repeat(np.arange(len(line_group)), line_people)
        line_group, line_signature = line_group[person], line_signature[person]
        by_group = np.argsort(line_group, kind="stable")
        shown = np.empty(len(line_group), np.int32)
        shown[by_group] = np.repeat(value_code, value_count)
        value_event = np.append(table.value_event, np.int32(-1))
        alone = np.bincount(line_group, minlength=len(copies)) == 1
        alone[line_group[value_event[shown] >= 0]] = False
        chosen = np.flatnonzero(~alone)
        lines = np.flatnonzero(~alone[line_group])
        return cls._counted(
            group_number=(np.cumsum(copies) - copies)[chosen],
            copies=copies[chosen],
            alone=int(copies[alone].sum()),
            group=np.searchsorted(chosen, line_group[lines]).astype(np.int64),
            signature=line_signature[lines],
            shown=shown[lines],
            rows=np.ones(len(lines), np.int64),
            event=np.full(len(lines), -1, np.int32),
            signature_people=everybody.astype(np.int64),
            distorted=True,
        )

    @classmethod
    def _counted(
        cls,
        *,
        group_number: Ints,
        copies: Ints,
        alone: int,
        group: Whole,
        signature: IntArray,
        shown: IntArray,
        rows: Whole,
        event: IntArray,
        signature_people: Ints,
        distorted: bool,
    ) -> Partition:
        groups, rows = len(group_number), _narrow(rows)
        pair, pairs = count_pairs(group, signature, rows, groups)
        _, values = count_pairs(group, shown, rows, groups)
        carries, count = np.flatnonzero(event >= 0), len(pairs.right)
        _, carriers = count_pairs(pair[carries], event[carries], rows[carries], count)
        _, worlds = count_pairs(pair, shown, rows, count)
        return cls(
            group_number=group_number.astype(np.int64),
            copies=copies,
            alone=alone,
            group_start=pairs.start,
            pair_signature=pairs.right,
            pair_size=pairs.rows,
            value_start=values.start,
            value_code=values.right,
            value_count=values.rows,
            carrier_start=carriers.start,
            carrier_event=carriers.right,
            carrier_count=carriers.rows,
            world_start=worlds.start,
            world_value=worlds.right,
            world_count=worlds.rows,
            signature_people=signature_people,
            distorted=distorted,
        )


def _narrow(rows: Whole) -> Whole:
    """The same in half the memory, if no sum of them can be too large for that."""
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
