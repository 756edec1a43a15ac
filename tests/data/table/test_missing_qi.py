"""Releases whose quasi-identifiers have missing values: saved, and asked for counts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal


def released(qi: dict[str, pl.Series], form: Any = "bucketized") -> shoal.Release:
    frame = pl.DataFrame({**qi, "s": (["x"] + ["y"] * 9) * 8})
    spec = shoal.Spec(qi=tuple(qi), sensitive="s", protect=["x"], r=2, min_support=5)
    return shoal.anonymize(frame, spec, form=form)


@pytest.mark.parametrize("form", ["bucketized", "generalized"])
@pytest.mark.parametrize("second", [None, "abcd"])
def test_a_release_without_a_first_attribute_is_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, second: str | None
) -> None:
    duckdb = pytest.importorskip("duckdb")
    nothing = pl.Series([None] * 80, dtype=pl.String)
    qi = {"q": nothing, "p": pl.Series(list(second) * 20) if second else nothing}
    release = released(qi, form)
    release.save(tmp_path / "out")
    assert shoal.Release.load(tmp_path / "out").count({}) == release.qi.height
    monkeypatch.chdir(tmp_path / "out")
    page = Path("README.txt").read_text(encoding="utf-8")
    begins = "WITH lines" if form == "bucketized" else "WITH held"  # by weights, or equally
    query = page[page.index(begins) :].partition(";")[0]
    ((estimate, _),) = duckdb.sql(query).fetchall()
    (published,) = release.sensitive.filter(s="x").select(pl.col("count").sum()).row(0)
    assert 0 < estimate <= published if second else estimate == pytest.approx(published, rel=1e-5)


@pytest.mark.parametrize("form", ["bucketized", "generalized"])
@pytest.mark.parametrize("step", [1, 0.25])
def test_numbers_with_gaps_can_be_asked_for_by_range(form: str, step: float) -> None:
    ages = [20 * step, 30 * step, 40 * step, None]
    release = released({"age": pl.Series(ages * 20)}, form)
    everybody = release.count({"age": shoal.utility.Between(0, 1000)})
    some = release.count({"age": shoal.utility.Between(20 * step, 30 * step)})
    assert 0 < some < everybody < release.qi.height
    if form == "bucketized":
        assert (some, everybody) == (40, 60)


def test_submodules_are_attributes_and_a_bare_import_loads_nothing() -> None:
    code = (
        "import sys, shoal\n"
        "assert not {'polars', 'numpy', 'numba', 'scipy'} & set(sys.modules)\n"
        "assert {'utility', 'datasets'} <= set(shoal.__all__)\n"
        "assert shoal.utility.Between(1, 2) and shoal.datasets.HOSPITAL_QI\n"
        "assert not hasattr(shoal, 'nothing')\n"
    )
    subprocess.run([sys.executable, "-c", code], timeout=60, check=True)
