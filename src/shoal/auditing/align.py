"""A release that any tool made, aligned with the table it was made from."""

from __future__ import annotations

import re
import warnings
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.engines.pairs import Pairs
from shoal.errors import InputError, nearest
from shoal.grouping import Grouping
from shoal.grouping.partition import number_groups
from shoal.propose.alike import warn_of_lookalikes
from shoal.spec import MISSING, InputWarning, Spec
from shoal.table import Column, IntArray, Table, code_column, factorize
from shoal.table.frames import free_name, to_polars

SUPPRESSED = frozenset({"*", "", MISSING})
"""Marks that say nothing of a cell's value."""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
RANGE = re.compile(
    rf"[\[(]?\s*({NUMBER.pattern})\s*(?:-|–|,|;|\.\.|to)\s*({NUMBER.pattern})\s*[\])\[]?"
)

Codes = range | frozenset[int]


class Aligned(NamedTuple):
    """A table, the groups that were published of it, and the group of each of its rows."""

    table: Table
    grouping: Grouping
    rows: IntArray | None
    """0 to K-1, or -1 where a row is not published; None where rows were counted elsewhere."""


def align_column(frame: Any, column: str, spec: Spec) -> Aligned:
    """A table whose own `column` labels the groups; a missing label (or the number -1) means not
    published."""
    rows = number_groups(labels_of(frame, column))[0]
    table = _coded(frame, spec)
    return Aligned(table, Grouping.of_rows(table, rows), rows)


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
    enough where a QI or any other shared column shows another value (see `_compare`). Methods that
    distort change sensitive values on purpose, so these count only together: when more of them
    differ than half of what a random order would make differ.

    If the release has the sensitive column, its values are what is published: member values of a
    set event are then judged as such, and changed values as changed.
    """
    data, other = to_polars(frame), to_polars(released)
    _check(data, other, spec, key)
    if key is None:
        _check_order(data, other, spec)
        position: NDArray[Any] = np.arange(data.height)
    else:
        position = _positions(data[key], other[key])
    classes = [code_column(other[name]) for name in spec.qi]
    codes, _ = factorize([c for _, c in classes], [len(column) for column, _ in classes])
    rows = _dense(np.where(position >= 0, codes[position], -1))
    table = _coded(frame, spec)
    told = [name for name in spec.sensitive_columns if name in other.columns]
    if not told:
        return Aligned(table, Grouping.of_rows(table, rows), rows)
    shown = {name: code_column(other[name]) for name in told}
    members = any(
        _shows_members(column.labels, table.spec.alone(name)) for name, (column, _) in shown.items()
    )
    if members != spec.publish_members:
        table = Table.from_frame(frame, table.spec.with_(publish_members=members))
    if table.several is not None:
        for one in table.several.columns:
            if one.members.name in told:
                _check_same(one, _values(one, shown[one.members.name], position))
        return Aligned(table, Grouping.of_rows(table, rows), rows)
    values = _values(table, shown[told[0]], position)
    if key is None:
        _check_values(table, values)
    changed = not np.array_equal(values, table.row_value)
    grouping = Grouping.of_rows(table, rows, values=values if changed else None)
    return Aligned(table, grouping, rows)


def align_counted(pairs: Pairs, spec: Spec) -> Aligned:
    """The same from counted pairs of the table's lines and the release's, joined by a key; which
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
    told = [name for name in spec.sensitive_columns if name in other.columns]
    shown = {name: code_column(other[name].filter(pairs.there)) for name in told}
    members = any(
        _shows_members(column.labels, table.spec.alone(name)) for name, (column, _) in shown.items()
    )
    if told and members != spec.publish_members:
        table = Table.from_cells(lines, table.spec.with_(publish_members=members), rows=counts)
    assert table.counted is not None
    signature, value = table.counted.signature, table.member_value[table.counted.member]
    place = np.where(there, np.cumsum(there) - 1, -1)
    published = None
    for one in (table,) if table.several is None else table.several.columns:
        if one.members.name in told:
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


