"""Counting on Spark: cells as Polars counts them, and no more than are allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.engines import engine_of
from shoal.engines.spark import SparkEngine, brought, open_source
from shoal.errors import InputError
from tests.engines.kinds import KINDS, all_kinds, some_kinds


@pytest.fixture(scope="module")
def kinds(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A table with values of every kind, as a file and as a Spark frame."""
    file = tmp_path_factory.mktemp("kinds") / "kinds.parquet"
    all_kinds().write_parquet(file)
    return file, spark.read.parquet(str(file))


def test_values_of_every_kind_are_counted_as_polars_counts_them(
    kinds: tuple[Path, Any], spark: Any, tmp_path: Path
) -> None:
    file, frame = kinds
    spec = some_kinds(*KINDS)
    spark.conf.set("spark.shoal.scratch", str(tmp_path))
    try:
        there = SparkEngine(spark).count(frame, spec)
    finally:
        spark.conf.unset("spark.shoal.scratch")
    here = Table.from_frame(shoal.read_table(file), spec)
    assert there.spec == here.spec
    assert there.values == here.values
    for mine, other in zip(here.qi, there.qi, strict=True):
        assert other.labels == mine.labels, mine.name
        if mine.name not in ('no "sign"', "void"):  # unsigned numbers are decimals on Spark
            assert other.values.equals(mine.values, check_dtypes=True), mine.name
    assert np.array_equal(there.signatures, here.signatures)
    for counted, mine in zip(there.member_cells, here.member_cells, strict=True):
        assert np.array_equal(counted, mine)
    assert there.people is None
    assert not list(tmp_path.iterdir()), "counted cells are left behind"


def test_cells_are_stored_where_nobody_else_may_look(
    kinds: tuple[Path, Any], spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Path] = []

    def failing(folder: Path) -> pl.DataFrame:
        assert folder.parent.stat().st_mode & 0o777 == 0o700
        seen.append(folder.parent)
        raise OSError("the disk is gone")

    monkeypatch.setattr(brought, "read_table", failing)
    with pytest.raises(OSError, match="gone"):
        SparkEngine(spark).count(kinds[1], some_kinds("truth"))
    assert not seen[0].exists()


def test_too_many_cells_are_refused_with_the_columns_to_blame(spark: Any) -> None:
    from pyspark.sql import functions as F

    people = spark.range(6000).select(
        F.col("id").alias("num.ber"),
        (F.col("id") % 3).alias("third"),
        F.when(F.col("id") % 50 == 0, "HIV").otherwise("flu").alias("illness"),
    )
    spec = Spec(qi=["num.ber", "third"], sensitive="illness", protect=["HIV"], r=2)
    for most in (1000, 5700):  # told from the estimate, and from the cells themselves
        with pytest.raises(InputError, match=r'without "num\.ber" \(about [56],') as raised:
            SparkEngine(spark, most_cells=most).count(people, spec)
        assert raised.value.code == "spark-cells"
        assert "about 6 would be left" in raised.value.problem


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({"q": "binary('x')"}, "column-type"),
        ({"q": "array(1)"}, "column-type"),
        ({"other": "1"}, "column-missing"),
        ({"Q": "1"}, "column-missing"),
        ({"q": "1", "more": "2"}, "column-twice"),
    ],
)
def test_columns_that_cannot_be_counted_are_refused(
    spark: Any, columns: dict[str, str], code: str
) -> None:
    from pyspark.sql import functions as F

    given = [F.expr(text).alias(name) for name, text in columns.items()]
    frame = spark.range(4).select(*given, F.lit("x").alias("v"))
    if "more" in columns:
        frame = frame.toDF("q", "q", "v")
    with pytest.raises(InputError) as raised:
        SparkEngine(spark).count(frame, Spec(qi=["q"], sensitive="v", protect=["x"], r=2))
    assert raised.value.code == code


def test_a_table_without_people_is_refused(spark: Any) -> None:
    empty = spark.range(0).selectExpr("id AS q", "'x' AS v")
    with pytest.raises(InputError, match="no rows"):
        SparkEngine(spark).count(empty, Spec(qi=["q"], sensitive="v", protect=["x"], r=2))


def test_cells_that_do_not_arrive_are_missed(
    spark: Any, kinds: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    some = pl.DataFrame({"c10": [True], "c14": ["flu"], "rows": [3], "key": [0]})
    monkeypatch.setattr(brought, "read_table", lambda folder: some)
    with pytest.raises(InputError, match="3 of 300 rows did not arrive"):
        SparkEngine(spark).count(kinds[1], some_kinds("truth"))


def test_a_file_of_cells_is_the_table_that_was_counted(
    spark: Any, kinds: tuple[Path, Any], tmp_path: Path
) -> None:
    spec, file = some_kinds("truth", "price"), tmp_path / "cells.parquet"
    shoal.count(kinds[0], spec, file)
    assert SparkEngine(spark).count(file, spec).rows == 300
    with pytest.raises(InputError, match="separator has a meaning"):
        SparkEngine(spark, separator=";").count(file, spec)


def test_frames_of_others_are_refused(spark: Any) -> None:
    with pytest.raises(InputError, match="not a DataFrame of polars"):
        SparkEngine(spark).count(all_kinds(), some_kinds("truth"))


def test_only_frames_of_spark_are_taken_for_some(spark: Any) -> None:
    assert engine_of(pl.DataFrame({"a": [1]})) is None
    assert engine_of("table.csv") is None
    found = engine_of(spark.range(3))
    assert found is not None
    assert found.name == "spark"


def test_sources_are_opened_by_their_addresses(
    spark: Any, kinds: tuple[Path, Any], tmp_path: Path
) -> None:
    kinds[1].createOrReplaceTempView("people")
    pl.DataFrame({"a": [1, 2], "b": ['x "y"\n', "z"]}).write_csv(tmp_path / "part-0.csv")
    assert open_source("spark:people").count() == 300
    assert open_source(kinds[0]).columns == kinds[1].columns
    assert [tuple(row) for row in open_source(tmp_path).orderBy("a").collect()] == [
        ("1", 'x "y"\n'),
        ("2", "z"),
    ]
    for wrong in ("spark:nobody", tmp_path / "none.parquet"):
        with pytest.raises(InputError) as raised:
            open_source(wrong)
        assert raised.value.code == "spark-source"
