"""Counts and regressions by survey weights, from a release: against plain sums over people, against
rows that are repeated, against statsmodels and R's survey."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import shoal
from shoal.data.datasets import hospital
from shoal.errors import InputError
from shoal.release import Release
from shoal.release.facts import release_facts
from shoal.release.utility import Workload
from shoal.release.utility.summary import population_errors
from tests.release.utility.test_errors import release_of

Floats = NDArray[np.float64]
RANDOM = np.random.default_rng(35)
PEOPLE = hospital(3_000, seed=6)
ILL = pl.col("diagnosis").is_in(["HIV", "Schizophrenia"])
HYPERTENSION = "Hypertension"
FRAME = PEOPLE.with_columns(
    # Old people were sampled more often; some of the weights are of nonresponse.
    W=pl.when(pl.col("age") < 60).then(6).otherwise(2)
    + pl.Series(RANDOM.integers(0, 5, PEOPLE.height))
)
SPEC = shoal.Spec(
    qi=["age", "sex", "region", "W"],
    sensitive="diagnosis",
    protect=[["HIV", "Schizophrenia"]],
    r=3,
    weight="W",
)
WHERES: tuple[dict[str, Any], ...] = (
    {},
    {"sex": "Male"},
    {"diagnosis": "HIV|Schizophrenia"},
    {"diagnosis": HYPERTENSION, "age": (30, 49)},
    {"diagnosis": "HIV", "sex": "Female", "W": [6, 7]},
)


@pytest.fixture(scope="module")
def release() -> Release:
    return shoal.anonymize(FRAME, SPEC, seed=1)


@pytest.mark.parametrize("where", WHERES)
def test_a_person_counts_as_the_people_whom_they_stand_for(
    release: Release, where: dict[str, Any]
) -> None:
    """Weighted counts are sums of counts of the people of one weight."""
    by_weight = {
        int(weight): release.count({"W": weight} | where)
        for weight in sorted(FRAME["W"].unique())
        if weight in where.get("W", [weight])
    }
    if "W" in where:
        by_weight = {weight: release.count(where | {"W": weight}) for weight in where["W"]}
    plain = sum(weight * float(found) for weight, found in by_weight.items())
    assert release.count(where, weighted=True) == pytest.approx(plain, rel=1e-9)


def test_it_is_near_to_what_the_table_says(release: Release) -> None:
    assert release.count(weighted=True) == pytest.approx(FRAME["W"].sum())
    misses = []
    for sex in ("Male", "Female"):
        for region in PEOPLE["region"].unique(maintain_order=True):
            mine = FRAME.filter(pl.col("sex") == sex, pl.col("region") == region)
            where = {"sex": sex, "region": region, "diagnosis": "HIV|Schizophrenia"}
            found = release.count(where, weighted=True)
            misses.append((found - mine.filter(ILL)["W"].sum()) / found.standard_error)
    assert np.sqrt(np.mean(np.square(misses))) < 1.6  # about 1, of 16 strata


@pytest.mark.parametrize("c", [1, 3])
def test_its_error_is_that_of_all_worlds(c: int) -> None:
    """With equal chances the variance of a weighted count is exact."""
    weights = [5, 5, 2, 1, 1, 7, 3]
    made = release_of([str(one) for one in weights], ["x"] * c + ["y"] * (len(weights) - c))
    numbers = made.qi_runs.lines.with_columns(pl.col("kind").cast(pl.String).cast(pl.Int64))
    held = replace(made.qi_runs, lines=numbers)
    numbered = replace(made, spec=made.spec.with_(weight="kind"), qi_held=held)
    found = numbered.count({"v": "x", "kind": [5, 2, 7]}, weighted=True)
    worlds = [
        sum(weights[one] for one in chosen if weights[one] in (5, 2, 7))
        for chosen in combinations(range(len(weights)), c)
    ]
    assert found == pytest.approx(np.mean(worlds))
    assert found.standard_error == pytest.approx(np.std(worlds))


def test_the_query_of_the_page_counts_the_same(release: Release, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    release.save(tmp_path / "release")
    text = (tmp_path / "release" / "README.txt").read_text("utf-8")
    assert "SURVEY WEIGHTS, FOR THE POPULATION" in text
    (query,) = re.findall(r"^SELECT sum\(.*?;$", text, re.DOTALL | re.MULTILINE)
    query = query.replace("'qi.csv'", f"'{tmp_path}/release/qi.csv'")
    query = query.replace("'sensitive.csv'", f"'{tmp_path}/release/sensitive.csv'")
    ((estimate,),) = duckdb.sql(query).fetchall()
    loaded = shoal.read(tmp_path / "release")
    wanted = loaded.count({"diagnosis": "HIV|Schizophrenia"}, weighted=True)
    assert estimate == pytest.approx(wanted, rel=1e-9)


def design(people: pl.DataFrame) -> Floats:
    return np.column_stack(
        [np.ones(people.height), people["age"], (people["sex"] == "Male").cast(pl.Float64)]
    )


def test_a_weighted_regression_is_that_of_statsmodels_and_of_repeated_rows(
    release: Release,
) -> None:
    models = pytest.importorskip("statsmodels.api")
    people = release.table()
    ill = (people["diagnosis"] == HYPERTENSION).cast(pl.Float64).to_numpy()
    weight = (people["weight"] * people["W"]).to_numpy()
    root = np.sqrt(weight)[:, None]
    plain = np.linalg.lstsq(design(people) * root, ill * root[:, 0], rcond=None)[0]
    fitted = models.WLS(ill, design(people), weights=weight).fit()
    np.testing.assert_allclose(fitted.params, plain, rtol=1e-8)
    # The same by rows: everybody as often as they weigh, with the chance of each value.
    often = people["W"].to_numpy()
    repeated = people[np.repeat(np.arange(people.height), often)]
    again = np.repeat(ill, often)
    copies = models.WLS(again, design(repeated), weights=repeated["weight"].to_numpy()).fit()
    np.testing.assert_allclose(copies.params, plain, rtol=1e-8)
    # And nearer to what the publisher finds in the table than that is to the population.
    own = models.WLS(
        (FRAME["diagnosis"] == HYPERTENSION).cast(pl.Float64).to_numpy(),
        design(FRAME),
        weights=FRAME["W"].to_numpy(),
    ).fit(cov_type="HC1")
    assert (abs(plain - own.params) < own.bse).all()


def test_errors_by_the_design_are_those_of_r_survey(release: Release, tmp_path: Path) -> None:
    """Of one plausible table: weights and linearized errors, as R's survey has them; of several
    together by Rubin's rules, which hold what the table itself says."""
    models = pytest.importorskip("statsmodels.api")
    tables = release.draw(5, seed=1)
    fits = [
        models.WLS(
            (one["diagnosis"] == "HIV|Schizophrenia").cast(pl.Float64).to_numpy(),
            design(one),
            weights=one["W"].to_numpy(),
        ).fit(cov_type="HC0")
        for one in tables
    ]
    estimates = np.array([one.params for one in fits])
    within = np.mean([one.bse**2 for one in fits], axis=0)
    total = np.sqrt(within + 1.2 * estimates.var(axis=0, ddof=1))
    ill = FRAME.select(ILL.cast(pl.Float64)).to_series().to_numpy()
    own = models.WLS(ill, design(FRAME), weights=FRAME["W"].to_numpy()).fit(cov_type="HC0")
    assert (abs(estimates.mean(axis=0) - own.params) < 2.78 * total).all()
    assert (total > 0.8 * own.bse).all()
    if shutil.which("Rscript") is None:
        pytest.skip("no R")
    tables[0].write_csv(tmp_path / "drawn.csv")
    script = """
      if (!requireNamespace("survey", quietly = TRUE)) quit(status = 9)
      suppressMessages(library(survey))
      people <- read.csv("drawn.csv")
      people$ill <- as.numeric(people$diagnosis == "HIV|Schizophrenia")
      design <- svydesign(ids = ~1, weights = ~W, data = people)
      found <- summary(svyglm(ill ~ age + I(sex == "Male"), design))$coefficients
      cat(format(found[, 1:2], digits = 15), sep = "\\n")
    """
    done = subprocess.run(
        ["Rscript", "-e", script], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    if done.returncode == 9:
        pytest.skip("no package survey")
    found = np.array([float(one) for one in done.stdout.split()]).reshape(2, 3)
    np.testing.assert_allclose(found[0], fits[0].params, rtol=1e-9)
    people = FRAME.height
    np.testing.assert_allclose(found[1], fits[0].bse * np.sqrt(people / (people - 1)), rtol=1e-6)


def test_weights_that_are_not_published_or_are_ranges_count_nobody(release: Release) -> None:
    bare = shoal.anonymize(FRAME, SPEC.with_(qi=["sex", "region"]), seed=1)
    with pytest.raises(InputError, match="has no survey weights, or has them as ranges"):
        bare.count(weighted=True)
    ranges = shoal.anonymize(FRAME, SPEC, method="mondrian", k=5, seed=1)
    with pytest.raises(InputError, match="has them as ranges"):
        ranges.count(weighted=True)


def test_means_of_bands_count_nearly_the_same() -> None:
    spec = SPEC.with_(recode={"W": {"quantiles": 4}})
    made = shoal.anonymize(FRAME, spec, seed=1)
    assert made.qi["W"].n_unique() == 4
    assert made.count(weighted=True) == pytest.approx(FRAME["W"].sum(), rel=1e-4)
    exact = FRAME.filter(pl.col("sex") == "Male")["W"].sum()
    assert made.count({"sex": "Male"}, weighted=True) == pytest.approx(exact, rel=0.02)


def test_the_report_says_how_far_counts_of_the_population_are_off(release: Release) -> None:
    """By the same queries, plainly: each by the rows of the table and by `count`."""
    assert release.made is not None
    table, workload = release.made.table, Workload(queries=40, seed=3)
    found = population_errors(table, release, workload)
    queries = workload.draw(table)
    actual, estimate = [], []
    for number in range(len(queries)):
        where, mine = dict[str, Any](), pl.lit(True)
        pairs = [*zip(queries.attributes, queries.labels, queries.allowed, strict=True)]
        pairs += [("diagnosis", queries.sensitive_labels, queries.sensitive_allowed)]
        for name, labels, allowed in pairs:
            kept = [label for label, yes in zip(labels, allowed[:, number], strict=True) if yes]
            mine &= pl.col(name).cast(pl.String).is_in(kept)
            if len(kept) < len(labels):
                where[name] = [int(one) if one.isdigit() else one for one in kept]
        actual.append(FRAME.filter(mine)["W"].sum())
        estimate.append(release.count(where, weighted=True))
    true = np.array(actual, float)
    some = true > 0
    errors = abs(np.array(estimate) - true)[some] / true[some]
    assert found is not None
    assert found.average == pytest.approx(errors.mean(), rel=1e-6)
    told = release_facts(release, table).queries
    assert told is not None
    assert [one.name for one in told.lines][-1] == "about the population"
    bare = shoal.anonymize(FRAME, SPEC.with_(qi=["sex", "region"]), seed=1)
    assert population_errors(bare.made.table, bare, workload) is None