def _check_same(table: Table, values: IntArray) -> None:
    """An InputError if values of one of several columns are not those of the table."""
    _refuse_changed(table, int(np.count_nonzero(values != table.row_value)))


def _refuse_changed(table: Table, differing: int) -> None:
    if differing:
        raise InputError(
            "released-several",
            f'{differing:,} rows have another "{table.members.name}" in the release, and with '
            "several sensitive columns their values must be the table's own.",
            "Align the rows with --key COLUMN, or judge one sensitive column at a time.",
        )


def _values(table: Table, shown: tuple[Column, IntArray], position: NDArray[Any]) -> IntArray:
    """The published value of each row, its own where it is not published."""
    return _recoded(table, shown, position, table.row_value)


def _recoded(
    table: Table, shown: tuple[Column, IntArray], position: NDArray[Any], own: IntArray
) -> IntArray:
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


def _check_order(data: pl.DataFrame, other: pl.DataFrame, spec: Spec) -> None:
    """An InputError if a column that is not sensitive shows that the rows are in another order; a
    warning if no column, not even the sensitive one, could show it."""
    told = any(name in other.columns for name in spec.sensitive_columns)
    for name in other.columns:
        if name not in data.columns or name in spec.sensitive_columns:
            continue
        row, tells = _compare(data[name], other[name])
        if row is not None:
            raise InputError(
                "released-order",
                f'Row {row} has "{name}" {data[name][row]} in the table and {other[name][row]} in '
                "the release, so the two are not in the same order.",
                "Align them with --key COLUMN (a row number that both have will do).",
            )
        told |= tells
    if not told:
        warnings.warn(
            "No column shows whether the release has the table's order, so it is taken to have it. "
            "Align them with --key COLUMN if both have one.",
            InputWarning,
            stacklevel=3,
        )


def _compare(original: pl.Series, released: pl.Series) -> tuple[int | None, bool]:
    """The first row that shows another order, or None; and whether any cell tells the order.

    A cell that shows a single value w contradicts another value v if v is shown somewhere too:
    otherwise w may name a class that holds v (ages 30 to 39 as 30). One that shows a range or a set
    contradicts a value outside; but tools label ranges loosely (20-39 with 40 inside), so these
    count only together, as the sensitive values do. Other cells say nothing.
    """
    if any(s.dtype.is_nested() or s.dtype in (pl.Object, pl.Binary) for s in (original, released)):
        return None, False
    if original.dtype == released.dtype and original.equals(released):
        return None, original.n_unique() > 1
    (column, codes), (shown, cells) = code_column(original), code_column(released)
    single = _single_values(shown.labels, column)
    alone = set(single.values())
    ranges = _ranges(shown.labels, column)
    pairs, first, counts = np.unique(
        cells.astype(np.int64) * len(column) + codes, return_index=True, return_counts=True
    )
    against, outside, told = [], [], set()
    differing = 0
    for pair, row, count in zip(pairs.tolist(), first.tolist(), counts.tolist(), strict=True):
        cell, code = divmod(pair, len(column))
        if column.labels[code] == MISSING:
            continue
        if single.get(cell) == code or code in ranges.get(cell, ()):
            told.add(cell)
        elif cell in single and code in alone:
            against.append(row)
        elif cell in ranges:
            outside.append(row)
            differing += count
    if _as_by_chance(differing, _outside_by_chance(ranges, codes, cells), len(codes)):
        against += outside
    return min(against, default=None), len(told) > 1


def _as_by_chance(differing: int, by_chance: int, rows: int) -> bool:
    """Whether more rows differ than half of what a random order makes differ, by_chance / rows."""
    return 2 * rows * differing > by_chance


