"""A run whose files were changed afterwards: the evidence file says so."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from shoal.workbench.evidence import evidence_page, gather, unfitting
from shoal.workbench.project import Project, Run
from shoal.workbench.project.files import keep_hashes
from tests.report.page import Page
from tests.workbench.project.making import DRAFT, make_project, new_release, work_off


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Run:
    project = make_project(tmp_path_factory.mktemp("forged") / "p")
    run = work_off(new_release(project, seed=5))
    run.decide("refused", name="A", reason="Not yet")
    return run


@pytest.fixture
def copied(honest: Run, tmp_path: Path) -> Run:
    shutil.copytree(honest.folder.parent.parent, tmp_path / "p")
    return Project.open(tmp_path / "p").run(honest.name)


def edit(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    told = json.loads(path.read_text(encoding="utf-8"))
    change(told)
    path.write_text(json.dumps(told), encoding="utf-8")


def _otherwise(facts: dict[str, Any]) -> None:
    facts["verdict"] |= {"robust": not facts["verdict"]["robust"], "problematic": 7}


FORGED: dict[str, Callable[[dict[str, Any]], object]] = {
    "private/report.json": _otherwise,
    "steps/1.json": lambda told: told.update(problematic=7),
    "steps/2.json": lambda told: told.update(on_trust=[], checks=told["checks"][:1]),
    "run.json": lambda told: told["steps"][0].append("--stricter"),
}


def test_an_honest_run_fits_together(honest: Run) -> None:
    assert unfitting(honest) == []
    text = Page(evidence_page(gather(honest.folder))).text
    assert "can change these hashes too" in text
    assert "cannot check who wrote it" in text


@pytest.mark.parametrize("name", FORGED)
def test_a_file_that_was_edited_is_named(copied: Run, name: str) -> None:
    edit(copied.folder / name, FORGED[name])
    text = Page(evidence_page(gather(copied.folder))).text
    assert f"{name} is not as the run left it" in text


@pytest.mark.parametrize("name", ["spec.toml", "private/spec.toml", "release/more.csv"])
def test_a_file_that_was_written_or_added_is_named(copied: Run, name: str) -> None:
    with (copied.folder / name).open("a", encoding="utf-8") as file:
        file.write("# more\n")
    assert f"{name} is not as the run left it (SHA-256)." in unfitting(copied)


def test_hashes_that_were_kept_anew_do_not_hide_it(copied: Run) -> None:
    edit(copied.folder / "private" / "report.json", _otherwise)
    keep_hashes(copied.folder)
    wrong = unfitting(copied)
    assert "The private records say otherwise than the certificate on: robust." in wrong
    assert "shoal verify read another verdict than the one of the private records." in wrong
    assert "made on other files of the run" in " ".join(wrong)


def test_a_run_without_hashes_is_not_taken_for_whole(copied: Run) -> None:
    (copied.folder / "hashes.json").unlink()
    assert "hashes.json of the run is missing" in " ".join(unfitting(copied))


def test_a_run_without_its_private_records_is_named(copied: Run) -> None:
    shutil.rmtree(copied.folder / "private")
    (wrong,) = unfitting(copied)
    assert "report.json" in wrong


def test_a_reason_for_a_later_role_is_not_told_of_an_earlier_run(copied: Run) -> None:
    project = Project.open(copied.folder.parent.parent)
    project.set_reasons({"age": "Known to neighbours", "ward": "Everybody sees it"})
    project.write_draft({**project.draft, "qi": ["age", "sex", "region", "ward"]})
    reasons = {one.name: one.reason for one in gather(copied.folder).columns}
    assert reasons["age"] == "Known to neighbours"
    assert "ward" not in reasons


def test_a_release_whose_run_was_stopped_later_is_an_earlier_release(copied: Run) -> None:
    second = copied.folder.with_name("0002")
    shutil.copytree(copied.folder, second)
    edit(copied.folder / "outcome.json", lambda told: told.update(state="stopped"))
    (earlier,) = gather(second).earlier
    assert earlier["run"] == copied.name


def test_maxima_are_those_of_all_people(copied: Run) -> None:
    """With limits that differ, the person nearest to a limit is not who is known best."""
    project = Project.open(copied.folder.parent.parent)
    common = {"values": ["Hypertension"], "r": 2, "label": "common"}
    project.write_draft({**DRAFT, "protect": [*DRAFT["protect"], common]})  # type: ignore[misc]
    run = work_off(new_release(project, method="mondrian"))
    record = pl.read_parquet(run.folder / "private" / "row_risks.parquet")
    evidence = gather(run.folder)
    assert evidence.before.largest is not None
    assert evidence.before.largest >= record["known_before"].max()  # type: ignore[operator]
    assert evidence.after.largest >= record["posterior"].max()  # type: ignore[operator]
    assert "another event may be likelier" in Page(evidence_page(evidence)).text


def test_a_purpose_that_was_stated_after_the_decision_is_told_of(copied: Run) -> None:
    project, run = Project.of_run(copied.folder)
    project.state(purpose="Research on asthma")
    run.decide("approved", name="A. Reader", reason="fine")
    assert not unfitting(run)
    project.state(purpose="Sale")
    (told,) = unfitting(run)
    assert "Research on asthma" in told


@pytest.mark.parametrize(
    ("name", "held"),
    [("run.json", "{"), ("run.json", None), ("steps/1.json", "{"), ("steps/1.json", None)],
)
def test_an_earlier_release_whose_records_were_changed_is_told_of(
    copied: Run, name: str, held: str | None
) -> None:
    second = copied.folder.with_name("0777")
    shutil.copytree(copied.folder, second)
    assert gather(second).doubtful == []
    if held is None:
        edit(copied.folder / name, lambda told: told.update(kind="plan", r=99))
    else:
        (copied.folder / name).write_text(held)
    found = gather(second)
    assert (found.earlier, found.doubtful) == ([], [copied.name])
    text = Page(evidence_page(found)).text
    assert "There may be more. The folders of these runs hold a release too" in text
    assert "None is known in this project" not in text


def test_a_statement_that_is_no_text_is_shown_as_one(copied: Run) -> None:
    file = copied.folder.parent.parent / "project.toml"
    file.write_text(file.read_text("utf-8") + "\n[statement]\nreviewer = 5\n", "utf-8")
    assert gather(copied.folder).context.reviewer == "5"
    assert evidence_page(gather(copied.folder))
