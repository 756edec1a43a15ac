"""The release that evidence is looked at of, and its project."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shoal.workbench.project import Project, Run


@pytest.fixture(scope="session")
def run(assessed: Run) -> Run:
    return assessed


@pytest.fixture
def project(run: Run) -> Iterator[Project]:
    """Its project, which is afterwards as it was."""
    project = Project.of_run(run.folder)[0]
    kept = (project.folder / "project.toml").read_bytes()
    yield project
    (project.folder / "project.toml").write_bytes(kept)
