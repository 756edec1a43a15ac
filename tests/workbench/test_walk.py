"""The whole way in a real browser, from a dropped file to a decision and its evidence."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from shoal.data.datasets import HOSPITAL_EVENT, hospital
from shoal.workbench.held import key_of
from shoal.workbench.project import Run
from tests.browsing import chromium, look
from tests.cli.program import shoal_
from tests.workbench.served import Served, served
from tests.workbench.walker import LONG, Walker

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROWS = 2_000


@dataclass
class Way:
    """One project that somebody walks through, with the server at hand and its browser."""

    folder: Path
    walker: Walker
    seen: dict[str, Any]

    @property
    def served(self) -> Served:
        return self.walker.served

    def command(self, *arguments: str) -> dict[str, Any]:
        """What the command line says in the same folder."""
        done = shoal_(*arguments, "--json", cwd=self.served.folder)
        assert done.returncode in (0, 1, 3), done.stderr
        return dict(json.loads(done.stdout))


@pytest.fixture(scope="module")
def way(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Way]:
    """The hospital's table, walked to a release that is made, verified and attacked."""
    folder = tmp_path_factory.mktemp("walk")
    hospital(ROWS, seed=5).write_csv(folder / "hospital.csv")
    (folder / "other.csv").write_text("age,illness\n31,flu\n40,HIV\n", "utf-8")
    with chromium(folder / "profile") as browser, served(folder / "project") as place:
        look(browser, width=1400)
        browser.execute_cdp_cmd(
            "Browser.setDownloadBehavior",
            {"behavior": "allow", "downloadPath": str(folder / "taken")},
        )
        way = Way(folder, Walker(browser, place).enter(), {})
        choose_table(way)
        settle_roles(way)
        plan(way)
        make_release(way)
        yield way


@pytest.fixture(autouse=True)
def nothing_fails_and_nobody_else_is_asked(way: Way) -> Iterator[None]:
    yield
    for address in way.walker.quiet():
        assert "hiv" not in address.lower()
    assert way.served.said == ""


def choose_table(way: Way) -> None:
    """A file by its name, and then the right one, dropped."""
    walker = way.walker
    walker.press("Table")
    walker.sees("No table is chosen yet")
    walker.find("//input[@type='file']").send_keys(str(way.folder / "other.csv"))
    walker.press("Send the file")
    walker.sees("2 rows, 2 columns")
    walker.drop(way.folder / "hospital.csv")
    walker.sees("2,000 rows, 8 columns")
    assert walker.path == "/table"


def settle_roles(way: Way) -> None:
    """The proposal, with two columns less, two values as one event, and another r."""
    walker, project = way.walker, way.served.project
    walker.press("Next: Roles")
    walker.sees("Nobody is linked to an event above its limit yet")  # of those that are proposed
    walker.press("Remove all: protect each value")
    walker.sees("2,000 people are linked to an event above its limit already")
    assert project.draft["sensitive"] == "diagnosis"
    for column in ("occupation", "insurance"):
        walker.choose(f"Role of {column}", "not published")
        walker.until(lambda gone=column: gone not in project.draft["qi"])  # type: ignore[misc]
    walker.unfold(f"more-{key_of('age')}")
    walker.write("Why age has this role", "Neighbours know it.")
    walker.until(lambda: project.reasons.get("age") == "Neighbours know it.")
    walker.write("Find values", "hiv")
    walker.sees("1 of 1 found, of 14 in all")
    walker.write("Find values", "")
    walker.sees("14 of 14 found")
    for value in HOSPITAL_EVENT:
        walker.tick(value)
    walker.write("Label", "grave")
    walker.press("Protect as one event")
    walker.sees("28 people")
    walker.write("r", "3")
    walker.sees("At most 1 in 3")
    walker.write("min_support", "50")
    walker.until(lambda: project.draft.get("min_support") == 50)
    walker.sees("have a protected value 28")
    walker.sees("grave 28 0")  # what is known beforehand comes a moment later
    way.seen["roles"] = walker.words
    walker.press("Next: Plan")