def _outside_by_chance(ranges: dict[int, Codes], codes: IntArray, cells: IntArray) -> int:
    """How many cells with a range a random order puts beside a value outside it, times the rows:
    each of them meets every row's value with the same chance."""
    values, shown = np.bincount(codes), np.bincount(cells)
    return sum(
        int(shown[cell]) * (len(codes) - sum(int(values[code]) for code in inside))
        for cell, inside in ranges.items()
    )


def _single_values(labels: tuple[str, ...], column: Column) -> dict[int, int]:
    """The released labels that are values of the table's column, and which; 31 is also 31.0."""
    known: dict[str | float, int] = {label: code for code, label in enumerate(column.labels)}
    if column.numeric:
        known |= {float(value): code for code, value in enumerate(column.values.drop_nulls())}
    single = {}
    for position, label in enumerate(labels):
        key = float(label) if column.numeric and NUMBER.fullmatch(label) else label
        if key in known and label not in SUPPRESSED:
            single[position] = known[key]
    return single


def _ranges(labels: tuple[str, ...], column: Column) -> dict[int, Codes]:
    """The released labels that are ranges of numbers or sets of values, and the codes inside."""
    known = {text: code for code, text in enumerate(column.labels)}
    numbers = column.values.drop_nulls().cast(pl.Float64) if column.numeric else None
    ranges: dict[int, Codes] = {}
    for position, label in enumerate(labels):
        parts = label[1:-1].split(", ")
        if label in known:
            continue
        if label[:1] + label[-1:] == "{}" and all(part in known for part in parts):
            ranges[position] = frozenset(known[part] for part in parts)
        bounds = RANGE.fullmatch(label.removesuffix(f" or {MISSING}"))
        if numbers is not None and bounds is not None and float(bounds[1]) <= float(bounds[2]):
            least = int(numbers.search_sorted(float(bounds[1]), side="left"))
            ranges[position] = range(
                least, int(numbers.search_sorted(float(bounds[2]), side="right"))
            )
    return ranges


def _check_values(table: Table, values: IntArray) -> None:
    """An InputError if too many sensitive values differ.

    In a random order a row with value v, one of a_v in the table, meets each of the b_v released
    v with the same chance: on average n - sum(a_v b_v) / n of the n rows differ.
    """
    size, rows = len(table.values), table.rows
    before = np.bincount(table.row_value, minlength=size).astype(object)
    after = np.bincount(values, minlength=size).astype(object)
    by_chance = rows * rows - int((before * after).sum())
    differing = int(np.count_nonzero(values != table.row_value))
    if _as_by_chance(differing, by_chance, rows):
        raise InputError(
            "released-order",
            f'{differing:,} of {rows:,} rows have another "{table.members.name}" in the release, '
            f"and a random order would make {by_chance / rows:,.0f} differ.",
            "Align them with --key COLUMN (a row number that both have will do).",
        )


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
    for side, name in ((data, "table"), (other, "release")):
        if key is not None and key not in side.columns:
            raise InputError(
                "key-missing",
                f'The {name} has no key column "{key}"{nearest(key, side.columns)}.',
                "Name a column that both have.",
            )
        if key is not None and side[key].n_unique() < side.height:
            raise InputError(
                "key-twice", f'The key "{key}" repeats in the {name}.', "Use a unique key."
            )


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
    stray = right.join(left, on="key", how="anti")
    if stray.height:
        raise InputError(
            "key-stray",
            f'The release has the key "{stray["key"][0]}", which the table lacks.',
            "Release rows of the table only.",
        )
    joined = left.join(right, on="key", how="left", maintain_order="left")
    return joined["at"].cast(pl.Int32).fill_null(-1).to_numpy()


def _shows_members(labels: tuple[str, ...], spec: Spec) -> bool:
    published = {label for label in labels if label != MISSING}
    return any(event.is_set and published & set(event.values) for event in spec.protect or ())


def _dense(groups: Any) -> IntArray:
    """Group numbers without holes, -1 kept."""
    present, inverse = np.unique(groups, return_inverse=True)
    return (inverse - (1 if present[0] < 0 else 0)).astype(np.int32)
