"""Makes the pictures of workbench and report in docs/figures: `python -m tools.screenshots`.

It is run by hand, after a page has changed; it needs the extra `test`, Chromium and its driver.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from shoal.data.datasets import hospital
from shoal.workbench.project import Project, Source, anonymize_steps, plan_steps
from tests.browsing import chromium, look
from tests.workbench.drafts import HOSPITAL
from tests.workbench.served import served
from tests.workbench.walker import Walker

FIGURES = Path(__file__).resolve().parents[1] / "docs" / "figures"
WIDTH, HEIGHT = 1200, 860


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "hospital"
        make(folder)
        with chromium(Path(scratch) / "profile") as browser, served(folder) as place:
            look(browser, width=WIDTH, height=HEIGHT)
            walker = Walker(browser, place).enter()
            picture(walker, "/table", "2,000 rows", "table")
            picture(walker, "/roles", "By event, the most known first", "roles")
            picture(walker, "/coarser", "Detail kept", "coarser")
            picture(walker, "/plan", "chosen: r = 5", "plan")
            picture(walker, "/runs/0002", "Robust at r = 5", "decide")
            picture(walker, "/look?run=0002", "How each attribute moves the link", "look")
            browser.get((folder / "runs" / "0002" / "report.html").as_uri())
            browser.save_screenshot(str(FIGURES / "report.png"))


def make(folder: Path) -> None:
    """The hospital's table with a plan and a release that was attacked."""
    project = Project.open(folder, create=True)
    hospital(2_000, seed=5).write_csv(folder / "patients.csv")
    source = Source("patients.csv")
    project.set_source(source)
    project.write_draft({**HOSPITAL, "r": 5})
    for run in (
        project.new_run("plan", lambda run: plan_steps(run, source, r=[2, 5, 10, 20, 40, 60, 80])),
        project.new_run("anonymize", lambda run: anonymize_steps(run, source, attack=True)),
    ):
        run.start()
        run.wait()


def picture(walker: Walker, path: str, words: str, name: str) -> None:
    """One page as it is seen first, once it says these words."""
    walker.go(path)
    walker.sees(words)
    walker.browser.save_screenshot(str(FIGURES / f"workbench-{name}.png"))


if __name__ == "__main__":
    main()