def plan(way: Way) -> None:
    """A curve of three r, of which one is chosen."""
    walker = way.walker
    walker.write("Values of r", "2, 3, 4")
    walker.press("Compute")
    walker.sees("Run 0001 is going on")
    walker.sees("What is lost at which r", LONG)
    walker.until(lambda: way.served.project.run("0001").state == "done", LONG)
    walker.sees("Use r = 4")
    walker.press("Use r = 4")
    walker.until(lambda: way.served.project.draft["r"] == 4)
    walker.press("Use r = 3")
    walker.until(lambda: way.served.project.draft["r"] == 3)
    walker.sees("chosen: r = 3")  # on the curve, which comes a moment later
    way.seen["plan"] = walker.words


def make_release(way: Way) -> None:
    """A run, looked at while it goes on: progress, a reload, a second tab."""
    walker = way.walker
    walker.press("Next: Run")
    walker.write("Name", "the first one")
    walker.press("Start")
    walker.sees("Run 0002 is going on")
    way.seen["progress"] = walker.until(
        lambda: walker.find("//progress").get_attribute("aria-label") and walker.words
    )
    walker.browser.refresh()
    way.seen["reloaded"] = walker.words
    first = walker.browser.current_window_handle
    walker.browser.switch_to.new_window("tab")
    walker.go("/run")
    way.seen["other page"] = walker.words
    walker.press("Look at it")
    walker.sees("Run 0002")
    way.seen["second tab"] = walker.words
    walker.sees("Verified. Every link of a person to an event", LONG)  # the page comes by itself
    walker.browser.close()
    walker.browser.switch_to.window(first)
    walker.sees("Verified. Every link of a person to an event", LONG)
    assert walker.path == "/runs/0002"


def test_a_run_is_the_same_after_a_reload_and_in_a_second_tab(way: Way) -> None:
    assert "Step 1 of 3, making the release" in way.seen["progress"]
    for look_ in ("reloaded", "second tab"):
        assert "Run 0002 is going on" in way.seen[look_]
        assert "so far." in way.seen[look_]
    assert "Run 0002 is going on." in way.seen["other page"]
    assert [run.kind for run in way.served.project.runs()][:2] == ["plan", "anonymize"]


def test_figures_are_those_of_the_command_line(way: Way) -> None:
    walker = way.walker
    said = way.command("plan", "uploads/hospital.csv", "--spec", "spec.toml", "--r", "3")
    (event,) = said["events"]
    assert f"{event['carriers']:,} people" in way.seen["plan"]
    assert f"views that somebody may reason with {said['views']:,}" in way.seen["plan"]
    assert f"grave {event['carriers']:,} {event['known_before']:,}" in way.seen["roles"]

    walker.go("/runs/0002")
    made = way.served.project.run("0002").result("anonymize")
    assert made is not None
    walker.unfold("checks")
    assert made["published"] + made["suppressed"] == 2_000
    left = f"people published, {made['suppressed']:,} left out"
    assert walker.figure(left) == f"{made['published']:,}"
    assert made["problematic"] == 0
    assert re.search(r"Robust at r = 3: all \d checks are kept", walker.words)
    told = [line for line in walker.commands() if line.startswith("shoal verify")]
    (verify,) = told
    checked = way.command(*verify.split()[1:-1])
    assert checked["confirmed"] is True
    certificate = json.loads((way.served.folder / "runs/0002/release/certificate.json").read_text())
    assert certificate["rows"]["published"] == made["published"]


def test_people_decide_and_keep_evidence(way: Way) -> None:
    walker, run = way.walker, way.served.project.run("0002")
    walker.go("/")
    walker.press("Assessment")
    walker.write("Purpose of the release", "Research on care")
    walker.press("Save")
    walker.until(lambda: way.served.project.statement.get("purpose") == "Research on care")
    walker.go("/runs/0002")
    walker.tick("Yes, approved")
    walker.write("Your name", "A. Reviewer")
    walker.write("Your reason", "Nobody is above 1 in 3.")
    walker.press("Decide")
    walker.sees("approved by A. Reviewer")
    assert run.decision is not None
    assert run.decision["reason"] == "Nobody is above 1 in 3."
    walker.press("Write the evidence file")
    walker.sees("Write the evidence file again")
    first = walker.browser.current_window_handle
    walker.press("Evidence file")
    walker.until(lambda: len(walker.browser.window_handles) == 2)
    (other,) = set(walker.browser.window_handles) - {first}
    walker.browser.switch_to.window(other)
    walker.sees("Research on care")
    words = walker.words
    walker.browser.close()
    walker.browser.switch_to.window(first)
    made = run.result("anonymize")
    assert made is not None
    assert "A. Reviewer" in words
    assert "Neighbours know it." in words
    assert f"{made['published']:,}" in words


