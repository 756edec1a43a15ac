"""A browser whose workbench does not answer, is gone, or is asked by two pages."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shoal.data.datasets import hospital
from shoal.workbench.project import Project, Source, plan_steps
from shoal.workbench.project.files import take
from shoal.workbench.texts import TEXTS
from tests.browsing import chromium, look
from tests.workbench.drafts import HOSPITAL
from tests.workbench.served import Served, served
from tests.workbench.walker import Walker

pytestmark = [pytest.mark.browser, pytest.mark.slow]

GONE = "Not saved: the workbench does not answer. What you typed stays on this page, and is sent"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        look(opened, width=1400)
        yield opened


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project.open(tmp_path / "project", create=True)
    hospital(300, seed=5).write_csv(made.folder / "table.csv")
    made.keep(source=Source("table.csv"), draft=HOSPITAL)
    return made


@pytest.fixture
def walker(browser: Any, project: Project) -> Iterator[Walker]:
    with served(project.folder) as place:
        yield Walker(browser, place).enter()
        browser.get("about:blank")


def value(walker: Walker, label: str) -> str:
    return str(walker.find(walker.labelled(label)).get_attribute("value"))


def test_what_is_typed_while_nobody_answers_is_sent_once_somebody_does(
    walker: Walker, project: Project
) -> None:
    walker.go("/roles")
    walker.sees(TEXTS["roles.saved"])
    process = walker.served.process.pid
    os.kill(process, signal.SIGSTOP)
    try:
        walker.write("r", "4")
        walker.sees(GONE)
        assert TEXTS["roles.saved"] not in walker.words
        assert (value(walker, "r"), project.draft["r"]) == ("4", 3)
    finally:
        os.kill(process, signal.SIGCONT)
    walker.until(lambda: project.draft["r"] == 4)
    walker.until(lambda: GONE not in walker.words)
    assert value(walker, "r") == "4"
    walker.press("Undo")
    walker.sees("Undone: r")
    assert project.draft["r"] == 3


@pytest.mark.parametrize("path", ["/context", "/runs/0001"])
def test_a_page_says_at_once_that_its_workbench_is_gone(
    walker: Walker, project: Project, path: str
) -> None:
    run = project.new_run("plan", lambda run: plan_steps(run, Source("table.csv")))
    lock = take(run.folder / ".worker-lock")  # it looks as if it were going on
    assert lock is not None
    try:
        walker.go(path if path == "/context" else "/plan")
        if path == "/context":
            walker.write("Purpose of the release", "Research on care")
        else:
            walker.sees("Run 0001 is going on")
        walker.served.kill()
        if path == "/context":
            walker.press("Save")
        walker.sees(GONE, 10)
        if path == "/context":
            assert value(walker, "Purpose of the release") == "Research on care"
            walker.press("Save")  # and once more
            assert value(walker, "Purpose of the release") == "Research on care"
    finally:
        os.close(lock)


def test_a_workbench_that_was_started_anew_is_told_from_one_that_is_gone(
    browser: Any, project: Project
) -> None:
    with served(project.folder) as first:
        walker = Walker(browser, first).enter()
        walker.go("/context")
        walker.write("Recipients", "Everybody")
        port = str(first.port)
        first.kill()
    with served(project.folder, "--port", port) as second:
        walker.press("Save")
        walker.sees("Not saved: the workbench was started anew. Open the address that it printed")
        here = browser.current_window_handle
        browser.switch_to.new_window("tab")
        browser.get(second.entrance)
        browser.close()
        browser.switch_to.window(here)
        walker.press("Save")
        walker.until(lambda: project.statement == {"recipient": "Everybody"})
        browser.get("about:blank")


def test_two_pages_show_both_versions(walker: Walker, project: Project) -> None:
    browser = walker.browser
    walker.go("/roles")
    first = browser.current_window_handle
    browser.switch_to.new_window("tab")
    walker.go("/roles")
    walker.choose("Role of region", "not published")
    walker.until(lambda: "region" not in project.draft["qi"])
    browser.close()
    browser.switch_to.window(first)
    walker.choose("Role of sex", "not published")
    walker.sees("Two versions")
    known = TEXTS["role.qi"]
    assert f"Role of region – {known}" in walker.words
    assert f"Role of sex {known} –" in walker.words
    assert project.draft["qi"] == ["age", "sex"]
    walker.press("Take what was on my page")
    walker.until(lambda: project.draft["qi"] == ["age", "region"])
    walker.press("Undo")
    walker.until(lambda: project.draft["qi"] == ["age", "sex"])


def test_nothing_that_was_done_is_lost_with_the_machine(browser: Any, project: Project) -> None:
    def begun(place: Served) -> Walker:
        walker = Walker(browser, place).enter()
        walker.go("/roles")
        return walker

    with served(project.folder) as first:
        walker = begun(first)
        walker.choose("Role of region", "not published")
        walker.until(lambda: "region" not in project.draft["qi"])
        browser.get("about:blank")
        first.kill()
    with served(project.folder) as second:
        walker = begun(second)
        walker.press("Undo")
        walker.sees("Undone: Role of region")
        assert "region" in project.draft["qi"]
        walker.press("Redo")
        walker.sees("Done again: Role of region")
        assert "region" not in project.draft["qi"]
        browser.get("about:blank")
