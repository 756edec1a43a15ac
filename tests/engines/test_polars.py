"""Dealing: a grouping as counts is given rows of the table, against a plain dealing of lists."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

from shoal.engines.kernels import rows_by_cell
from shoal.engines.polars import deal
from shoal.grouping import Grouping
from shoal.spec import Spec
from shoal.table import Table


@pytest.mark.parametrize("seed", range(8))
def test_rows_are_sorted_by_cell_in_the_order_given(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows, signatures, values = 60, 5, 4
    signature = random.integers(0, signatures, rows).astype(np.int32)
    value = random.integers(0, values, rows).astype(np.int32)
    cells = sorted(set(zip(signature.tolist(), value.tolist(), strict=True)))
    given = random.permutation(np.arange(rows, dtype=np.int32))
    piles = {cell: [r for r in given if (signature[r], value[r]) == cell] for cell in cells}
    starts = np.cumsum([0] + [len(piles[cell]) for cell in cells])
    signature_start = np.searchsorted([s for s, _ in cells], np.arange(signatures + 1))
    cell_value = np.array([v for _, v in cells], np.int32)
    ordered = rows_by_cell(given, signature, value, signature_start, cell_value, starts)
    assert ordered.tolist() == [row for cell in cells for row in piles[cell]]


def random_grouping(seed: int) -> tuple[Table, Grouping]:
    """Groups of some rows, the rest alone or suppressed, some values changed."""
    random = np.random.default_rng(seed)
    rows = 80
    frame = pl.DataFrame(
        {"q": random.integers(0, 4, rows), "v": ["a", "b", "c", *random.choice([*"abc"], rows - 3)]}
    )
    table = Table.from_frame(frame, Spec(qi=["q"], sensitive="v", protect=["a"], r=2))
    signature, value, _ = table.cells
    lines = []
    for cell, free in enumerate(table.cells[2].tolist()):
        while free > 2 and random.random() < 0.8:
            taken = int(random.integers(1, min(free, 4)))
            lines.append((int(random.integers(0, 5)), cell, taken))
            free -= taken
    used = sorted({group for group, _, _ in lines})
    cell = np.array([c for _, c, _ in lines])
    group = np.array([used.index(g) for g, _, _ in lines], np.int32)
    taken = np.array([n for _, _, n in lines])
    left = table.cells[2] - np.bincount(cell, taken, len(value)).astype(np.int64)
    alone = np.flatnonzero((left > 0) & (table.value_event[value] < 0))
    cells = np.append(cell, alone)
    grouping = Grouping.of_lines(
        table,
        np.append(group, len(used) + np.arange(len(alone))).astype(np.int32),
        signature[cells],
        value[cells],
        np.append(taken, np.ones(len(alone), np.int64)),
        copies=np.append(np.ones(len(used), np.int64), left[alone]),
        shown=random.permutation(value[cells]) if seed % 2 else None,
    )
    return table, grouping


@pytest.mark.parametrize("seed", range(12))
def test_every_group_gets_the_people_that_it_counts(seed: int) -> None:
    table, grouping = random_grouping(seed)
    dealt = deal(table, grouping, seed=seed)
    shown = grouping.value if grouping.shown is None else grouping.shown
    expected: Counter[tuple[int, ...]] = Counter()
    for line, group in enumerate(grouping.group):
        for copy in range(grouping.copies[group]):
            number = int(grouping.first_number[group]) + copy
            key = (number, grouping.signature[line], grouping.value[line], shown[line])
            expected[tuple(int(part) for part in key)] += int(grouping.rows[line])
    kept = np.flatnonzero(dealt.group >= 0)
    found = Counter(
        zip(
            dealt.group[kept].tolist(),
            table.row_signature[kept].tolist(),
            table.row_value[kept].tolist(),
            dealt.value[kept].tolist(),
            strict=True,
        )
    )
    assert found == expected
    assert len(kept) == grouping.published


def test_which_of_equal_rows_is_taken_is_drawn() -> None:
    table, grouping = random_grouping(0)
    drawn = {tuple(deal(table, grouping, seed=seed).group.tolist()) for seed in range(5)}
    assert len(drawn) == 5
    again = deal(table, grouping, seed=3).group
    assert again.tolist() == deal(table, grouping, seed=3).group.tolist()
