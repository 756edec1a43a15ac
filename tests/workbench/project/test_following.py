"""Releases of the same people in one project: noticed, followed, or judged together."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.data.datasets import hospital
from shoal.workbench.evidence import evidence_page, gather
from shoal.workbench.project import Project, Run
from tests.cli.program import refused, shoal_
from tests.report.page import Page
from tests.workbench.project.making import DRAFT, make_project, new_release, work_off

WHOLE = hospital(3600, 2)
KEYED = {"ledger": True, "key": "patient"}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A run whose release was approved, and a table with newcomers."""
    project = make_project(tmp_path_factory.mktemp("following") / "p")
    project.write_draft({**DRAFT, "identifiers": ["patient"]})
    WHOLE.head(1800).write_csv(project.folder / "table.csv")
    work_off(new_release(project, seed=1, **KEYED))
    new_release(project, seed=2)
    return project


def test_what_is_not_approved_was_never_published(project: Project) -> None:
    second = project.run("0002")
    assert shoal_(*second.steps[0], cwd=project.folder).returncode == 0
    approve(project.run("0001"))
    refused(shoal_(*second.steps[0], "--force", cwd=project.folder), "same-people")


def test_a_release_follows_the_one_that_was_approved(project: Project) -> None:
    WHOLE.write_csv(project.folder / "table.csv")
    run = work_off(new_release(project, seed=3, after="runs/0001/private", attack=True))
    made, checked = run.result("anonymize"), run.result("verify")
    assert made is not None
    assert made["robust"] is True
    assert checked is not None
    assert checked["confirmed"]
    assert run.attacks
    shown = " ".join(Page(evidence_page(gather(run.folder))).text.split())
    assert "Whoever has this release and all that it follows: 0 people are above" in shown


def test_one_that_stands_beside_is_judged_together_with_it(project: Project) -> None:
    WHOLE.head(1800).write_csv(project.folder / "table.csv")
    run = work_off(new_release(project, seed=4, alone=True, beside=["runs/0001/release"]))
    both = run.result("audit")
    assert both is not None
    assert both["above"] > 0
    shown = " ".join(Page(evidence_page(gather(run.folder))).text.split())
    assert f"those of them that were approved: {both['above']:,} people are above" in shown
    program = run.programs()[-1]
    assert "shoal.audit_releases('table.csv', ['runs/0001/release', 'runs/" in program


def approve(run: Run) -> None:
    (run.folder / "decision.json").unlink(missing_ok=True)
    run.decide("approved", name="Ada", reason="It holds.")
    assert Path(run.folder / "decision.json").is_file()
