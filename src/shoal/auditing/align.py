"""A release that any tool made, aligned with the table it was made from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.arrays import IntArray
from shoal.auditing.order import check_order, check_values
from shoal.data.spec import MISSING, Spec
from shoal.data.table import Column, Table, code_column, factorize
from shoal.data.table.alike import warn_of_lookalikes
from shoal.data.table.frames import free_name, to_polars
from shoal.engines.engine import KeyCounts, Pairs, check_keys, check_named
from shoal.errors import InputError, nearest
from shoal.groups import Grouping

Coded = tuple[Column, IntArray]


class Aligned(NamedTuple):
    """A table, the groups that were published of it, and the group of each of its rows."""

    table: Table
    grouping: Grouping
    rows: IntArray | None
    """0 to K-1, or -1 where a row is not published; None where rows were counted elsewhere."""


def labels_of(frame: Any, column: str) -> pl.Series:
    """The column that labels the groups of a table's rows."""
    data = to_polars(frame)
    if column not in data.columns:
        raise InputError(
            "groups-column",
            f'The group column "{column}" does not exist{nearest(column, data.columns)}.',
            f"Columns: {', '.join(data.columns)}.",
        )
    return data[column]


def align_release(frame: Any, released: Any, spec: Spec, *, key: str | None = None) -> Aligned:
    """Classes are the distinct combinations of the released QI columns. Rows correspond by order,
    or by a `key` column (rows of the table that the release lacks are suppressed).

    Without a key, a release that shows another order than the table's is refused: one row is
    enough where a QI or any other shared column shows another value (see `order.py`). Methods that
    distort change sensitive values on purpose, so these count only together: when more of them
    differ than half of what a random order would make differ.

    If the release has the sensitive column, its values are what is published: member values of a
    set event are then judged as such, and changed values as changed.
    """
    data, other = to_polars(frame), to_polars(released)
    _check(data, other, spec, key)
    if key is None:
        check_order(data, other, spec)
        position: NDArray[Any] = np.arange(data.height)
    else:
        position = _positions(data[key], other[key])
    classes = [code_column(other[name]) for name in spec.qi]
    codes, _ = factorize([c for _, c in classes], [len(column) for column, _ in classes])
    rows = _dense(np.where(position >= 0, codes[position], -1))
    table = _coded(frame, spec)
    shown = _shown(other, table.spec)
    if not shown:
        return Aligned(table, Grouping.of_rows(table, rows), rows)
    members = _show_members(shown, table.spec)
    if members != spec.publish_members:
        table = Table.from_frame(frame, table.spec.with_(publish_members=members))
    if table.several is not None:
        for one in table.several.columns:
            if one.members.name in shown:
                found = _recoded(one, shown[one.members.name], position, one.row_value)
                _refuse_changed(one, int(np.count_nonzero(found != one.row_value)))
        return Aligned(table, Grouping.of_rows(table, rows), rows)
    values = _recoded(table, shown[table.members.name], position, table.row_value)
    if key is None:
        check_values(table, values)
    changed = not np.array_equal(values, table.row_value)
    grouping = Grouping.of_rows(table, rows, values=values if changed else None)
    return Aligned(table, grouping, rows)


def align_counted(pairs: Pairs, spec: Spec) -> Aligned:
    """Aligns by counted pairs of the table's lines and the release's, joined by a key; which
    rows they are is not known."""
    counts = free_name("people", pairs.table.columns)
    rows, other = pairs.count.alias(counts), pairs.released
    for name in spec.qi:
        _check_released(name, other)
    lines = pairs.table.with_columns(rows)
    there = pairs.there.to_numpy()
    classes = [code_column(other[name]) for name in spec.qi]
    codes, _ = factorize([c for _, c in classes], [len(column) for column, _ in classes])
    group = _dense(np.where(there, codes, -1))
    table = Table.from_cells(lines, spec, rows=counts)
    warn_of_lookalikes(table)
    shown = _shown(other.filter(pairs.there), table.spec)
    members = _show_members(shown, table.spec)
    if shown and members != spec.publish_members:
        table = Table.from_cells(lines, table.spec.with_(publish_members=members), rows=counts)
    assert table.counted is not None
    signature, value = table.counted.signature, table.member_value[table.counted.member]
    place = np.where(there, np.cumsum(there) - 1, -1)
    published = None
    for one in (table,) if table.several is None else table.several.columns:
        if one.members.name in shown:
            assert one.counted is not None
            own = one.member_value[one.counted.member]
            found = _recoded(one, shown[one.members.name], place, own)
            if table.several is not None:
                _refuse_changed(one, int(rows.to_numpy()[found != own].sum()))
            elif not np.array_equal(found, own):
                published = found
    kept = np.flatnonzero(group >= 0)
    grouping = Grouping.of_lines(
        table,
        group[kept],
        signature[kept],
        value[kept],
        rows.to_numpy()[kept],
        shown=None if published is None else published[kept],
    )
    return Aligned(table, grouping, None)


