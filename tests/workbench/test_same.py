"""What pages show as a command and in Python is what they do."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from shoal.data.datasets import hospital
from shoal.workbench.project import Source, plan_steps, verify_steps
from tests.cli.program import shoal_
from tests.workbench.visitor import Answer, Visitor


def shown(answer: Answer, kind: str) -> list[str]:
    found = re.findall(rf'<pre tabindex="0" data-same="{kind}">(.*?)</pre>', answer.text, re.DOTALL)
    return [unescape(one) for one in found]


def ran(program: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def copied(visitor: Visitor, tmp_path: Path) -> Path:
    """Another folder with the table and the draft, for the commands to work in."""
    assert visitor.send("it's.csv", hospital(800, seed=2).write_csv().encode()).status == 303
    visitor.project.write_draft(
        {"qi": ["age", "sex"], "sensitive": "diagnosis", "r": 3, "min_support": 50,
         "protect": [["HIV"]]}
    )  # fmt: skip
    shutil.copytree(visitor.project.folder, tmp_path / "copy")
    return tmp_path / "copy"


def test_the_table_page_writes_the_proposal(visitor: Visitor, copied: Path) -> None:
    answer = visitor.get("/table")
    (command,), (program,) = shown(answer, "command"), shown(answer, "python")
    (copied / "spec.toml").unlink()
    assert shoal_(*shlex.split(command)[1:], cwd=copied).returncode == 0
    written = (copied / "spec.toml").read_text("utf-8")
    (copied / "spec.toml").unlink()
    ran(program, copied)
    assert (copied / "spec.toml").read_text("utf-8") == written
    assert 'sensitive = "diagnosis"' in written


def test_the_page_of_roles_says_what_plan_says(visitor: Visitor, copied: Path) -> None:
    answer = visitor.get("/roles")
    (command,), (program,) = shown(answer, "command"), shown(answer, "python")
    done = shoal_(*shlex.split(command)[1:], cwd=copied)
    told = json.loads(done.stdout)
    event = told["events"][0]
    assert f"{event['carriers']:,} {event['known_before']:,}" in visitor.get("/roles/known").words
    twin = ran(program + "\nimport json; print(json.dumps(plan.to_dict()))", copied)
    assert json.loads(twin) == told


def test_the_statement(visitor: Visitor, copied: Path) -> None:
    stated = {"purpose": "--It's “research”", "release_model": "public", "why_r": "The law"}
    visitor.follow("/context", stated)
    (command,), (program,) = (
        shown(visitor.get("/context"), kind) for kind in ("command", "python")
    )
    kept = (visitor.project.folder / "project.toml").read_text("utf-8")
    before = (copied / "project.toml").read_text("utf-8")
    assert before != kept
    ran(program, copied)
    assert (copied / "project.toml").read_text("utf-8") == kept
    (copied / "project.toml").write_text(before, "utf-8")
    done = shoal_(*shlex.split(command)[1:], cwd=copied)
    told = [f"{name.replace('_', ' ')}: {text}" for name, text in stated.items()]
    assert sorted(done.stdout.splitlines()) == told
    assert (copied / "project.toml").read_text("utf-8") == kept


def test_the_list_of_runs(visitor: Visitor, copied: Path) -> None:
    visitor.project.new_run("plan", lambda run: plan_steps(run, Source("it's.csv")))
    visitor.project.new_run("verify", lambda _: verify_steps("release"), title="<b>theirs</b>")
    shutil.rmtree(copied)
    shutil.copytree(visitor.project.folder, copied)
    page = visitor.get("/runs")
    (command,), (program,) = (shown(page, kind) for kind in ("command", "python"))
    told = ran(program + "\nimport json; print(json.dumps(found))", copied)
    done = shoal_(*shlex.split(command)[1:], "--json", cwd=copied)
    assert json.loads(told) == json.loads(done.stdout)
    assert [one["state"] for one in json.loads(told)] == ["waiting", "waiting"]
    listed = shoal_(*shlex.split(command)[1:], cwd=copied).stdout
    for name in ("0001", "0002", "<b>theirs</b>"):
        assert name in listed
        assert name in page.words


@pytest.mark.parametrize(
    "path",
    ["/", "/context", "/table", "/roles", "/plan", "/find", "/run", "/runs", "/audit", "/verify"],
)
def test_every_page_has_both(visitor: Visitor, copied: Path, path: str) -> None:
    answer = visitor.get(path)
    assert shown(answer, "command")
    for program in shown(answer, "python"):
        compile(program, path, "exec")


def test_what_run_and_audit_show_works_on_the_draft_and_on_no_run(
    visitor: Visitor, copied: Path
) -> None:
    visitor.project.new_run("plan", lambda run: plan_steps(run, Source("it's.csv")))
    for folder in (visitor.project.folder, copied):
        (folder / "theirs.csv").write_bytes((folder / "uploads/it_s.csv").read_bytes())
    chosen = {"r": "4", "limit": "prior", "readers": "joint"}
    answer = visitor.post("/run/same", chosen)
    (lines,), (program, *_) = shown(answer, "command"), shown(answer, "python")
    made, checked = lines.splitlines()
    assert "runs/" not in lines + shown(visitor.get("/audit"), "command")[0]
    told = json.loads(shoal_(*shlex.split(made)[1:], cwd=copied).stdout)
    assert (told["r"], told["limit"], told["adversaries"]) == (4, "prior", ["joint"])
    assert json.loads(shoal_(*shlex.split(checked)[1:], cwd=copied).stdout)["confirmed"]
    shutil.rmtree(copied / "release")
    shutil.rmtree(copied / "private")
    ran(program + "\nassert (spec.r, spec.limit) == (4, 'prior')", copied)
    (command,) = shown(visitor.get("/audit"), "command")
    assert json.loads(shoal_(*shlex.split(command)[1:], cwd=copied).stdout)["r"] == 3


def test_verify_names_the_files_that_it_will_be_told(visitor: Visitor, copied: Path) -> None:
    recode = {"sex": {"hierarchy": "sex.csv"}}
    visitor.project.write_draft(visitor.project.draft | {"recode": recode})
    assert "--hierarchy sex=sex.csv" in shown(visitor.get("/verify"), "command")[0]
    (visitor.project.folder / "spec.toml").write_text("recode = [", "utf-8")
    assert visitor.get("/verify").status == 200
