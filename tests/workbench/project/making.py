"""Projects of the hospital table, and runs of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from shoal.data.datasets import HOSPITAL_EVENT, hospital
from shoal.workbench.project import Project, Run, Source, anonymize_steps
from shoal.workbench.project.files import keep_hashes, write_json
from tests.cli.program import shoal_

DRAFT = {
    "qi": ["age", "sex", "region"],
    "sensitive": "diagnosis",
    "r": 3,
    "protect": [{"values": list(HOSPITAL_EVENT)}],
}


def make_project(folder: Path, rows: int = 2000) -> Project:
    project = Project.open(folder, create=True)
    hospital(rows, 2).write_csv(folder / "table.csv")
    project.set_source(Source("table.csv"))
    project.write_draft(DRAFT)
    return project


def new_release(project: Project, **asked: object) -> Run:
    assert project.source is not None
    return project.new_run(
        "anonymize",
        partial(anonymize_steps, source=project.source, **asked),  # type: ignore[arg-type]
    )


def wait(run: Run, until: Callable[[Run], bool] | None = None, seconds: float = 120) -> None:
    """Until the run has ended, or something holds of it."""
    end = time.monotonic() + seconds
    while not (until(run) if until else run.state not in ("running", "waiting")):
        assert time.monotonic() < end, (run.state, run.outcome)
        time.sleep(0.05)


def work_off(run: Run) -> Run:
    """Does what the worker does, in this process, and waits for it."""
    steps = run.folder / "steps"
    steps.mkdir()
    for number, arguments in enumerate(run.steps, start=1):
        done = shoal_(*arguments, cwd=run.folder.parent.parent)
        assert done.returncode in (0, 1, 3), done.stderr
        (steps / f"{number}.json").write_text(done.stdout, encoding="utf-8")
        (steps / f"{number}.log").write_text(done.stderr, encoding="utf-8")
        (steps / f"{number}.exit").write_text(str(done.returncode))
    keep_hashes(run.folder)
    write_json(run.folder / "outcome.json", {"state": "done", "seconds": 0.0, "error": None})
    return run
