"""axe-core, which looks for what keeps people from using a page, on every page of the workbench.

Its script comes with the package selenium-axe-python, of the extra `test` alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from shoal.data.datasets import hospital
from shoal.workbench.project import (
    Project,
    Source,
    anonymize_steps,
    attack_steps,
    audit_steps,
    plan_steps,
    verify_steps,
)
from tests.browsing import chromium, look
from tests.workbench.drafts import HOSPITAL
from tests.workbench.served import served
from tests.workbench.walker import Walker

pytestmark = [pytest.mark.browser, pytest.mark.slow]
pytest.importorskip("selenium_axe_python", reason="needs axe-core: the extra test")

FEW = ["likeliest", "rarest"]
EMPTY = (
    "/", "/context", "/table", "/roles", "/plan", "/find", "/run", "/runs", "/audit", "/verify",
)  # fmt: skip
FULL = (
    *EMPTY, "/runs/0001", "/runs/0002", "/runs/0003", "/runs/0004", "/runs/0005", "/runs/0006",
    "/compare?runs=0002", "/look?run=0002", "/evidence/0002", "/nowhere",
)  # fmt: skip


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def empty(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walker]:
    with served(tmp_path_factory.mktemp("empty") / "project") as place:
        yield Walker(browser, place).enter()


@pytest.fixture(scope="module")
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


def make(folder: Path) -> None:
    project = Project.open(folder, create=True)
    hospital(1_000, seed=5).write_csv(folder / "table.csv")
    source = Source("table.csv")
    project.set_source(source)
    project.write_draft(HOSPITAL)
    made = partial(anonymize_steps, source=source)
    release, private = "runs/0002/release", "runs/0002/private"
    attacked = attack_steps(release, source, private=private, attackers=FEW)
    judged = partial(audit_steps, source=source, groups="region", models=True)
    runs = [
        project.new_run("plan", lambda run: plan_steps(run, source, r=[2, 3])),
        project.new_run("anonymize", lambda run: [*made(run), *attacked]),
        project.new_run("audit", judged),
        project.new_run("verify", lambda _: verify_steps(release, source)),
        project.new_run("verify", lambda _: verify_steps("nowhere", source)),
        project.new_run("verify", lambda _: verify_steps(release, source)),
    ]
    for run in runs[:5]:
        run.start()
        run.wait()
    assert [run.state for run in runs] == ["done"] * 4 + ["failed", "waiting"]


def violations(walker: Walker) -> list[str]:
    """What is serious or worse, and where."""
    script = (files("selenium_axe_python") / "axe-core" / "axe.min.js").read_text("utf-8")
    walker.browser.execute_script(script)
    found = walker.browser.execute_async_script(
        "const done = arguments[0]; axe.run().then(done, (e) => done({error: String(e)}))"
    )
    assert "violations" in found, found
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("kind", ["empty", "full"])
def test_no_page_keeps_anybody_out(kind: str, mode: str, request: pytest.FixtureRequest) -> None:
    walker = request.getfixturevalue(kind)
    look(walker.browser, width=1280, mode=mode)
    found = {}
    for path in EMPTY if kind == "empty" else FULL:
        walker.go(path)
        if path == "/roles" and kind == "full":
            walker.sees("By event, the most known first")
        if path.startswith("/look"):
            walker.sees("How each attribute moves the link")
            walker.sees("people by the release")
        if path == "/plan" and kind == "full":
            walker.find("//figure//*[name()='svg']")
        if wrong := violations(walker):
            found[path] = wrong
    assert found == {}
