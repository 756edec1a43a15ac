"""Whether the rows of a release stand in the order of its table: what shows that they do not."""

from __future__ import annotations

import re
import warnings

import numpy as np
import polars as pl

from shoal.arrays import IntArray
from shoal.data.spec import MISSING, InputWarning, Spec
from shoal.data.table import Column, Table, code_column
from shoal.errors import InputError

SUPPRESSED = frozenset({"*", "", MISSING})
"""Marks that say nothing of a cell's value."""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
RANGE = re.compile(
    rf"[\[(]?\s*({NUMBER.pattern})\s*(?:-|–|,|;|\.\.|to)\s*({NUMBER.pattern})\s*[\])\[]?"
)

Codes = range | frozenset[int]


def check_order(data: pl.DataFrame, other: pl.DataFrame, spec: Spec) -> None:
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


def check_values(table: Table, values: IntArray) -> None:
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
