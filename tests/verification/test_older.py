"""Releases of earlier versions, as these wrote them: still read, and said to be older."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.datasets import hospital
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


def test_the_second_version_is_confirmed_by_the_adversaries_that_it_names() -> None:
    found = verify(OLDER / "version-2", table=FRAME)
    assert found.confirmed, found
    assert found.adversaries == ("joint", "binary")
    assert not any("certificates of the older format" in one for one in found.on_trust)


def test_what_the_first_version_did_not_say_is_passed_over() -> None:
    found = verify(OLDER / "version-1-first", table=FRAME)
    unsaid = [check.name for check in found.checks if "older certificate" in check.detail]
    assert unsaid == ["people shown openly", "counting class by class", "absence"]


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
