"""Releases of the version before, as it wrote them: still read, and said to be older."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.data.datasets import hospital
from shoal.release.verification.verify import verify
from tests.forging import edit, refused

OLDER = Path(__file__).with_name("older") / "version-3"
FRAME = hospital(400, seed=3)


def test_an_older_release_is_confirmed_and_said_to_be_older() -> None:
    for table in (None, FRAME):
        found = verify(OLDER, table=table)
        assert found.confirmed, found
        assert found.robust
        assert (
            "README.txt, datapackage.json, order and spelling, which are another version's"
            in found.on_trust
        )
    assert found.adversaries == ("joint", "binary", "all-views")
    assert shoal.Release.load(OLDER).count() == 400


def test_what_it_did_not_say_is_passed_over() -> None:
    found = verify(OLDER, table=FRAME)
    unsaid = [check.name for check in found.checks if "older certificate" in check.detail]
    assert unsaid == ["people with rare combinations"]
    assert "people published alone" in [check.name for check in found.checks]


def test_its_weights_count_as_they_did() -> None:
    release = shoal.Release.load(OLDER)
    assert release.weight == "weight"
    cases = release.count({"diagnosis": "HIV|Schizophrenia"})
    assert cases == pytest.approx(release.qi["weight"].sum(), rel=1e-4)


@pytest.mark.parametrize("path", [("events", 0, "worst_posterior"), ("audit", "robust")])
def test_an_older_release_can_be_forged_no_more_than_a_new_one(
    path: tuple[Any, ...], tmp_path: Path
) -> None:
    def change(content: Any) -> None:
        for step in path[:-1]:
            content = content[step]
        content[path[-1]] = None if path[-1] == "robust" else 0.01

    folder = Path(shutil.copytree(OLDER, tmp_path / "forged"))
    edit(folder, change)
    assert refused(folder, table=FRAME)


def test_what_openly_stands_there_cannot_be_made_less(tmp_path: Path) -> None:
    def fewer(content: Any) -> None:
        content["groups"]["shown_openly"] -= 1

    folder = Path(shutil.copytree(OLDER, tmp_path / "forged"))
    edit(folder, fewer)
    assert refused(folder)


@pytest.mark.parametrize("older", [1, 2])
def test_formats_before_that_are_refused_with_a_way_out(older: int, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(OLDER, tmp_path / "older"))
    text = (folder / "certificate.json").read_text("utf-8")
    (folder / "certificate.json").write_text(text.replace("certificate/3", f"certificate/{older}"))
    with pytest.raises(shoal.InputError, match="Make the release again") as raised:
        verify(folder)
    assert raised.value.code == "certificate-format"
