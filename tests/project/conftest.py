"""A project of the hospital table."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from shoal.datasets import HOSPITAL_EVENT, hospital
from shoal.project import Project, Run, Source, anonymize_steps

DRAFT = {
    "qi": ["age", "sex", "region"],
    "sensitive": "diagnosis",
    "r": 3,
    "protect": [{"values": list(HOSPITAL_EVENT)}],
}


def make_project(folder: Path, rows: int = 2000) -> Project:
    project = Project.open(folder, create=True)
    hospital(rows, 2).write_csv(folder / "table.csv")
    project.set_source(Source("table.csv"))
    project.write_draft(DRAFT)
    return project


def new_release(project: Project, **asked: object) -> Run:
    assert project.source is not None
    return project.new_run(
        "anonymize",
        partial(anonymize_steps, source=project.source, **asked),  # type: ignore[arg-type]
    )


def wait(run: Run, until: Callable[[Run], bool] | None = None, seconds: float = 120) -> None:
    """Until the run has ended, or something holds of it."""
    end = time.monotonic() + seconds
    while not (until(run) if until else run.state not in ("running", "waiting")):
        assert time.monotonic() < end, (run.state, run.outcome)
        time.sleep(0.05)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "a project")


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that is done: release, verify and an attack, from a seed."""
    project = make_project(tmp_path_factory.mktemp("project") / "done")
    run = new_release(project, seed=5, attack=True)
    run.start()
    wait(run)
    assert run.state == "done", run.outcome
    return run
