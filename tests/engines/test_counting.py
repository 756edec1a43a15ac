"""Rows are counted by numbers that columns make up together: the same as column by column."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from shoal.engines import counting
from shoal.engines.counting import count_rows

EDGES = [-(2**63), 2**63 - 1, 0, None]


def random_rows(seed: int, rows: int) -> pl.DataFrame:
    random = np.random.default_rng(seed)

    def drawn(values: list[object], kind: pl.DataType | type[pl.DataType]) -> pl.Series:
        return pl.Series(
            [values[place] for place in random.integers(0, len(values), rows)], dtype=kind
        )

    return pl.DataFrame(
        {
            "text": drawn(["a", "", None, "b"], pl.String),
            "small": drawn([-3, 7, None], pl.Int8),
            "wide": drawn(EDGES, pl.Int64),
            "large": drawn([2**64 - 1, 0, None], pl.UInt64),
            "none": drawn([None], pl.Int32),
            "number": drawn([0.5, None, float("nan")], pl.Float64),
            "yes": drawn([True, False, None], pl.Boolean),
            "other": drawn(["b", "c"], pl.String),
        }
    )


@pytest.mark.parametrize("seed", range(6))
def test_rows_are_counted_as_column_by_column(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MERGED", 100)
    frames = [random_rows(seed + part, 200) for part in range(0, 30, 10)]
    columns = frames[0].columns
    expected = pl.concat(frames).group_by(columns).agg(pl.len().cast(pl.Int64).alias("rows"))
    assert_frame_equal(count_rows(frames, columns), expected, check_row_order=False)
