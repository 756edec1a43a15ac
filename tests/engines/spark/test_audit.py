"""Audit and verify on Spark: frames and catalog tables, from Python and from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli import app
from shoal.data.spec import Spec
from shoal.engines.spark import SparkEngine
from shoal.errors import InputError
from tests.engines.kinds import hospital


@pytest.fixture(scope="module")
def clinic(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Spec]:
    """A folder with a table, what another tool released of it, and the spec; both are tables of
    the catalog too, `people` and `banded`."""
    home, (frame, spec) = tmp_path_factory.mktemp("clinic"), hospital(3000)
    frame.write_parquet(home / "people.parquet")
    banded = frame.with_columns(pl.col("age") // 10 * 10).sample(2900, seed=1)
    banded.write_parquet(home / "banded.parquet")
    for name in ("people", "banded"):
        spark.read.parquet(str(home / f"{name}.parquet")).createOrReplaceTempView(name)
    (home / "spec.toml").write_text(spec.to_toml(), encoding="utf-8")
    return home, spec


def test_frames_are_joined_where_they_are(
    spark: Any, clinic: tuple[Path, Spec], tmp_path: Path
) -> None:
    home, spec = clinic
    spark.conf.set("spark.shoal.scratch", str(tmp_path))
    try:
        there = shoal.audit(
            spark.table("people"), spec, released=spark.table("banded"), key="patient"
        )
    finally:
        spark.conf.unset("spark.shoal.scratch")
    assert not list(tmp_path.iterdir()), "counted pairs are left behind"
    here = shoal.audit(
        home / "people.parquet", spec, released=home / "banded.parquet", key="patient"
    )
    found, expected = there.to_dict(), here.to_dict()
    for figures in (found, expected):
        for witness in (figures["worst"], *figures["worst_by_event"].values()):
            del witness["row"], witness["person"]
    assert found == expected


def test_what_spark_does_not_judge_is_said(spark: Any, clinic: tuple[Path, Spec]) -> None:
    home, spec = clinic
    people = spark.table("people")
    for asked, code in (
        ({"groups": "region"}, "engine-audit"),
        ({"released": spark.table("banded")}, "engine-key"),
        ({"released": pl.read_parquet(home / "banded.parquet"), "key": "sex"}, "engine-source"),
    ):
        with pytest.raises(InputError) as raised:
            shoal.audit(people, spec, **asked)
        assert raised.value.code == code


def test_too_many_pairs_are_refused_with_the_columns_to_blame(
    spark: Any, clinic: tuple[Path, Spec]
) -> None:
    asked = {"released": "spark:banded", "key": "patient"}
    for most in (100, 2000):  # told from the estimate, and from the pairs themselves
        engine = SparkEngine(spark, most_cells=most)
        with pytest.raises(InputError, match="in the table and the release together") as raised:
            shoal.audit("spark:people", clinic[1], engine=engine, **asked)
        assert raised.value.code == "spark-cells"
        assert 'without "age" (about ' in raised.value.problem
        assert 'without the released "' in raised.value.problem


def test_commands_judge_tables_of_a_catalog(spark: Any, clinic: tuple[Path, Spec]) -> None:
    home, _ = clinic
    options = ["--spec", str(home / "spec.toml"), "--key", "patient", "--json"]
    answers = []
    for place, engine in (("spark:people", "spark"), (str(home / "people.parquet"), "polars")):
        released = place.replace("people", "banded")
        command = ["audit", place, "--released", released, "--engine", engine, *options]
        done = CliRunner().invoke(app, command)
        answers.append((done.exit_code, json.loads(done.stdout)))
    for _, figures in answers:
        for witness in (figures["worst"], *figures["worst_by_event"].values()):
            del witness["row"], witness["person"]
    assert answers[0] == answers[1]


def test_releases_are_verified_where_the_table_is(
    spark: Any, clinic: tuple[Path, Spec], tmp_path: Path
) -> None:
    home, spec = clinic
    shoal.anonymize(home / "people.parquet", spec, seed=1).save(tmp_path / "release")
    assert shoal.verify(tmp_path / "release", spark.table("people"), spec=spec).confirmed
    assert not shoal.verify(tmp_path / "release", spark.table("banded")).confirmed
    command = ["verify", str(tmp_path / "release"), "--table", "spark:people", "--engine", "spark"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "CONFIRMED (every probability recomputed)" in done.output
