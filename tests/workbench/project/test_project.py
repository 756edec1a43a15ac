"""The folder of a project: what is kept, what is refused, and two who write at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.workbench.project import Project, Source, plan_steps
from tests.workbench.project.making import DRAFT, make_project, new_release


def refusal(code: str) -> pytest.RaisesExc[InputError]:
    return pytest.RaisesExc(InputError, check=lambda error: error.code == code)


def test_what_is_told_is_read_back_by_whoever_opens_the_folder_next(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p", 50)
    project.set_reasons({"age": "others know it"})
    project.state(purpose="Research", recipient="Everybody")
    project.state(recipient="")
    again = Project.open(tmp_path / "p")
    assert again.source == Source("table.csv")
    assert again.table_path == str(tmp_path / "p" / "table.csv")
    assert again.draft == DRAFT
    assert again.spec().r == 3
    assert again.reasons == {"age": "others know it"}
    assert again.statement == {"purpose": "Research"}
    assert again.runs() == []


def test_an_incomplete_draft_is_kept_and_refused_as_a_spec(project: Project) -> None:
    project.write_draft({"qi": ["age"]})
    assert project.draft == {"qi": ["age"]}
    with refusal("spec-missing"):
        project.spec()


def test_a_folder_that_is_no_project_is_refused(tmp_path: Path) -> None:
    with refusal("project-none"):
        Project.open(tmp_path)
    (tmp_path / "file").write_text("")
    with refusal("project-folder"):
        Project.open(tmp_path / "file" / "p", create=True)
    with refusal("project-spec"):
        Project.open(tmp_path, create=True).spec()


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:secret@host/base?table=t",
        "postgresql://host/base?password=secret&table=t",
    ],
)
def test_a_source_with_a_password_is_refused_and_never_written(
    project: Project, address: str
) -> None:
    with refusal("url-password"):
        project.set_source(Source(address))
    assert "secret" not in (project.folder / "project.toml").read_text()


def test_a_table_outside_the_folder_keeps_its_whole_path(project: Project) -> None:
    outside = project.folder.parent / "other.csv"
    project.set_source(Source(str(outside), separator=";"))
    assert project.source == Source(str(outside), separator=";")
    project.set_source(Source(str(project.folder / "table.csv")))
    assert project.source == Source("table.csv")


@pytest.mark.parametrize("name", ["..", "../..", "0001/..", "1", "", "0001\n", "٠٠٠١", "abcd"])
def test_the_name_of_a_run_leads_nowhere_else(project: Project, name: str) -> None:
    new_release(project)
    with refusal("run-none"):
        project.run(name)


def test_a_run_keeps_the_spec_as_it_was(project: Project) -> None:
    run = new_release(project)
    project.write_draft({**DRAFT, "r": 9})
    assert run.made["spec"]["r"] == 3
    assert "r = 3" in (run.folder / "spec.toml").read_text()
    assert (run.name, run.state, run.kind) == ("0001", "waiting", "anonymize")
    assert [one.name for one in project.runs()] == ["0001"]
    with refusal("run-kind"):
        project.new_run("sleep", lambda _: [])


MAKE = """
import sys
from shoal.workbench.project import Project
project = Project.open(sys.argv[1])
for number in range(40):
    project.new_run("plan", lambda where: [["plan", "table.csv", where]], title=sys.argv[2])
    project.state(**{sys.argv[2]: str(number)})
"""


def test_two_processes_make_runs_at_once_and_each_gets_its_own(project: Project) -> None:
    both = [
        subprocess.Popen([sys.executable, "-c", MAKE, project.folder, title])
        for title in ("purpose", "recipient")
    ]
    assert [one.wait(60) for one in both] == [0, 0]
    runs = project.runs()
    assert len(runs) == 80
    assert sum(run.title == "purpose" for run in runs) == 40
    assert all(run.steps == [["plan", "table.csv", f"runs/{run.name}"]] for run in runs)
    assert project.statement == {"purpose": "39", "recipient": "39"}


def test_a_project_is_held_by_one_and_tells_the_other_who_it_is(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.workbench.project.files.PATIENCE", 0.1)
    with (
        project.lock({"address": "http://127.0.0.1:8001"}),
        pytest.raises(InputError, match=rf"process {os.getpid()}.*127\.0\.0\.1:8001"),
        project.lock(),
    ):
        pass
    with project.lock():
        pass


def test_options_reach_the_command_line(project: Project) -> None:
    source = Source("a table.csv", separator=";", encoding="latin-1")
    assert plan_steps("runs/0001", source) == [
        [
            *("plan", "a table.csv", "--spec", "runs/0001/spec.toml", "--seconds", "0"),
            *("--separator", ";", "--encoding", "latin-1", "--json"),
        ]
    ]


def test_a_new_folder_is_its_makers_alone(tmp_path: Path) -> None:
    Project.open(tmp_path / "new", create=True)
    assert (tmp_path / "new").stat().st_mode & 0o077 == 0
    (tmp_path / "shared").mkdir(mode=0o755)
    (tmp_path / "shared").chmod(0o755)
    Project.open(tmp_path / "shared", create=True)
    assert (tmp_path / "shared").stat().st_mode & 0o777 == 0o755
