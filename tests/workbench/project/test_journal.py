"""The journal: every change can be undone and redone, by whoever opens the folder next."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from shoal.errors import InputError
from shoal.workbench.project import Project, Source
from tests.workbench.project.making import DRAFT

CHANGES: dict[str, Callable[[Project], None]] = {
    "draft": lambda project: project.write_draft({**DRAFT, "r": 7}),
    "reasons": lambda project: project.set_reasons({"age": "Neighbours know it."}),
    "source": lambda project: project.set_source(Source("other.csv", encoding="latin-1")),
    "statement": lambda project: project.state(purpose="Research"),
    "all": lambda project: project.keep(
        draft={"qi": ["age"]}, reasons={"age": "why"}, source=Source("x.csv")
    ),
    "by hand": lambda project: (project.folder / "spec.toml").write_text("r = 9 # mine\n") and None,
}


def held(project: Project) -> dict[str, bytes]:
    return {name: (project.folder / name).read_bytes() for name in ("spec.toml", "project.toml")}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_change_is_undone_and_redone_byte_by_byte(
    project: Project, change: Callable[[Project], None]
) -> None:
    before = held(project)
    change(project)
    after = held(project)
    assert after != before
    again = Project.open(project.folder)  # as after a restart
    with again.editing() as journal:
        journal.undo()
    assert held(project) == before
    with Project.open(project.folder).editing() as journal:
        journal.redo()
    assert held(project) == after


def test_what_is_kept_at_once_is_one_change_and_nothing_new_is_none(project: Project) -> None:
    CHANGES["all"](project)
    number = project.journal.note().number
    CHANGES["all"](project)
    project.write_draft(project.draft)
    assert project.journal.note().number == number
    with project.editing() as journal:
        journal.undo()
    assert (project.draft, project.reasons, project.source) == (DRAFT, {}, Source("table.csv"))


def test_a_change_after_an_undo_loses_nothing_either(project: Project) -> None:
    for r in (4, 5):
        project.write_draft({**DRAFT, "r": r})
    with project.editing() as journal:
        journal.undo()
    project.write_draft({**DRAFT, "r": 6})
    with pytest.raises(InputError, match="nothing to redo"), project.editing() as journal:
        journal.redo()
    (lost,) = [one for one in project.journal.states() if "r = 5" in (one.files["spec.toml"] or "")]
    with project.editing() as journal:
        journal.restore(lost.number)
    assert project.draft["r"] == 5
    with project.editing() as journal:
        journal.undo()
    assert project.draft["r"] == 6


def test_the_first_state_is_the_end(project: Project) -> None:
    for _ in project.journal.line():
        if (at := project.journal.current) is not None and at.before is not None:
            with project.editing() as journal:
                journal.undo()
    with pytest.raises(InputError, match="nothing to undo"), project.editing() as journal:
        journal.undo()
    assert not (project.folder / "spec.toml").exists()
    for number in (0, 999):
        with pytest.raises(InputError, match="no such change"):
            project.journal.state(number)
