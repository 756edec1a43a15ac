"""Where earlier releases of the same people may lie, when another is about to be made."""

from __future__ import annotations

from pathlib import Path

from shoal.release.people import beside


def earlier_releases(out: Path, private: Path) -> list[Path]:
    """The private folders beside a release's own; and, of a run of a project, those of the runs
    whose release was approved."""
    found = beside(out, private)
    if not (out.absolute().parent / "run.json").is_file():
        return found
    from shoal.workbench.project import Project

    project, own = Project.of_run(out.absolute().parent)
    return found + [one.folder / "private" for one in project.approved() if one.name != own.name]
