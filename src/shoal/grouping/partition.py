"""Partition: any grouping of a table as the adversary sees it, compressed for the judge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.table import IntArray, Table, code_column, factorize

OTHER = "(other)"
"""How the pooled values outside every event are published."""


@dataclass(frozen=True, eq=False)
class Partition:
    """A-groups as (group, signature) pairs with sizes, and published values with counts.

    Rows published alone without an event tell the adversary nothing about any event, and there
    may be millions of them: they are counted in `alone`, and the groups here are all others. The
    pairs of group g are `group_start[g]` to `group_start[g+1]`; likewise its values, and the
    carriers (event, rows) of a pair: what is true, for measuring how often guesses are right.
    """

    group_number: IntArray
    """The number of each group among all groups, those of one row included."""
    alone: int
    """Groups of one row that publishes no event."""
    group_start: NDArray[np.int64]
    pair_signature: IntArray
    pair_size: NDArray[np.int64]
    value_start: NDArray[np.int64]
    value_code: IntArray
    """Published value codes; `len(table.values)` stands for the pooled value."""
    value_count: NDArray[np.int64]
    carrier_start: NDArray[np.int64]
    carrier_event: IntArray
    carrier_count: NDArray[np.int64]
    row_group: IntArray
    """The number of each row's group among all groups, -1 where it is suppressed."""
    row_pair: IntArray
    """The pair of each row, -1 where it is alone or suppressed."""
    row_value: IntArray
    """The published value code of each row that has a pair."""
    distorted: bool
    """Whether published values differ from the true ones."""

    @property
    def groups(self) -> int:
        return len(self.group_number)

    @property
    def all_groups(self) -> int:
        return len(self.group_number) + self.alone

    @property
    def pair_group(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(self.groups), np.diff(self.group_start))

    def holders(self, value_event: IntArray) -> NDArray[np.int64]:
        """The groups that hold an event; `value_event` has one more entry, for the pooled value."""
        held = np.flatnonzero(value_event[self.value_code] >= 0)
        return np.unique(np.searchsorted(self.value_start, held, side="right") - 1)

    def held_pairs(self, value_event: IntArray) -> NDArray[np.int64]:
        """The pairs of the groups that hold an event, in order."""
        holds = np.zeros(self.groups, bool)
        holds[self.holders(value_event)] = True
        return np.flatnonzero(np.repeat(holds, np.diff(self.group_start)))

    @classmethod
    def of(
        cls,
        table: Table,
        groups: IntArray,
        *,
        values: IntArray | None = None,
        pooled: NDArray[np.bool_] | None = None,
    ) -> Partition:
        """From the group of each row (-1: suppressed); `values` where published ones differ, and
        `pooled` groups publish their values outside every event as one."""
        published = table.row_value if values is None else values
        if pooled is not None and pooled.any():
            hidden = (groups >= 0) & pooled[groups] & (table.value_event[published] < 0)
            published = np.where(hidden, len(table.values), published).astype(np.int32)
        value_event = np.append(table.value_event, np.int32(-1))
        number, alone = _larger_groups(groups, value_event[published] >= 0)
        rows = np.flatnonzero((groups >= 0) & ~alone[groups])
        group = np.searchsorted(number, groups[rows]).astype(np.int32)
        width = len(table.values) + 1
        held, value_keys = factorize([group, published[rows]], [len(number), width])
        value_group, value_code = np.divmod(value_keys, width)
        pairs = _Pairs(group, table.row_signature[rows], len(number), len(table.signatures))
        event = table.row_event[rows]
        carries = event >= 0
        events = max(1, len(table.events))
        carrier, carrier_keys = factorize(
            [pairs.line[carries], event[carries]], [pairs.count, events]
        )
        carrier_pair, carrier_event = np.divmod(carrier_keys, events)
        row_pair = np.full(table.rows, -1, np.int32)
        row_pair[rows] = pairs.line
        return cls(
            group_number=number,
            alone=int(alone.sum()),
            group_start=pairs.start,
            pair_signature=pairs.signature,
            pair_size=pairs.size,
            value_start=_starts(value_group, len(number)),
            value_code=value_code.astype(np.int32),
            value_count=np.bincount(held, minlength=len(value_keys)),
            carrier_start=_starts(carrier_pair, pairs.count),
            carrier_event=carrier_event.astype(np.int32),
            carrier_count=np.bincount(carrier, minlength=len(carrier_keys)),
            row_group=groups,
            row_pair=row_pair,
            row_value=published,
            distorted=values is not None and not np.array_equal(values, table.row_value),
        )

    @classmethod
    def from_published(
        cls,
        table: Table,
        line_group: IntArray,
        line_signature: IntArray,
        value_group: IntArray,
        value_code: IntArray,
        value_count: NDArray[np.int64],
    ) -> Partition:
        """From published tables alone: lines with their signatures, and values with their counts
        (sorted by group and code). Who has which value is not known, so nobody is a carrier."""
        by_group = np.argsort(line_group, kind="stable")
        row_value = np.empty(len(line_group), np.int32)
        row_value[by_group] = np.repeat(value_code, value_count)
        value_event = np.append(table.value_event, np.int32(-1))
        number, alone = _larger_groups(line_group, value_event[row_value] >= 0)
        lines = np.flatnonzero(~alone[line_group])
        group = np.searchsorted(number, line_group[lines]).astype(np.int32)
        pairs = _Pairs(group, line_signature[lines], len(number), len(table.signatures))
        row_pair = np.full(len(line_group), -1, np.int32)
        row_pair[lines] = pairs.line
        shown = np.flatnonzero(~alone[value_group])
        return cls(
            group_number=number,
            alone=int(alone.sum()),
            group_start=pairs.start,
            pair_signature=pairs.signature,
            pair_size=pairs.size,
            value_start=_starts(np.searchsorted(number, value_group[shown]), len(number)),
            value_code=value_code[shown],
            value_count=value_count[shown],
            carrier_start=np.zeros(pairs.count + 1, np.int64),
            carrier_event=np.zeros(0, np.int32),
            carrier_count=np.zeros(0, np.int64),
            row_group=line_group,
            row_pair=row_pair,
            row_value=row_value,
            distorted=True,
        )


class _Pairs:
    """The distinct (group, signature) pairs of some lines, in order; groups have no holes."""

    def __init__(self, group: IntArray, signature: IntArray, groups: int, signatures: int) -> None:
        self.line, keys = factorize([group, signature], [groups, signatures])
        pair_group, pair_signature = np.divmod(keys, signatures)
        self.count = len(keys)
        self.start = _starts(pair_group, groups)
        self.signature: IntArray = pair_signature.astype(np.int32)
        self.size: NDArray[np.int64] = np.bincount(self.line, minlength=self.count)


def _larger_groups(
    groups: IntArray, has_event: NDArray[np.bool_]
) -> tuple[IntArray, NDArray[np.bool_]]:
    """The groups of several rows or with an event, and which groups (by number) are not."""
    size = np.bincount(groups[groups >= 0])
    alone = size == 1
    alone[groups[(groups >= 0) & has_event]] = False
    return np.flatnonzero(~alone).astype(np.int32), alone


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


def _starts(sorted_owner: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    return np.searchsorted(sorted_owner, np.arange(count + 1)).astype(np.int64)
