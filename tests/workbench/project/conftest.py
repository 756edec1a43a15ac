"""A project of the hospital table."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.workbench.project import Project, Run
from tests.workbench.project.making import make_project, new_release, wait


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "a project")


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that is done: release, verify and an attack, from a seed."""
    project = make_project(tmp_path_factory.mktemp("project") / "done")
    run = new_release(project, seed=5, attack=True, attackers=("likeliest", "linkability"))
    run.start()
    wait(run)
    assert run.state == "done", run.outcome
    return run
