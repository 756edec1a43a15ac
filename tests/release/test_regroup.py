"""The groups of a release again, in memory that grows with what is published."""

from __future__ import annotations

import tracemalloc

import numpy as np
import polars as pl

import shoal
from shoal.release.regroup import regroup

ROWS, VALUES = 6_000, 3_000


def test_many_values_in_many_groups_take_no_table_of_both() -> None:
    rng = np.random.default_rng(0)
    code = rng.integers(1, VALUES, ROWS)
    code[rng.random(ROWS) < 0.02] = 0
    frame = pl.DataFrame({"age": rng.integers(20, size=ROWS), "code": [f"C{n}" for n in code]})
    spec = shoal.Spec(qi=["age"], sensitive="code", protect=["C0"], r=3, min_support=50)
    release = shoal.anonymize(frame, spec, method="anatomy", l=3, seed=0)
    made, rows = release.made, release.row_groups
    assert rows is not None
    tracemalloc.start()
    again = regroup(release, made.table, rows)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert again.people.sum() == made.grouping.rows.sum()
    assert taken < len(again.copies) * len(made.table.values)
