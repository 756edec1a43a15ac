"""One release that was attacked, for all that only look at it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shoal.workbench.project import Project, Run
from tests.workbench.project.making import make_project, new_release, work_off


@pytest.fixture(scope="package")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    project = make_project(tmp_path_factory.mktemp("assessed") / "p")
    project.set_reasons(
        {"age": "a guess", "sex": "a second guess", "region": "Typed by hand"},
        guesses={"age": "a guess", "sex": "a second guess", "region": "another guess"},
    )
    few = ["likeliest", "singling-out", "insider"]
    return work_off(new_release(project, seed=5, attack=True, attackers=few))


@pytest.fixture
def project(run: Run) -> Iterator[Project]:
    """Its project, which is afterwards as it was."""
    project = Project.of_run(run.folder)[0]
    kept = (project.folder / "project.toml").read_bytes()
    yield project
    (project.folder / "project.toml").write_bytes(kept)
