"""A release of a sample with survey weights: what it says, and what verify holds it to."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.datasets import hospital
from shoal.knowledge import WEIGHTED
from shoal.wording import WEIGHTED_WORDS
from tests.forging import edit

RANDOM = np.random.default_rng(7)
ILL = pl.col("diagnosis").is_in(["HIV", "Schizophrenia"])
FRAME = hospital(2_000, seed=4).with_columns(
    W=pl.when(ILL).then(40).otherwise(160) + 20 * pl.Series(RANDOM.random(2_000))
)
SPEC = shoal.Spec(
    qi=["sex", "region", "occupation"],
    sensitive="diagnosis",
    protect=[["HIV", "Schizophrenia"]],
    r=3,
    weight="W",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("survey")
    FRAME.write_parquet(folder / "table.parquet")
    release = shoal.anonymize(folder / "table.parquet", SPEC, seed=1)
    assert release.robust is True
    release.save(folder / "release")
    return folder


def test_it_says_what_is_known_by_weights_and_is_confirmed(folder: Path) -> None:
    release = shoal.Release.load(folder / "release")
    knowledge = release.certificate["knowledge"]
    assert knowledge["source"].endswith(', also weighted by "W"')
    half = len(knowledge["views"]) // 2
    assert knowledge["views"][half:] == [[*view, WEIGHTED] for view in knowledge["views"][:half]]
    text = " ".join((folder / "release" / "README.txt").read_text("utf-8").split())
    assert WEIGHTED_WORDS in text
    assert f"in {half} views" in text
    assert "W" not in release.qi.columns
    verified = shoal.verify(folder / "release", table=folder / "table.parquet")
    assert verified.confirmed, verified


def test_who_is_alone_in_the_population_is_held_against_the_weights(
    folder: Path, tmp_path: Path
) -> None:
    stated = shoal.Release.load(folder / "release").certificate["audit"]["lookup"]["population"]
    assert stated["by"] == "survey weights"
    assert "alone in the population as well" in (folder / "release" / "README.txt").read_text(
        "utf-8"
    ).replace("\n", " ")
    forged = tmp_path / "release"
    shutil.copytree(folder / "release", forged)
    edit(forged, lambda told: told["audit"]["lookup"]["population"].update(match=0.0001))
    refused_by = shoal.verify(forged, table=folder / "table.parquet")
    assert [one.name for one in refused_by.checks if not one.passed] == ["alone in the population"]


def test_a_reference_table_is_the_publishers(tmp_path: Path) -> None:
    FRAME.select(SPEC.qi).write_csv(tmp_path / "secret-census.csv")
    spec = SPEC.with_(population=tmp_path / "secret-census.csv")
    release = shoal.anonymize(FRAME, spec, seed=1)
    lookup = release.audit.lookup
    assert lookup.population is not None
    assert (lookup.population.unique, lookup.population.match) == (lookup.unique, 1.0)
    release.save(tmp_path / "release")
    for file in (tmp_path / "release").iterdir():
        assert "secret-census" not in file.read_text("utf-8")
    verified = shoal.verify(tmp_path / "release", table=FRAME)
    assert verified.confirmed
    assert any("by a reference table" in one for one in verified.on_trust)


def test_other_weights_are_refused(folder: Path, tmp_path: Path) -> None:
    FRAME.with_columns(W=200 - pl.col("W")).write_parquet(tmp_path / "table.parquet")
    verified = shoal.verify(folder / "release", table=tmp_path / "table.parquet")
    assert not verified.confirmed


def test_weights_make_a_verdict_stronger_and_never_weaker() -> None:
    asked = SPEC.with_(weight=None)
    plain = shoal.anonymize(FRAME, asked, seed=2, method="anatomy", l=3)
    weighed = shoal.audit(FRAME, SPEC, groups=plain.row_groups)
    bare = shoal.audit(FRAME, asked, groups=plain.row_groups)
    assert weighed.problematic >= bare.problematic
    assert weighed.robust is not True or bare.robust is True