def test_what_is_taken_away_is_the_verified_release(way: Way) -> None:
    walker = way.walker
    walker.go("/runs/0002")
    for name, words in (
        ("release-0002.zip", "Release (zip)"),
        ("run-0002-certificate.json", "Certificate"),
    ):
        walker.press(words)
        walker.until((way.folder / "taken" / name).is_file)
    kept = way.served.folder / "runs/0002/release"
    taken = way.folder / "taken" / "run-0002-certificate.json"
    assert taken.read_bytes() == (kept / "certificate.json").read_bytes()
    with zipfile.ZipFile(way.folder / "taken" / "release-0002.zip") as archive:
        archive.extractall(way.folder / "taken")
    said = way.command(
        *("verify", str(way.folder / "taken" / "release"), "--table", "uploads/hospital.csv")
    )
    assert said["confirmed"] is True


def test_a_zip_and_a_run_are_verified_beside_a_table_of_the_same_name(way: Way) -> None:
    walker, other = way.walker, way.folder / "same" / "hospital.csv"
    other.parent.mkdir()
    hospital(300, seed=6).write_csv(other)
    zipped = way.folder / "taken" / "release-0002.zip"
    walker.go("/verify")
    walker.drop(zipped)
    walker.until(lambda: "release=" in walker.path)
    walker.press("Verify it")
    walker.sees("Confirmed: the release is what its certificate says", LONG)
    walker.sees("Every link of a person to an event was computed again")
    walker.go("/table")
    walker.find("//input[@type='file']").send_keys(str(other))
    walker.press("Send the file")
    walker.sees("300 rows, 8 columns")
    walker.go("/verify")
    walker.choose("Release folder", "runs/0002/release")
    walker.press("Verify it")
    walker.sees("Confirmed: the release is what its certificate says", LONG)
    walker.sees("Every link of a person to an event was computed again")
    walker.go("/table")
    walker.press("Undo")
    walker.sees("2,000 rows, 8 columns")


@pytest.mark.parametrize("edition", ["report.html", "report-public.html"])
def test_reports_are_drawn_apart_from_the_workbench(way: Way, edition: str) -> None:
    way.walker.go(f"/runs/0002/{edition}")
    everything = "document.querySelectorAll('[data-chart]').length"
    drawn = "document.querySelectorAll('[data-chart] .live svg').length"
    script = f"return {everything} > 0 && {everything} === {drawn}"
    way.walker.until(lambda: way.walker.browser.execute_script(script))
    assert way.walker.browser.execute_script("return window.origin") == "null"
    way.walker.quiet()


PAGES = (
    "/", "/table", "/roles", "/plan", "/run", "/runs", "/runs/0002", "/compare?runs=0002",
    "/audit", "/verify", "/nowhere",
)  # fmt: skip


@pytest.mark.parametrize("width", [390, 1400])
def test_no_page_is_wider_than_the_window(way: Way, width: int) -> None:
    look(way.walker.browser, width=width)
    try:
        for path in PAGES:
            way.walker.go(path)
            assert way.walker.fits(), path
            words = way.walker.words
            assert words, path
    finally:
        look(way.walker.browser, width=1400)
    (told,) = way.walker.browser.get_log("browser")
    assert "404" in told["message"]


def start_run(walker: Walker) -> Run:
    """Starts another run by the page, and waits until its command works."""
    walker.go("/run")
    walker.tick("let attackers try")  # which they do unless told otherwise
    if walker.served.project.approved():
        walker.choose("Releases of these people that were approved", "stand beside them")
    walker.press("Start")
    walker.sees("is going on")
    run = walker.served.project.run(walker.path.rpartition("/")[2])
    walker.until(lambda: run.progress is not None and run.progress.words != "", LONG)
    return run


