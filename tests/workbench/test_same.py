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

from shoal.datasets import hospital
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


def test_the_statement_and_the_runs_in_python(visitor: Visitor, copied: Path) -> None:
    visitor.follow("/", {"purpose": "It's “research”", "release_model": "public"})
    (program,) = shown(visitor.get("/"), "python")
    ran(program, copied)
    kept = (copied / "project.toml").read_text("utf-8")
    assert kept == (visitor.project.folder / "project.toml").read_text("utf-8")
    (program,) = shown(visitor.get("/runs"), "python")
    assert ran(program, copied) == ""


@pytest.mark.parametrize(
    "path", ["/", "/table", "/roles", "/plan", "/run", "/runs", "/audit", "/verify"]
)
def test_every_page_has_both(visitor: Visitor, copied: Path, path: str) -> None:
    answer = visitor.get(path)
    assert shown(answer, "command")
    for program in shown(answer, "python"):
        compile(program, path, "exec")
