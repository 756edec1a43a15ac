"""Releases of earlier versions, as these wrote them: still read, and said to be older."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.datasets import HOSPITAL_EVENT, hospital
from shoal.release.verification.verify import verify
from tests.forging import edit, mend, refused

PLACES = ("north", "south", "east", "west")


def people() -> pl.DataFrame:
    """Those of whom the releases with shares and with totals tell."""
    random, rows = np.random.default_rng(1), 2_000
    place, age = random.integers(0, 4, rows), random.integers(0, 3, rows)
    chance = 0.25 * np.array([0.2, 1.0, 2.0, 0.6])[place] * np.array([0.3, 1.0, 1.4])[age]
    ill = random.random(rows) < chance
    flu = random.random(rows) < np.array([0.2, 0.1, 0.02, 0.05])[place]
    other = np.where(flu, "flu", random.choice(["cold", "none"], rows, p=[0.4, 0.6]))
    return pl.DataFrame(
        {
            "place": np.array(PLACES)[place],
            "age": age,
            "sex": random.choice(["f", "m"], rows),
            "state": np.where(ill, "ill", other),
        }
    )


OLDER = Path(__file__).with_name("older")
FRAME = hospital(400, seed=3)


@pytest.mark.parametrize("name", ["version-1-first", "version-1-last"])
def test_an_older_release_is_confirmed_and_said_to_be_older(name: str) -> None:
    for table in (None, FRAME):
        found = verify(OLDER / name, table=table)
        assert found.confirmed, found
        assert any("certificates of the oldest format" in one for one in found.on_trust)
        assert "pages, order and spelling, which are another version's" in found.on_trust
    assert shoal.Release.load(OLDER / name).count() == 400


def test_a_release_with_shares_is_confirmed_and_counts_by_them(tmp_path: Path) -> None:
    folder = OLDER / "version-2-shares"
    for table in (None, people()):
        found = verify(folder, table=table)
        assert found.confirmed, found
        assert "how weights were made, within limits" in found.on_trust
    release = shoal.Release.load(folder)
    assert release.weight == "share"
    where = {"state": "ill", "place": "east"}
    assert release.count(where) == pytest.approx(189.9455, abs=1e-3)  # as the version that wrote it
    held = release.qi.filter(pl.col("share").is_not_null(), place="east")
    assert held["share"].sum() == pytest.approx(release.count(where), rel=1e-4)


@pytest.mark.parametrize("forged", [0.9, 0.03, -0.1, None])
def test_shares_are_within_limits_and_add_up(forged: float | None, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(OLDER / "version-2-shares", tmp_path / "forged"))
    frame = pl.read_csv(folder / "qi.csv", infer_schema=False)
    first = pl.int_range(pl.len()) == frame["share"].is_not_null().arg_max()
    share = pl.when(first).then(pl.lit(None if forged is None else str(forged)))
    frame.with_columns(share.otherwise("share").alias("share")).write_csv(folder / "qi.csv")
    mend(folder)
    assert refused(folder)


def test_a_release_with_totals_is_confirmed_and_counts_equally(tmp_path: Path) -> None:
    folder = OLDER / "version-2-totals"
    for table in (None, people()):
        found = verify(folder, table=table)
        assert found.confirmed, found
        assert "whom totals link above 1/r" in found.on_trust
    release = shoal.Release.load(folder)
    assert release.totals is not None
    assert release.weight is None
    forged = Path(shutil.copytree(folder, tmp_path / "forged"))
    frame = pl.read_csv(forged / "totals.csv")
    frame.with_columns(pl.col("count") + 1).write_csv(forged / "totals.csv")
    mend(forged)
    assert refused(forged, table=people())


def test_a_release_of_this_format_has_no_totals(tmp_path: Path) -> None:
    spec = shoal.Spec(qi=["sex"], sensitive="state", protect=["ill"], r=2, min_support=30)
    shoal.anonymize(people(), spec, method="anatomy", l=2).save(tmp_path / "release")
    assert verify(tmp_path / "release").confirmed
    shutil.copy(OLDER / "version-2-totals" / "totals.csv", tmp_path / "release")
    certificate = tmp_path / "release" / "certificate.json"
    told = json.loads(certificate.read_text("utf-8"))
    told["files"]["totals.csv"] = {"sha256": "0" * 64, "bytes": 0}
    certificate.write_text(json.dumps(told), "utf-8")
    mend(tmp_path / "release")
    assert refused(tmp_path / "release")


def test_the_second_version_is_confirmed_by_the_adversaries_that_it_names() -> None:
    found = verify(OLDER / "version-2", table=FRAME)
    assert found.confirmed, found
    assert found.adversaries == ("joint", "binary")
    assert not any("certificates of the oldest format" in one for one in found.on_trust)


def test_what_the_first_version_did_not_say_is_passed_over() -> None:
    found = verify(OLDER / "version-1-first", table=FRAME)
    unsaid = [check.name for check in found.checks if "older certificate" in check.detail]
    assert unsaid == [
        "people shown openly",
        "people with rare combinations",
        "counting class by class",
        "absence",
    ]


def test_a_release_by_a_search_that_is_gone_is_confirmed() -> None:
    """ART could choose partners row by row once (`units="rows"`)."""
    for table in (None, FRAME):
        found = verify(OLDER / "version-2-rows", table=table)
        assert found.confirmed, found
    assert shoal.Release.load(OLDER / "version-2-rows").count() == 400


def test_who_would_repeat_a_search_that_is_gone_gets_a_sentence() -> None:
    spec = shoal.Spec(qi="age", sensitive="diagnosis", protect=[list(HOSPITAL_EVENT)], r=2)
    release = shoal.anonymize(hospital(1500, seed=3), spec, seed=1)
    told = release.certificate["method"]["parameters"]
    told |= {"units": "cells", "cover": None}
    assert shoal.attack(release, attackers=["insider"])["insider"].everybody.tries > 0
    told |= {"units": "rows", "cover": 0.25}
    (left_out,) = shoal.attack(release, attackers=["insider"]).not_run
    assert left_out.reason == (
        "No release of a resampled table could be made to learn from: "
        'The method "art" has no parameter "units" any more: its groups are always made of cells.'
    )


@pytest.mark.parametrize("name", ["version-1-first", "version-1-last", "version-2"])
def test_an_older_release_can_be_forged_no_more_than_a_new_one(name: str, tmp_path: Path) -> None:
    def safer(content: Any) -> None:
        content["events"][0]["worst_posterior"] = 0.01

    def unsafe(content: Any) -> None:
        content["audit"]["robust"] = None

    for number, change in enumerate((safer, unsafe)):
        folder = Path(shutil.copytree(OLDER / name, tmp_path / f"{number}"))
        edit(folder, change)
        assert refused(folder, table=FRAME)
