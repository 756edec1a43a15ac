"""Who of a cell is suppressed, against plain lists; and rows are dealt accordingly."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.engines.polars import deal
from shoal.groups import Grouping
from shoal.groups.suppressed import among_first, lost_members


@pytest.mark.parametrize("seed", range(20))
def test_among_first_counts_each_owner(seed: int) -> None:
    rng = np.random.default_rng(seed)
    owner, wanted = rng.integers(0, 5, 30), rng.integers(0, 5, 5)
    seen: Counter[int] = Counter()
    expected = []
    for one in owner.tolist():
        seen[one] += 1
        expected.append(seen[one] <= wanted[one])
    assert among_first(owner, wanted).tolist() == expected


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_lost_as_counts_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({"q": rng.integers(0, 3, 90), "v": [*"abcd", *rng.choice([*"abcd"], 86)]})
    table = Table.from_frame(frame, Spec(qi=["q"], sensitive="v", protect=[["a", "b", "c"]], r=2))
    signature, value, rows = table.cells
    published = rng.integers(0, rows + 1)
    kept = np.flatnonzero(published)
    lines = np.zeros(len(kept), np.int32), signature[kept], value[kept], published[kept]
    grouping = Grouping.of_lines(table, *lines)
    lost = lost_members(table, grouping, seed=seed)
    assert (lost <= table.member_cells.rows).all()
    gone = Counter(
        (int(s), int(m))
        for s, m, group in zip(
            table.row_signature,
            table.row_member,
            deal(table, grouping, seed=seed).group,
            strict=True,
        )
        if group < 0
    )
    cells = zip(
        table.member_cells.signature.tolist(), table.member_cells.value.tolist(), strict=True
    )
    assert gone == Counter(dict(zip(cells, lost.tolist(), strict=True)))
    by_cell = Counter(
        {
            (int(s), int(v)): int(n)
            for s, v, n in zip(signature, value, rows - published, strict=True)
        }
    )
    summed: Counter[tuple[int, int]] = Counter()
    for (s, m), n in gone.items():
        summed[s, int(table.member_value[m])] += n
    assert +summed == +by_cell
