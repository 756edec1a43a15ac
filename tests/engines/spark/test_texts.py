"""CSV on Spark: split there, typed as everywhere, and the options for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from shoal.data.sources import write_table
from shoal.data.table import Table
from shoal.engines import engine_named
from shoal.engines.spark import SparkEngine
from shoal.errors import InputError
from tests.engines.kinds import all_kinds, some_kinds

QI = ("text with. dots", "part", "day, of", "price", "truth")


def counted(engine: Any, path: Path, *qi: str) -> pl.DataFrame:
    return engine.counted(path, some_kinds(*qi)).cells


def test_the_cells_of_csv_are_those_of_the_other_engines(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    write_table(all_kinds(), path)
    assert counted(SparkEngine(), path, *QI).equals(counted(engine_named("polars"), path, *QI))


def test_codes_stay_codes_and_separators_are_found(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    path.write_text("code;rows\n007;HIV\n07;flu\n007;\n007;flu\n", encoding="utf-8")
    found = counted(SparkEngine(), path, "code")
    assert found["code"].to_list() == ["007", "007", "007", "07"]
    assert found.equals(counted(engine_named("polars"), path, "code"))


def test_separator_and_encoding_are_honoured(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "latin.csv"
    path.write_bytes("ort|rows\nKöln|HIV\nBonn|flu\n".encode("latin-1"))
    engine = engine_named("spark", separator="|", encoding="latin-1")
    assert set(counted(engine, path, "ort")["ort"]) == {"Köln", "Bonn"}


@pytest.mark.parametrize("engine", ["polars", "duckdb", "spark"])
@pytest.mark.parametrize("option", ["separator", "encoding"])
def test_options_of_texts_are_refused_for_anything_else(
    spark: Any, tmp_path: Path, engine: str, option: str
) -> None:
    path = tmp_path / "table.parquet"
    all_kinds().select("truth", "rows").write_parquet(path)
    with pytest.raises(InputError) as raised:
        engine_named(engine, **{option: "utf-8"}).count(path, some_kinds("truth"))
    assert raised.value.code == "option-unused"


def test_a_row_with_too_few_cells_is_refused(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "ragged.csv"
    path.write_text("code,rows\n1,HIV\n2\n", encoding="utf-8")
    with pytest.raises(InputError) as raised:
        SparkEngine().count(path, some_kinds("code"))
    assert raised.value.code == "spark-read"


def test_a_table_of_texts_makes_the_same_table(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    write_table(all_kinds(), path)
    spec = some_kinds(*QI)
    there, here = SparkEngine().count(path, spec), engine_named("polars").count(path, spec)
    assert isinstance(there, Table)
    assert there.values == here.values
    assert there.signature_rows.tolist() == here.signature_rows.tolist()
