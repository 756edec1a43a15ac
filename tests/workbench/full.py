"""A project with runs of every kind, and the pages that there are of it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

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
from tests.workbench.drafts import HOSPITAL
from tests.workbench.walker import Walker

FEW = ["likeliest", "rarest"]
EMPTY = (
    "/", "/context", "/table", "/roles", "/coarser", "/plan", "/find", "/run", "/runs", "/audit",
    "/verify", "/changes",
)  # fmt: skip
FULL = (
    *EMPTY, "/runs/0001", "/runs/0002", "/runs/0003", "/runs/0004", "/runs/0005", "/runs/0006",
    "/compare?runs=0002", "/look?run=0002", "/evidence/0002", "/runs/0002/report.html",
    "/runs/0002/report-public.html", "/nowhere",
)  # fmt: skip
COMING = {
    "/roles": ["By event, the most known first"],
    "/coarser": ["Detail kept"],
    "/look?run=0002": ["How each attribute moves the link", "people by the release"],
}
"""What a page says once its parts are there."""
DRAWN = ("/plan", "/runs")


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


def shown(walker: Walker, path: str, *, full: bool) -> None:
    """Goes to a page, and waits for its parts."""
    walker.go(path)
    for words in COMING.get(path, ()) if full else ():
        walker.sees(words)
    if full and path in DRAWN:
        walker.find("//figure//*[name()='svg']")
