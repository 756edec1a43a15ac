"""The tables of a release, made so that nothing in them links a person to a value but the group.

Groups are numbered by a hash of what they publish, lines are sorted by what they show. Everything
here is reckoned from published rows and texts alone: a code or an order that also counted what is
suppressed would tell of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.grouping import Grouping, Recoding
from shoal.grouping.partition import OTHER
from shoal.table import IntArray, Table

GID = "gid"
ROWS_AT_ONCE = 1 << 17

Tables = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame | None, IntArray]


def check_names(table: Table) -> None:
    """An InputError for columns and values with names that the published tables need."""
    for name in (*table.spec.qi, table.spec.sensitive):
        if name in (GID, "count"):
            raise InputError(
                "column-name",
                f'The column "{name}" has a name that the published tables need themselves.',
                "Rename it.",
            )
    if OTHER in (*table.values, *table.members.labels):
        raise InputError(
            "value-name",
            f'The sensitive column holds "{OTHER}", which is how pooled values are published.',
            "Rename that value.",
        )


def build_tables(table: Table, grouping: Grouping) -> Tables:
    """QI table, sensitive table, members, ranges, and each row's gid (-1: suppressed)."""
    check_names(table)
    if grouping.groups.max(initial=-1) < 0:
        raise InputError("nothing-published", "No row is in a group.", "Publish at least one row.")
    return canonical_tables(table, canonical(table, grouping))


