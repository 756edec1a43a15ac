"""Releases of earlier versions, as these wrote them: still read, and said to be older."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.datasets import HOSPITAL_EVENT, hospital
from shoal.verification.verify import verify
from tests.forging import edit, refused

OLDER = Path(__file__).with_name("older")
FRAME = hospital(400, seed=3)


@pytest.mark.parametrize("name", ["version-1-first", "version-1-last"])
def test_an_older_release_is_confirmed_and_said_to_be_older(name: str) -> None:
    for table in (None, FRAME):
        found = verify(OLDER / name, table=table)
        assert found.confirmed, found
        assert any("certificates of the older format" in one for one in found.on_trust)
        assert "pages, order and spelling, which are another version's" in found.on_trust
    assert shoal.Release.load(OLDER / name).count() == 400


def test_what_the_first_version_did_not_say_is_passed_over() -> None:
    found = verify(OLDER / "version-1-first", table=FRAME)
    unsaid = [check.name for check in found.checks if "older certificate" in check.detail]
    assert unsaid == ["people shown openly", "counting class by class", "absence"]


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


@pytest.mark.parametrize("name", ["version-1-first", "version-1-last"])
def test_an_older_release_can_be_forged_no_more_than_a_new_one(name: str, tmp_path: Path) -> None:
    def safer(content: Any) -> None:
        content["events"][0]["worst_posterior"] = 0.01

    def unsafe(content: Any) -> None:
        content["audit"]["robust"] = None

    for number, change in enumerate((safer, unsafe)):
        folder = Path(shutil.copytree(OLDER / name, tmp_path / f"{number}"))
        edit(folder, change)
        assert refused(folder, table=FRAME)
