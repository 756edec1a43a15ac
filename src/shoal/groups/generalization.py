"""Generalization: a common range or hierarchy node for the QI values of each group.

A QI with a hierarchy gets the lowest node above the group's values. One without gets, if its
values have an order (numbers, dates), the interval from the least to the greatest of the group;
otherwise the value itself where all agree and `*` where not, or, if asked, the set of its values.
A missing value is no part of an interval and is named beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from shoal.arrays import IntArray, Ints
from shoal.data.spec import MISSING
from shoal.data.table import Column, Table, factorize
from shoal.data.table.hierarchy import Hierarchy
from shoal.errors import InputError
from shoal.groups import Recoding
from shoal.groups.ragged import Ragged

MAX_CELLS = 1 << 30
"""A recoding says of every node and every value whether the one covers the other."""


def generalize(
    table: Table,
    groups: IntArray,
    signatures: IntArray,
    hierarchies: Mapping[str, Hierarchy],
    *,
    sets: bool = False,
) -> tuple[Recoding, ...]:
    """One recoding per QI, for groups numbered 0 to K-1 that hold the signatures beside them.

    `hierarchies` go by QI name, and are bound to the table here; `sets` publishes a QI that has
    neither order nor hierarchy as a set of values, `{a, b}`, instead of `*`.
    """
    count, width = int(groups.max(initial=-1)) + 1, len(table.signatures)
    keys = factorize([groups, signatures], [count, width])[1]
    group, signature = np.divmod(keys.astype(np.int64), width)
    start = Ragged.of_owners(group, count).start
    recodings = []
    for column, codes in zip(table.qi, table.signatures.T, strict=True):
        held = _Held(start, column, codes[signature].astype(np.int64))
        if column.name in hierarchies:
            recodings.append(_nodes(held, hierarchies[column.name].bind(column.values.to_list())))
        elif has_order(column):
            recodings.append(_intervals(held))
        elif sets:
            recodings.append(_sets(held))
        else:
            recodings.append(_nodes(held, Hierarchy.flat(column.name, column.labels)))
    return tuple(recodings)


def has_order(column: Column) -> bool:
    """Whether a column's values lie on a line, so that an interval says something."""
    return column.numeric or column.values.dtype.is_temporal()


def missing_code(column: Column) -> int:
    """The code of the missing value, or one past the last code if none is missing."""
    return len(column) - column.values.null_count()


@dataclass(frozen=True, eq=False)
class _Held(Ragged):
    """The codes of one QI that each group holds."""

    column: Column
    codes: Ints


def _nodes(held: _Held, tree: Hierarchy) -> Recoding:
    level = np.full(held.owners, -1, dtype=np.int64)
    node = np.zeros(held.owners, dtype=np.int64)
    for height in range(tree.levels):
        above = tree.codes(height)[held.codes]
        lowest = held.least(above)
        settled = (level < 0) & (lowest == held.largest(above))
        level[settled], node[settled] = height, lowest[settled]
    used, which = np.unique(level * len(held.column) + node, return_inverse=True)
    pairs = [divmod(int(key), len(held.column)) for key in used]
    _check_cells(held.column, len(pairs))
    names = [held.column.labels, *(tree.labels(height) for height in range(1, tree.levels))]
    labels = tuple(names[height][number] for height, number in pairs)
    members = np.array([tree.codes(height) == number for height, number in pairs], dtype=bool)
    return Recoding(labels, members.reshape(len(pairs), len(held.column)), which.astype(np.int32))


def _intervals(held: _Held) -> Recoding:
    missing, size = missing_code(held.column), len(held.column)
    absent = held.codes == missing
    low = held.least(np.where(absent, size, held.codes))
    high = held.largest(np.where(absent, -1, held.codes))
    partly = held.largest(absent.astype(np.int64))
    keys = (low * (size + 1) + high + 1) * 2 + partly
    used, first, which = np.unique(keys, return_index=True, return_inverse=True)
    _check_cells(held.column, len(used))
    low, high, partly = low[first], high[first], partly[first].astype(bool)
    domain = np.arange(size)
    members = (domain >= low[:, None]) & (domain <= high[:, None])
    members |= partly[:, None] & (domain == missing)
    bounds = zip(low.tolist(), high.tolist(), partly.tolist(), strict=True)
    labels = tuple(_interval_label(held.column.labels, *bound) for bound in bounds)
    return Recoding(labels, members, which.astype(np.int32))


def _interval_label(labels: tuple[str, ...], low: int, high: int, partly: bool) -> str:
    if low > high:
        return MISSING
    shown = labels[low] if low == high else f"[{labels[low]}, {labels[high]}]"
    return f"{shown} or {MISSING}" if partly else shown


def _sets(held: _Held) -> Recoding:
    size = len(held.column)
    group, code = np.divmod(np.unique(held.owner * size + held.codes), size)
    number: dict[bytes, int] = {}
    which = np.empty(held.owners, dtype=np.int32)
    for g, (first, last) in enumerate(
        pairwise(Ragged.of_owners(group, held.owners).start.tolist())
    ):
        which[g] = number.setdefault(code[first:last].tobytes(), len(number))
    _check_cells(held.column, len(number))
    members = np.zeros((len(number), size), dtype=bool)
    labels = []
    for row, held_codes in enumerate(number):
        codes = np.frombuffer(held_codes, dtype=np.int64)
        members[row, codes] = True
        names = [held.column.labels[value] for value in codes]
        labels.append(names[0] if len(names) == 1 else "{" + ", ".join(names) + "}")
    return Recoding(tuple(labels), members, which)


def _check_cells(column: Column, nodes: int) -> None:
    if nodes * len(column) > MAX_CELLS:
        problem = f'QI "{column.name}" has {len(column):,} values in {nodes:,} different ranges.'
        remedy = "Round its values, give it a coarser hierarchy, or ask for larger groups."
        raise InputError("ranges-too-many", problem, remedy)
