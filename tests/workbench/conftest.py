from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from shoal.planning.propose import Proposal, propose_spec
from shoal.workbench.project import Run
from tests.browsing import chromium
from tests.workbench.full import make
from tests.workbench.project.making import make_project, new_release, work_off
from tests.workbench.served import served
from tests.workbench.visitor import Visitor, workbench
from tests.workbench.walker import Walker


@pytest.fixture(scope="session", autouse=True)
def proposed_once() -> Iterator[None]:
    """A proposal runs settings for seconds: tables with the same content share one."""
    known = dict[tuple[str, ...], Proposal]()

    def once(frame: pl.DataFrame, *codebook: Any) -> Proposal:
        told = str(frame.schema), frame.write_csv(), repr(codebook)
        if told not in known:
            known[told] = propose_spec(frame, *codebook)
        return known[told]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.workbench.held.propose_spec", once)
        yield


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


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="session")
def empty(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walker]:
    with served(tmp_path_factory.mktemp("empty") / "project") as place:
        yield Walker(browser, place).enter()


@pytest.fixture(scope="session")
def full(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walker]:
    """A project with runs of every kind: done, failed, waiting."""
    folder = tmp_path_factory.mktemp("full") / "project"
    make(folder)
    with served(folder) as place:
        walker = Walker(browser, place).enter()
        walker.go("/runs/0002")
        walker.press("Write the evidence file")
        walker.sees("Write the evidence file again")
        yield walker
