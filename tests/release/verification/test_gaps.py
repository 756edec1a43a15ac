"""Gids with gaps, or that begin elsewhere: a group that one table lacks is never made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from tests.forging import edit, refused


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    people = {"q": ["a", "b"] * 60, "s": ["flu", "cold", "flu", "flu"] * 30}
    frame = pl.DataFrame(people).with_columns(
        s=pl.when(pl.int_range(120) % 15 == 0).then(pl.lit("HIV")).otherwise("s")
    )
    spec = shoal.Spec(qi=["q"], sensitive="s", protect=["HIV"], r=2, min_support=5)
    release = shoal.anonymize(frame, spec, seed=0, smallest_group=1)
    assert release.sensitive_runs.copies.max() > 2
    release.save(tmp_path / "release")
    return tmp_path / "release"


def test_a_copy_that_only_people_have_is_missed(folder: Path) -> None:
    runs = shoal.Release.load(folder).sensitive_runs
    alone = (runs.copies > 2) & (runs.sizes == 1) & ~runs.holding(pl.col("s") == "HIV")
    gone = int(runs.first[alone.argmax()]) + 1
    held = pl.read_csv(folder / "sensitive.csv")
    held.filter(pl.col("gid") != gone).write_csv(folder / "sensitive.csv")

    def claim(certificate: dict[str, Any]) -> None:
        certificate["software"] = "shoal 0.0.1"
        certificate["groups"]["readable"] -= 1

    edit(folder, claim)
    assert refused(folder)


@pytest.mark.parametrize("table", ["qi", "sensitive"])
@pytest.mark.parametrize("first", [-3, 0, 2])
def test_gids_that_begin_elsewhere_are_refuted(folder: Path, table: str, first: int) -> None:
    file = folder / f"{table}.csv"
    pl.read_csv(file).with_columns(pl.col("gid") + first - 1).write_csv(file)
    edit(folder, lambda certificate: None)
    assert refused(folder)
