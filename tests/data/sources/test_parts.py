"""A table is written part by part: the file is the one that a single piece would have given."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from shoal.data.sources import read_table, write, write_parts, write_table
from shoal.data.sources.bare import bare_arrow

KIND = pl.Enum(["z", "y", "x", "w"])
FRAME = pl.DataFrame(
    {
        "name": ["a", None, "=c", "d", "e", None, "f"],
        "kind": pl.Series(["x", "y", "x", None, "y", "x", "z"], dtype=KIND),
        "n": [1, 2, None, 4, 5, 6, 7],
    }
)
PLAIN = FRAME.with_columns(pl.col("kind").cast(pl.String))


@pytest.mark.parametrize("lines", [1, 3, 7, 100])
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.parquet", "t.arrow"])
def test_the_number_of_parts_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, lines: int
) -> None:
    whole, parts = tmp_path / f"whole-{name}", tmp_path / name
    write_table(FRAME, whole)
    monkeypatch.setattr(write, "LINES_AT_ONCE", lines)
    write_table(FRAME, parts)
    unguard = {"unguard": True} if "csv" in name or "tsv" in name else {}
    assert_frame_equal(read_table(parts, **unguard), PLAIN)  # type: ignore[arg-type]
    if name in ("t.csv", "t.tsv"):
        assert parts.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arrow"])
def test_a_table_without_lines_keeps_its_columns(tmp_path: Path, name: str) -> None:
    write_table(FRAME.clear(), tmp_path / name)
    assert read_table(tmp_path / name).columns == FRAME.columns


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.arrow"])
def test_a_part_that_fails_leaves_what_was_there(tmp_path: Path, name: str) -> None:
    write_table(FRAME, tmp_path / name)
    before = (tmp_path / name).read_bytes()

    def parts() -> Iterator[pl.DataFrame]:
        yield FRAME.head(2)
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        write_parts(parts(), tmp_path / name)
    assert (tmp_path / name).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [name]


def random_categories(seed: int) -> pl.DataFrame:
    """Columns of few and of many categories, some with missing cells, one with nothing else."""
    random = np.random.default_rng(seed)
    rows = int(random.integers(0, 5000))

    def column(categories: int, missing: float) -> pl.Series:
        kind = pl.Enum([f"{'long ' * 20}{number}" for number in range(categories)])
        cells = kind.categories.gather(random.integers(0, categories, rows)).to_list()
        gone = random.random(rows) < missing
        return pl.Series(
            [None if no else cell for no, cell in zip(gone, cells, strict=True)], dtype=kind
        )

    return pl.DataFrame(
        {
            "gid": np.sort(random.integers(0, 900, rows)),
            "full": column(5, 0.0),
            "gaps": column(40, 0.3),
            "none": column(3, 1.0),
            "many": column(20_000, 0.1),
        }
    )


@pytest.mark.parametrize("seed", range(8))
def test_numbers_of_texts_give_the_file_that_the_texts_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    frame = random_categories(seed)
    monkeypatch.setattr(write, "LINES_AT_ONCE", 1000)
    write_table(frame, tmp_path / "coded.parquet")
    monkeypatch.setattr(write, "coded_arrow", bare_arrow)
    write_table(frame, tmp_path / "texts.parquet")
    assert (tmp_path / "coded.parquet").read_bytes() == (tmp_path / "texts.parquet").read_bytes()
    texts = frame.with_columns(pl.col(pl.Enum).cast(pl.String))
    assert_frame_equal(pl.read_parquet(tmp_path / "coded.parquet"), texts)


@pytest.mark.parametrize(
    ("name", "sign"), [("t.TSV", "\t"), ("t.tsv.gz", "\t"), ("my.tsv.csv", ",")]
)
def test_the_last_ending_says_what_separates(name: str, sign: str, tmp_path: Path) -> None:
    write_table(pl.DataFrame({"a": [1], "b": [2]}), tmp_path / name)
    packed = (tmp_path / name).read_bytes()
    text = gzip.decompress(packed) if name.endswith(".gz") else packed
    assert text.decode().splitlines()[0] == f"a{sign}b"
