"""Weighted regressions of whoever receives a release: R's survey and this arithmetic agree."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from shutil import which

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.spec import Spec

R = """library(survey)
people <- read.csv("people.csv")
design <- svydesign(ids = ~kind, weights = ~weight, data = people)
linear <- svyglm(ill ~ age + male, design = design)
logit <- svyglm(ill ~ age + male, design = design, family = quasibinomial())
cat(format(c(coef(linear), sqrt(diag(vcov(linear))), coef(logit)), digits = 15))
"""


@cache
def without_survey() -> str:
    if which("Rscript") is None:
        return "R is not installed"
    found = subprocess.run(["Rscript", "-e", "library(survey)"], capture_output=True)
    return "" if found.returncode == 0 else "R has no package survey"


def test_regressions_by_weights_are_those_of_the_survey_package(tmp_path: Path) -> None:
    """Everybody with each value that they may have, by its weight; people who are alike in what is
    known of them are a cluster."""
    if reason := without_survey():
        pytest.skip(reason)
    hospital = shoal.datasets.hospital(2_000, seed=0)
    spec = Spec(qi=["age", "sex"], sensitive="diagnosis", protect=["HIV", "Asthma"], r=3)
    listed = shoal.anonymize(hospital, spec, seed=1).table()
    people = listed.with_columns(
        ill=(pl.col("diagnosis") == "Asthma").cast(pl.Float64),
        male=(pl.col("sex") == "Male").cast(pl.Float64),
        kind=pl.col("age") * 2 + (pl.col("sex") == "Male"),
    )
    people.select("ill", "male", "age", "kind", "weight").write_csv(tmp_path / "people.csv")
    (tmp_path / "run.R").write_text(R)
    run = subprocess.run(["Rscript", "run.R"], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    figures = np.array(run.stdout.split(), float)
    linear, error, logit = figures[:3], figures[3:6], figures[6:]
    x = people.select(pl.lit(1.0), "age", "male").to_numpy().astype(float)
    y, weight = people["ill"].to_numpy(), people["weight"].to_numpy()
    bread = np.linalg.inv(x.T @ (weight[:, None] * x))
    ours = bread @ (x.T @ (weight * y))
    assert ours == pytest.approx(linear, rel=1e-6, abs=1e-9)
    scores = pl.DataFrame((weight * (y - x @ ours))[:, None] * x).with_columns(people["kind"])
    by_kind = scores.group_by("kind").sum().drop("kind").to_numpy()
    clusters = len(by_kind)
    by_kind = by_kind - by_kind.mean(axis=0)
    covariance = bread @ (by_kind.T @ by_kind) @ bread * clusters / (clusters - 1)
    assert np.sqrt(np.diag(covariance)) == pytest.approx(error, rel=1e-4)
    known = np.zeros(3)
    for _ in range(50):
        chance = 1 / (1 + np.exp(-x @ known))
        slope = x.T @ ((weight * chance * (1 - chance))[:, None] * x)
        known = known + np.linalg.solve(slope, x.T @ (weight * (y - chance)))
    assert known == pytest.approx(logit, rel=1e-5, abs=1e-8)
