"""From groups of cells to groups of rows, against a plain dealing of lists."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.anonymizers.art.kernels.rows import deal_rows, rows_by_cell


@pytest.mark.parametrize("seed", range(8))
def test_rows_are_dealt_from_their_cells(seed: int) -> None:
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

    taken = np.array([c for c, cell in enumerate(cells) for _ in piles[cell][::2]], np.int64)
    taken = random.permutation(taken)
    owner = np.sort(random.integers(0, 6, len(taken)))
    filler = np.array([v > 0 for _, v in cells])
    groups = np.full(rows, -1, np.int32)
    deal_rows(ordered, starts, taken, owner, filler, groups)

    expected = [-1] * rows
    for cell, group in zip(taken, owner, strict=True):
        expected[piles[cells[cell]].pop(0)] = group
    number = int(owner.max())
    for row in [row for cell in cells if cell[1] > 0 for row in piles[cell]]:
        number += 1
        expected[row] = number
    assert groups.tolist() == expected


def test_without_groups_every_filler_row_is_alone() -> None:
    groups = np.full(3, -1, np.int32)
    nobody = np.zeros(0, np.int64)
    starts, filler = np.array([0, 1, 3]), np.array([False, True])
    deal_rows(np.array([2, 0, 1], np.int32), starts, nobody, nobody, filler, groups)
    assert groups.tolist() == [0, 1, -1]
