"""What is shown as a command and in Python does what the run did."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from shoal.workbench.project import Project, Run, Source, audit_steps, plan_steps, python_of
from tests.workbench.project.making import new_release

SHOAL = f'shoal() {{ "{sys.executable}" -m shoal "$@"; }}\n'


@pytest.fixture
def before(released: Run, tmp_path: Path) -> Path:
    """The project as it was before the run."""
    folder = tmp_path / "again"
    shutil.copytree(released.folder.parent.parent, folder)
    for name in ("release", "private"):
        shutil.rmtree(folder / "runs" / released.name / name)
    return folder


def test_the_commands_shown_make_the_same_release(released: Run, before: Path) -> None:
    first, *lines = released.commands()
    assert first == f"cd {released.folder.parent.parent}"
    done = subprocess.run(
        ["bash", "-ec", SHOAL + "\n".join(lines[:2])], cwd=before, capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    _same_release(released, before)


def test_the_program_shown_makes_the_same_release(released: Run, before: Path) -> None:
    programs = released.programs()
    shown = "\n".join([*programs[:2], "assert checked.confirmed", programs[2]])
    shown += "\nimport json; print(json.dumps(attack.to_dict()))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", shown],
        cwd=before,
        capture_output=True,
        timeout=120,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    _same_release(released, before)
    attack, twin = released.result("attack"), json.loads(done.stdout)
    assert attack is not None
    assert _without_time(twin) == _without_time(attack)


def _without_time(attack: dict[str, Any]) -> dict[str, Any]:
    findings = [{**one, "seconds": 0} for one in attack["attackers"]]
    return {**attack, "seconds": 0, "attackers": findings}


def _same_release(released: Run, before: Path) -> None:
    mine = released.folder / "release"
    twin = before / "runs" / released.name / "release"
    for file in mine.iterdir():
        assert (twin / file.name).read_bytes() == file.read_bytes(), file.name


@pytest.mark.parametrize("kind", ["plan", "audit"])
def test_plan_and_audit_say_the_same_in_python(project: Project, kind: str) -> None:
    source = Source("table.csv", separator=",")
    steps = (
        plan_steps("runs/0001", source, r=[4])
        if kind == "plan"
        else audit_steps(
            "runs/0001", source, released="table.csv", key="patient", readers=["binary"]
        )
    )
    new_release(project)
    arguments = steps[0]
    program = python_of(arguments) + f"\nimport json; print(json.dumps({kind}.to_dict()))"
    outs = [
        subprocess.run(one, cwd=project.folder, capture_output=True, timeout=120)
        for one in (
            [sys.executable, "-m", "shoal", *arguments],
            [sys.executable, "-c", program],
        )
    ]
    assert outs[0].returncode == (3 if kind == "plan" else 1), outs[0].stderr
    assert outs[1].returncode == 0, outs[1].stderr
    assert json.loads(outs[0].stdout) == json.loads(outs[1].stdout)


def test_a_name_that_looks_like_a_number_stays_a_name() -> None:
    program = python_of(["attack", "release", "--table", "t.csv", "--column", "7", "--seed", "7"])
    assert "column='7'" in program
    assert "seed=7" in program


def test_parameters_and_hierarchies_are_part_of_both(project: Project) -> None:
    run = new_release(
        project,
        method="mondrian",
        parameters={"k": 5},
        hierarchies={"sex": "sex.csv"},
        readers=["joint"],
    )
    assert "--k 5 --hierarchy sex=sex.csv" in run.commands()[1]
    program = run.programs()[0]
    assert "hierarchies={'sex': read_hierarchy('sex.csv', name='sex')}" in program
    assert "adversary=['joint']" in program
    assert "k=5" in program
    compile(program, "program", "exec")