def test_a_run_that_is_stopped_leaves_nothing_half_written(way: Way) -> None:
    run = start_run(way.walker)
    way.walker.press("Stop")
    way.walker.sees(f"Run {run.name} was stopped")
    assert run.state == "stopped"
    left = {path.name for path in run.folder.iterdir()}
    assert left <= {"run.json", "spec.toml", "table.json", "steps", "outcome.json", "stop",
                    ".worker-lock"}  # fmt: skip
    way.walker.go("/runs")
    way.walker.sees("stopped")


def test_keys_alone_lead_from_the_table_to_a_run(way: Way) -> None:
    walker = way.walker
    walker.go("/table")
    keys = Hands(walker)
    keys.reach("Next: Roles").press(Keys.ENTER)
    walker.until(lambda: walker.path == "/roles")
    keys.reach("Role of ward").press("s")  # a list is led by letters and arrows
    walker.until(lambda: "ward" in walker.served.project.draft["sensitive"])
    keys.reach("Role of ward").press(Keys.ARROW_DOWN)
    walker.until(lambda: walker.served.project.draft["sensitive"] == "diagnosis")
    walker.choose("Role of ward", "not published")
    walker.until(lambda: walker.served.project.draft["identifiers"] == ["patient"])
    walker.go("/roles")
    keys.reach("Next: Plan").press(Keys.ENTER)
    walker.until(lambda: walker.path == "/plan")
    keys.reach("Next: Run").press(Keys.ENTER)
    walker.until(lambda: walker.path == "/run")
    before = len(walker.served.project.runs())
    keys.reach("let attackers try").press(Keys.SPACE)
    keys.reach("Start").press(Keys.SPACE)
    walker.sees("is going on")
    runs = walker.served.project.runs()
    assert len(runs) == before + 1
    keys.reach("Stop").press(Keys.ENTER)
    walker.sees(f"Run {runs[-1].name} was stopped")


class Hands:
    """Somebody without a mouse."""

    def __init__(self, walker: Walker) -> None:
        self._walker = walker

    def reach(self, name: str) -> Hands:
        """Goes on by Tab until the focus is on what has this name, and is seen to be there."""
        for _ in range(150):
            self.press(Keys.TAB)
            named, outlined = self._walker.browser.execute_script(
                """const e = document.activeElement, s = getComputedStyle(e);
                const label = e.labels && e.labels.length ? e.labels[0].innerText : "";
                return [e.getAttribute("aria-label") || label || e.innerText || "",
                        s.outlineStyle !== "none" || s.boxShadow !== "none"]"""
            )
            if " ".join(named.split()).startswith(name):
                assert outlined, f"nobody sees that the focus is on {name}"
                return self
        raise AssertionError(f"{name} cannot be reached by Tab: {self._walker.words}")

    def press(self, *keys: str) -> None:
        self._walker.browser.switch_to.active_element.send_keys(*keys)


def test_a_run_outlives_the_server(way: Way) -> None:
    walker = way.walker
    run = start_run(walker)
    before = {path: path.read_bytes() for path in kept_files(way.served.folder)}
    walker.browser.get("about:blank")  # a page that asks on would only say that nobody answers
    way.served.kill()
    assert run.state == "running"
    with served(way.served.folder) as again:
        walker = Walker(walker.browser, again).enter()  # forgets what the old page had to say
        walker.go(f"/runs/{run.name}")
        going_on = run.state == "running"
        assert not going_on or f"Run {run.name} is going on" in walker.words
        walker.sees("Verified. Every link of a person to an event", LONG)
        assert run.state == "done"
        assert {path: path.read_bytes() for path in before} == before

        lost = start_run(walker)
        os.kill(worker_of(lost), signal.SIGKILL)
        walker.sees(f"Run {lost.name} ended without a word")
        walker.press("Start again")
        walker.sees(f"Run {lost.name} is going on")
        walker.press("Stop")
        walker.sees(f"Run {lost.name} was stopped")


def kept_files(folder: Path) -> list[Path]:
    """What somebody entered or a run has made so far."""
    names = [folder / "spec.toml", folder / "project.toml", folder / "uploads/hospital.csv"]
    return names + [path for path in (folder / "runs/0002").rglob("*") if path.is_file()]


def worker_of(run: Run) -> int:
    found = subprocess.run(
        ["pgrep", "-f", f"shoal.workbench.project.worker {run.folder} "],
        capture_output=True,
        text=True,
    )
    (process,) = found.stdout.split()
    return int(process)
