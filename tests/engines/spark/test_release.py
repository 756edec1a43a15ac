"""Releases made and written on Spark: the same as those made here, whole or not at all."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import frictionless
import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.sources import write_table
from shoal.engines import Runs
from shoal.engines.spark import SparkEngine
from shoal.engines.spark import parts as written
from shoal.release.release import Release
from tests.engines.kinds import all_kinds, hospital, some_kinds
from tests.engines.test_runs import random_runs


def plain(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col(pl.Enum).cast(pl.String))


def csv_lines(file: Path) -> tuple[bytes, list[bytes]]:
    """The header of a table, and its lines in order, from one file or its parts."""
    parts = sorted(file.iterdir()) if file.is_dir() else [file]
    contents = [part.read_bytes().partition(b"\n") for part in parts]
    assert len({header for header, _, _ in contents}) == 1
    return contents[0][0], b"".join(body for _, _, body in contents).splitlines()


@pytest.fixture(scope="module")
def pairs(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, ...]]:
    """The table, and a release of it made here and one made on Spark, with the same seed."""
    folder, made = tmp_path_factory.mktemp("tables"), {}
    qi = ("text with. dots", "part", "day, of", "moment", "price", "truth")
    given = {"hospital": hospital(), "kinds": (all_kinds(1200), some_kinds(*qi))}
    for name, (frame, spec) in given.items():
        write_table(frame, folder / f"{name}.parquet")
        table = shoal.read_table(folder / f"{name}.parquet")
        there = spark.read.parquet(str(folder / f"{name}.parquet"))
        releases = (shoal.anonymize(one, spec, seed=3) for one in (table, there))
        made[name] = (table, *releases)
    return made


@pytest.mark.parametrize("name", ["hospital", "kinds"])
def test_the_same_seed_gives_the_same_release(pairs: Any, name: str) -> None:
    _, here, there = pairs[name]
    assert there.certificate == here.certificate
    assert there.members.equals(here.members)
    for frame, expected in ((there.qi_table, here.qi), (there.sensitive_table, here.sensitive)):
        assert frame.columns == expected.columns
        found = pl.from_arrow(frame.toArrow())
        assert isinstance(found, pl.DataFrame)
        order = [pl.col(column).cast(pl.String) for column in expected.columns]
        assert found.sort(order).equals(plain(expected).sort(order))


def test_a_plan_needs_no_rows_either(spark: Any, tmp_path: Path) -> None:
    frame, spec = hospital(2000)
    frame.write_parquet(tmp_path / "table.parquet")
    there = shoal.plan(spark.read.parquet(str(tmp_path / "table.parquet")), spec)
    assert repr(there) == repr(shoal.plan(frame, spec))


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["hospital", "kinds"])
def test_what_spark_writes_is_what_is_written_here(
    pairs: Any, name: str, format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(written, "AT_ONCE", 600)
    table, here, there = pairs[name]
    here.save(tmp_path / "here", format=format)
    there.save(tmp_path / "there", format=format)
    assert len(list((tmp_path / "there" / f"qi.{format}").iterdir())) > 1
    for large in ("qi", "sensitive") if format == "csv" else ():
        files = (tmp_path / one / f"{large}.csv" for one in ("here", "there"))
        one, other = (csv_lines(file) for file in files)
        assert one == other
    loaded, other = Release.load(tmp_path / "there"), Release.load(tmp_path / "here")
    assert loaded.qi.equals(other.qi)
    assert loaded.sensitive.equals(other.sensitive)
    checked = shoal.verify(tmp_path / "there", table=table)
    assert checked.confirmed, checked
    if format == "csv":
        assert frictionless.validate(str(tmp_path / "there" / "datapackage.json")).valid


def test_private_records_are_kept_by_cells_or_by_key(pairs: Any, tmp_path: Path) -> None:
    table, _, there = pairs["hospital"]
    there.save(tmp_path / "one", private=tmp_path / "cells")
    assert (tmp_path / "cells" / "cell_groups.parquet").is_file()
    there.save(tmp_path / "two", private=tmp_path / "rows", record="rows")
    dealt = pl.read_parquet(sorted((tmp_path / "rows" / "key_groups.parquet").iterdir()))
    assert dealt["patient"].sort().equals(table["patient"].sort())
    sizes = there.qi["gid"].value_counts().sort("gid")["count"]
    kept = dealt.filter(pl.col("gid") > 0)
    assert kept["gid"].value_counts().sort("gid")["count"].equals(sizes)


def test_the_queries_of_the_page_read_parts(
    pairs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import duckdb

    from shoal.release.utility.sql import example_sql

    monkeypatch.setattr(written, "AT_ONCE", 600)
    for format in ("csv", "parquet"):
        pairs["kinds"][2].save(tmp_path / format, format=format)
        query = example_sql(Release.load(tmp_path / format), format=format)
        assert query in (tmp_path / format / "README.txt").read_text(encoding="utf-8")
        monkeypatch.chdir(tmp_path / format)
        found = duckdb.sql(query).fetchall()
        assert len(found) == 1


def test_changed_parts_are_noticed(
    pairs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(written, "AT_ONCE", 600)
    release, folder = pairs["kinds"][2], tmp_path / "release"
    release.save(folder, format="parquet")
    extra = folder / "qi.parquet" / "part-00009.parquet"
    extra.write_bytes(b"x")
    assert not shoal.verify(folder).confirmed
    extra.unlink()
    assert shoal.verify(folder).confirmed
    (folder / "qi.parquet" / "part-00001.parquet").unlink()
    assert not shoal.verify(folder).confirmed


@pytest.mark.parametrize("seed", range(3))
def test_parts_in_order_are_the_table(
    spark: Any, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts that are smaller than a line's repetitions, too."""
    monkeypatch.setattr(written, "AT_ONCE", 2 + seed)
    runs = random_runs(seed)
    SparkEngine(spark).write(runs, tmp_path / "table.parquet")
    parts = sorted((tmp_path / "table.parquet").iterdir())
    assert [part.name for part in parts] == [f"part-{n:05}.parquet" for n in range(len(parts))]
    assert pl.concat([pl.read_parquet(part) for part in parts]).equals(runs.frame())


def test_an_interrupt_stops_the_job_and_leaves_nothing(spark: Any, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    endless = Runs.numbered(
        np.arange(40), np.full(40, 10**7), np.ones(40, np.int64), pl.DataFrame({"q": range(40)})
    )
    before = {key: spark.conf.get(key, None) for key in ("spark.sql.caseSensitive",)}
    threading.Timer(4, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        SparkEngine(spark, progress=lambda *step: told.append(step)).write(
            endless, tmp_path / "qi.csv"
        )
    assert not list(tmp_path.iterdir())
    assert told
    assert told[-1][0] == "writing qi.csv on Spark"
    assert {key: spark.conf.get(key, None) for key in before} == before
    tracker, patience = spark.sparkContext.statusTracker(), time.monotonic() + 20
    while tracker.getActiveJobsIds() and time.monotonic() < patience:
        time.sleep(0.1)
    assert not tracker.getActiveJobsIds()
