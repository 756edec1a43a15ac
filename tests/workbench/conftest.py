from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from shoal.workbench.project import Run
from tests.workbench.project.making import make_project, new_release, work_off
from tests.workbench.visitor import Visitor, workbench


@pytest.fixture
def visitor(tmp_path: Path) -> Iterator[Visitor]:
    """Somebody who was let in."""
    with workbench(tmp_path / "project", upload_limit=10**6) as one:
        one.enter()
        yield one


@pytest.fixture(scope="session")
def assessed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One release that was attacked, for all that only look at it."""
    project = make_project(tmp_path_factory.mktemp("assessed") / "p")
    project.set_reasons(
        {"age": "a guess", "sex": "a second guess", "region": "Typed by hand"},
        guesses={"age": "a guess", "sex": "a second guess", "region": "another guess"},
    )
    few = ["likeliest", "singling-out", "insider"]
    return work_off(new_release(project, seed=5, attack=True, attackers=few))
