"""Rows are counted by numbers that columns make up together: the same as column by column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

from shoal.data.sources.streamed import open_rows
from shoal.engines import counting
from shoal.engines.counting import count_rows
from shoal.errors import InputError

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


@pytest.mark.parametrize("group", [7, 200, 1000])
def test_numbered_texts_of_a_file_are_its_texts(tmp_path: Path, group: int) -> None:
    for key in ("p", "q"):
        (tmp_path / f"key={key}").mkdir()
        for number in range(2):
            part = random_rows(number, 300).with_columns(
                pl.Series("kind", ["x", "y", "x"] * 100, dtype=pl.Categorical),
                pl.Series("a.b", [f"{'long ' * 30}{row}" for row in range(300)]),
            )
            part.write_parquet(tmp_path / f"key={key}" / f"{number}.parquet", row_group_size=group)
    rows = open_rows(tmp_path)
    assert rows is not None
    columns = rows.names[::-1]
    coded = list(rows.coded_frames(columns))
    assert all(frame.columns == columns for frame in coded)
    assert coded[0].schema["text"] == pl.Categorical
    together = pl.concat([frame.cast(dict(rows.schema)) for frame in coded])  # type: ignore[arg-type]
    assert_frame_equal(together, pl.concat(rows.frames(columns)))


def test_texts_that_are_none_are_refused(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    broken = pa.DictionaryArray.from_arrays(
        pa.array([0, 1]),
        pa.Array.from_buffers(
            pa.string(),
            2,
            [None, pa.array([0, 1, 2], pa.int32()).buffers()[1], pa.py_buffer(b"a\xff")],
        ),
    )
    pq.write_table(pa.table({"name": broken.dictionary_decode()}), tmp_path / "t.parquet")
    rows = open_rows(tmp_path / "t.parquet")
    assert rows is not None
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        list(rows.coded_frames(["name"]))
