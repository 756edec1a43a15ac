"""Runs whose spec names files of the project's folder: outside knowledge, hierarchies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from shoal.data.datasets import HOSPITAL_EVENT
from shoal.data.datasets.hospital import REGIONS
from shoal.release.stated import read_certificate
from shoal.workbench.project import Run
from tests.cli.program import shoal_
from tests.workbench.project.making import DRAFT, make_project, new_release, wait

FILE = "from outside/known.csv"


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A release that was made, verified and attacked; its spec names the file from the project's
    folder, and the run keeps that spec in a folder of its own."""
    project = make_project(tmp_path_factory.mktemp("project") / "with knowledge")
    path = project.folder / FILE
    path.parent.mkdir()
    pl.DataFrame(
        {
            "sex": ["Male", "Female", None],
            "region": [None, None, "North"],
            "value": [HOSPITAL_EVENT[0]] * 3,
            "probability": [0.012, 0.006, 0.02],
        }
    ).write_csv(path)
    project.write_draft(DRAFT | {"knowledge": FILE})
    run = new_release(
        project, seed=5, attack=True, attackers=("likeliest",), spec={"knowledge": FILE}
    )
    run.start()
    wait(run)
    assert run.state == "done", run.error
    return run


def test_a_release_is_verified_and_attacked_with_it(judged: Run) -> None:
    certificate = read_certificate(judged.folder / "release")
    assert certificate["knowledge"]["source"].startswith('"known.csv", ')
    assert certificate["knowledge"]["views"] == [["sex"], ["region"]]
    checked, attacked = judged.result("verify"), judged.result("attack")
    assert checked is not None
    assert (checked["confirmed"], checked["recomputed"]) == (True, True)
    assert attacked is not None
    assert [one["attacker"] for one in attacked["attackers"]] == ["likeliest"]
    assert [judged.exit_code(step) for step in (1, 2, 3)] == [0, 0, 0]


def test_the_same_in_python_is_told_of_it_too(judged: Run) -> None:
    folder = judged.folder.parent.parent
    unaware = [text for text in judged.steps[1] if text not in ("--knowledge", FILE)]
    assert "[verify-knowledge]" in shoal_(*unaware, cwd=folder).stderr
    program = "\n".join([*judged.programs()[1:], "assert checked.confirmed"])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], cwd=folder, capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


def test_a_column_recoded_by_a_file_in_a_folder_of_its_own(tmp_path: Path) -> None:
    project = make_project(tmp_path / "recoded")
    lines = [f"{region},{region.partition('-')[0]},anywhere\n" for region in REGIONS]
    (project.folder / "up").mkdir()
    (project.folder / "up/region.csv").write_text("".join(lines), "utf-8")
    recode = {"region": {"hierarchy": "up/region.csv", "level": 1}}
    project.write_draft(DRAFT | {"recode": recode})
    run = new_release(project, seed=5, attack=True, attackers=("likeliest",), spec=project.draft)
    run.start()
    wait(run)
    assert run.state == "done", run.error
    checked = run.result("verify")
    assert checked is not None
    assert (checked["confirmed"], checked["recomputed"]) == (True, True)
    program = "\n".join([*run.programs()[1:], "assert checked.confirmed"])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=project.folder,
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