def _refuse_changed(table: Table, differing: int) -> None:
    """An InputError if values of one of several columns are not those of the table."""
    if differing:
        raise InputError(
            "released-several",
            f'{differing:,} rows have another "{table.members.name}" in the release, and with '
            "several sensitive columns their values must be the table's own.",
            "Align the rows with --key COLUMN, or judge one sensitive column at a time.",
        )


def _recoded(table: Table, shown: Coded, position: NDArray[Any], own: IntArray) -> IntArray:
    """The published value of each line, its own where it is not published."""
    known = {label: code for code, label in enumerate(table.values)}
    unknown = [label for label in shown[0].labels if label not in known]
    if unknown:
        raise InputError(
            "released-value",
            f'The released value "{unknown[0]}" of "{table.members.name}" never occurs in the table'
            f"{nearest(unknown[0], known)}.",
            "Release values of the table, or an event's label.",
        )
    recode = np.array([known[label] for label in shown[0].labels], np.int32)
    return np.where(position >= 0, recode[shown[1]][position], own).astype(np.int32)


def _coded(frame: Any, spec: Spec) -> Table:
    table = Table.from_frame(frame, spec)
    warn_of_lookalikes(table)
    return table


def _check(data: pl.DataFrame, other: pl.DataFrame, spec: Spec, key: str | None) -> None:
    for name in spec.qi:
        _check_released(name, other)
    if key is None and data.height != other.height:
        raise InputError(
            "released-rows",
            f"The table has {data.height:,} rows and the release {other.height:,}.",
            "Align them with --key COLUMN, or give a release with a line for every row.",
        )
    if not other.height:
        raise InputError(
            "released-empty", "The release has no rows.", "Give a release with people in it."
        )
    if key is not None:
        check_named(key, table=data.columns, release=other.columns)


def _check_released(name: str, other: pl.DataFrame) -> None:
    if name not in other.columns:
        raise InputError(
            "released-column",
            f'The release has no column "{name}"{nearest(name, other.columns)}.',
            "Its QI columns must bear the table's names.",
        )


def _positions(keys: pl.Series, released: pl.Series) -> IntArray:
    """Where each key stands in the release, -1 where it does not."""
    left = pl.DataFrame({"key": keys.cast(pl.String)})
    right = pl.DataFrame({"key": released.cast(pl.String)}).with_row_index("at")
    check_keys(
        keys.name,
        table=KeyCounts(len(keys), keys.n_unique()),
        release=KeyCounts(len(released), released.n_unique()),
        stray=[str(key) for key in right.join(left, on="key", how="anti")["key"].head(1)],
    )
    joined = left.join(right, on="key", how="left", maintain_order="left")
    return joined["at"].cast(pl.Int32).fill_null(-1).to_numpy()


def _shown(other: pl.DataFrame, spec: Spec) -> dict[str, Coded]:
    """The sensitive columns that a release has."""
    told = [name for name in spec.sensitive_columns if name in other.columns]
    return {name: code_column(other[name]) for name in told}


def _show_members(shown: dict[str, Coded], spec: Spec) -> bool:
    """Whether values are shown that stand behind the label of a set event."""
    return any(
        event.is_set and {label for label in column.labels if label != MISSING} & {*event.values}
        for name, (column, _) in shown.items()
        for event in spec.alone(name).protect or ()
    )


def _dense(groups: Any) -> IntArray:
    """Group numbers without holes, -1 kept."""
    present, inverse = np.unique(groups, return_inverse=True)
    return (inverse - (1 if present[0] < 0 else 0)).astype(np.int32)
