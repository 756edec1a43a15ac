"""A release and its private folder belong together, also when runs are killed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import shoal
from shoal.data.datasets import HOSPITAL_EVENT, HOSPITAL_SENSITIVE, hospital
from shoal.data.spec import Event, Spec
from shoal.release.pair import PAIR
from tests.cli.program import refused, shoal_
from tests.data.sources.expect import fails_with

SPEC = Spec(
    qi=("sex", "region"), sensitive=HOSPITAL_SENSITIVE, protect=(Event(HOSPITAL_EVENT),), r=3
)
FRAME = hospital(600, 3)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two releases, each with its private folder."""
    folder = tmp_path_factory.mktemp("pairs")
    FRAME.write_csv(folder / "table.csv")
    for seed, name in enumerate(("one", "other")):
        made = shoal.anonymize(FRAME, SPEC, seed=seed)
        made.save(folder / name, private=folder / f"{name}-private", alone=True)
    return folder


def test_a_private_folder_of_another_release_is_refused(saved: Path, tmp_path: Path) -> None:
    release, stranger = saved / "one", saved / "other-private"
    found = shoal.verify(release, private=stranger)
    assert [check.name for check in found.checks if not check.passed] == ["private folder"]
    assert not shoal.verify(release, FRAME, private=stranger).confirmed
    assert shoal.verify(release, FRAME, private=saved / "one-private").confirmed
    with fails_with("private-stranger", "other-private"):
        shoal.attack(release, table=FRAME, private=stranger)
    shutil.copytree(release, tmp_path / "one")
    shutil.copytree(stranger, tmp_path / "one-private")
    with fails_with("private-stranger", "one-private"):
        shoal.audit(FRAME, released=tmp_path / "one")
    report = tmp_path / "report.html"
    refused(shoal_("report", release, "--private", stranger, "--report", report), "report-other")
    shutil.copy(saved / "one-private" / "report.json", tmp_path / "one-private")
    refused(shoal_("report", tmp_path / "one", "--report", report), "private-stranger")


def test_folders_of_older_versions_do_not_say_and_are_believed(saved: Path, tmp_path: Path) -> None:
    private = Path(shutil.copytree(saved / "one-private", tmp_path / "private"))
    for damaged in ("", "{", "[]", json.dumps({"certificate": 7}), "{}"):
        (private / PAIR).write_text(damaged, encoding="utf-8")
        assert not shoal.verify(saved / "one", private=private).confirmed
    (private / PAIR).unlink()
    assert shoal.verify(saved / "one", FRAME, private=private).confirmed


def run_kills(count: int, seed: int) -> str:
    command = [sys.executable, "-m", "fuzzing", "kills", "--count", str(count), "--seed", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3000)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_killed_runs_leave_the_old_pair_or_the_new_one() -> None:
    """Before every step, and at random moments."""
    assert "12 kills at random moments" in run_kills(12, seed=1)