def canonical_tables(table: Table, grouping: Grouping) -> Tables:
    """The same of a grouping whose groups are numbered already: gid is the group's number + 1."""
    row_gid = np.where(grouping.groups >= 0, grouping.groups + 1, -1).astype(np.int32)
    kept = np.flatnonzero(row_gid >= 0)
    if grouping.form == "bucketized":
        # Signatures are numbered in the order of their values, so this order is canonical.
        lines = row_gid[kept].astype(np.int64) * len(table.signatures)
        lines += table.row_signature[kept]
        lines.sort()
        line_gid = (lines // len(table.signatures)).astype(np.int32)
        lines %= len(table.signatures)
        columns = [
            _coded(column.values).gather(table.signatures[lines, position]).alias(column.name)
            for position, column in enumerate(table.qi)
        ]
    else:
        rows = kept[np.argsort(row_gid[kept], kind="stable")]
        line_gid, group = row_gid[rows], grouping.groups[rows]
        columns = [
            _coded(pl.Series(column.name, recoding.labels)).gather(recoding.node[group])
            for column, recoding in zip(table.qi, grouping.recodings, strict=True)
        ]
    qi = pl.DataFrame([pl.Series(GID, line_gid), *columns])
    return (
        qi,
        _sensitive(table, grouping, row_gid, kept),
        _members(table, kept),
        _ranges(table, grouping, kept),
        row_gid,
    )


def _sensitive(
    table: Table, grouping: Grouping, row_gid: IntArray, kept: NDArray[np.int64]
) -> pl.DataFrame:
    """gid, value, count, in this order."""
    texts = np.array([*table.values, OTHER])
    order = np.argsort(texts, kind="stable")
    rank = np.empty(len(texts), np.int32)
    rank[order] = np.arange(len(texts))
    keys = row_gid[kept].astype(np.int64)
    keys *= len(texts)
    keys += rank[_published_values(table, grouping, kept)]
    keys.sort()
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    count = np.diff(first, append=len(keys))
    keys = keys[first]
    return pl.DataFrame(
        {
            GID: (keys // len(texts)).astype(np.int32),
            table.spec.sensitive: _coded(pl.Series(texts[order])).gather(keys % len(texts)),
            "count": count,
        }
    )


def _coded(texts: pl.Series) -> pl.Series:
    """Texts as an Enum, which takes a byte or two per line instead of sixteen."""
    if texts.dtype != pl.String:
        return texts
    return texts.cast(pl.Enum(texts.drop_nulls().unique(maintain_order=True)))


def canonical(table: Table, grouping: Grouping) -> Grouping:
    """The same groups, numbered in the order of a hash of what each publishes: the numbers say
    nothing that the groups' content does not say."""
    signature_rank, value_rank = _published_ranks(table, grouping)
    total = np.zeros(grouping.count, np.uint64)
    with np.errstate(over="ignore"):
        for rows in _slices(grouping):
            group = grouping.groups[rows]
            held = value_rank[_published_values(table, grouping, rows)].astype(np.uint64)
            np.add.at(total, group, _mix(held + np.uint64(1 << 40)))
            if grouping.form == "bucketized":
                shown = signature_rank[table.row_signature[rows]].astype(np.uint64)
                np.add.at(total, group, _mix(shown + np.uint64(1)))
        for recoding in grouping.recodings:
            labels = np.array(recoding.labels)[recoding.node]
            shown = np.unique(labels, return_inverse=True)[1].astype(np.uint64)
            total = _mix(total + shown + np.uint64(1))
        order = np.argsort(_mix(total), kind="stable")
    number = np.empty(grouping.count + 1, np.int32)
    number[order] = np.arange(grouping.count)
    number[-1] = -1  # suppressed rows stay suppressed
    return replace(
        grouping,
        groups=number[grouping.groups],
        recodings=tuple(
            Recoding(one.labels, one.members, one.node[order]) for one in grouping.recodings
        ),
        pooled=None if grouping.pooled is None else grouping.pooled[order],
    )


def _published_ranks(table: Table, grouping: Grouping) -> tuple[IntArray, IntArray]:
    """Numbers of the signatures and of the values that are published, among these alone; values by
    their texts."""
    signatures = np.zeros(len(table.signatures), bool)
    values = np.zeros(len(table.values) + 1, bool)
    for rows in _slices(grouping):
        signatures[table.row_signature[rows]] = True
        values[_published_values(table, grouping, rows)] = True
    texts = np.where(values, np.array([*table.values, OTHER]), "")
    by_text = np.argsort(np.argsort(texts, kind="stable"), kind="stable") - int((~values).sum())
    return np.cumsum(signatures).astype(np.int32), by_text.astype(np.int32) + 1


def _slices(grouping: Grouping) -> Iterator[NDArray[np.int64]]:
    """The published rows, some at a time."""
    rows = len(grouping.groups)
    for first in range(0, rows, ROWS_AT_ONCE):
        some = np.arange(first, min(rows, first + ROWS_AT_ONCE))
        yield some[grouping.groups[some] >= 0]


def _published_values(table: Table, grouping: Grouping, rows: NDArray[np.int64]) -> IntArray:
    """The value code of some rows as published; `len(table.values)` where it is pooled."""
    value: IntArray = grouping.row_values(table)[rows]
    if grouping.pooled is None:
        return value
    hidden = grouping.pooled[grouping.groups[rows]] & (table.value_event[value] < 0)
    return np.where(hidden, len(table.values), value).astype(np.int32)


def _mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A 64-bit finalizer: similar numbers end up far apart."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def _members(table: Table, kept: NDArray[np.int64]) -> pl.DataFrame:
    """Totals of the member values that labels stand for: the dataset based distribution."""
    counts = np.bincount(table.row_member[kept], minlength=len(table.members))
    lines = [
        (event.label, value, int(counts[table.members.labels.index(value)]))
        for event in table.events
        if event.is_set and not table.spec.publish_members
        for value in event.values
    ]
    schema = {"event": pl.String, "value": pl.String, "count": pl.Int64}
    return pl.DataFrame(lines, schema=schema, orient="row")


def _ranges(table: Table, grouping: Grouping, kept: NDArray[np.int64]) -> pl.DataFrame | None:
    """What each published label covers, of the values that published rows have."""
    if grouping.form == "bucketized":
        return None
    signatures = table.signatures[np.unique(table.row_signature[kept])]
    parts = []
    for position, (column, recoding) in enumerate(zip(table.qi, grouping.recodings, strict=True)):
        used, shown = np.unique(recoding.node), np.unique(signatures[:, position])
        node, code = np.nonzero(recoding.members[np.ix_(used, shown)])
        labels = pl.Series([recoding.labels[n] for n in used], dtype=pl.String)
        parts.append(
            pl.DataFrame(
                {
                    "attribute": pl.Series([column.name] * len(node), dtype=pl.String),
                    "label": labels[node],
                    "value": pl.Series(list(column.labels), dtype=pl.String)[shown[code]],
                }
            )
        )
    return pl.concat(parts).unique().sort("attribute", "label", "value")
