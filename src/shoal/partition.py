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

    The pairs of group g are `group_start[g]` to `group_start[g+1]`; likewise its values, and the
    carriers (event, rows) of a pair: what is true, for measuring how often guesses are right.
    """

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
    row_pair: IntArray
    """The pair of each row of the table, -1 where it is suppressed."""
    row_value: IntArray
    """The published value code of each row of the table, -1 where it is suppressed."""
    distorted: bool
    """Whether published values differ from the true ones."""

    @property
    def groups(self) -> int:
        return len(self.group_start) - 1

    @property
    def pair_group(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(self.groups), np.diff(self.group_start))

    @property
    def group_size(self) -> NDArray[np.int64]:
        totals = np.concatenate([[0], np.cumsum(self.pair_size)])
        return np.asarray(totals[self.group_start[1:]] - totals[self.group_start[:-1]])

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
        kept = np.flatnonzero(groups >= 0)
        group, signature = groups[kept], table.row_signature[kept]
        published = (table.row_value if values is None else values)[kept]
        if pooled is not None and pooled.any():
            hidden = pooled[group] & (table.value_event[published] < 0)
            published = np.where(hidden, len(table.values), published).astype(np.int32)
        count = int(group.max(initial=-1)) + 1

        pair, keys = factorize([group, signature], [count, len(table.signatures)])
        pair_group, pair_signature = np.divmod(keys, len(table.signatures))
        held, value_keys = factorize([group, published], [count, len(table.values) + 1])
        value_group, value_code = np.divmod(value_keys, len(table.values) + 1)
        event = table.row_event[kept]
        carries = event >= 0
        carrier, carrier_keys = factorize(
            [pair[carries], event[carries]], [len(keys), max(1, len(table.events))]
        )
        carrier_pair, carrier_event = np.divmod(carrier_keys, max(1, len(table.events)))
        row_pair = np.full(table.rows, -1, np.int32)
        row_pair[kept] = pair
        row_value = np.full(table.rows, -1, np.int32)
        row_value[kept] = published
        return cls(
            group_start=_starts(pair_group, count),
            pair_signature=pair_signature.astype(np.int32),
            pair_size=np.bincount(pair, minlength=len(keys)),
            value_start=_starts(value_group, count),
            value_code=value_code.astype(np.int32),
            value_count=np.bincount(held, minlength=len(value_keys)),
            carrier_start=_starts(carrier_pair, len(keys)),
            carrier_event=carrier_event.astype(np.int32),
            carrier_count=np.bincount(carrier, minlength=len(carrier_keys)),
            row_pair=row_pair,
            row_value=row_value,
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
        count = int(line_group.max(initial=-1)) + 1
        pair, keys = factorize([line_group, line_signature], [count, len(table.signatures)])
        pair_group, pair_signature = np.divmod(keys, len(table.signatures))
        by_group = np.argsort(line_group, kind="stable")
        row_value = np.empty(len(line_group), np.int32)
        row_value[by_group] = np.repeat(value_code, value_count)
        return cls(
            group_start=_starts(pair_group, count),
            pair_signature=pair_signature.astype(np.int32),
            pair_size=np.bincount(pair, minlength=len(keys)),
            value_start=_starts(value_group.astype(np.int64), count),
            value_code=value_code,
            value_count=value_count,
            carrier_start=np.zeros(len(keys) + 1, np.int64),
            carrier_event=np.zeros(0, np.int32),
            carrier_count=np.zeros(0, np.int64),
            row_pair=pair,
            row_value=row_value,
            distorted=True,
        )


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
