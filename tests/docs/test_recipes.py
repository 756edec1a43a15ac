"""The action of the repository and the recipes of docs/howto/pipelines.md do what they say."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest
import yaml

import shoal
from tests.cli.program import Done
from tests.cli.schemas import schema
from tests.docs.blocks import DOCS, blocks

ROOT = DOCS.parent
PAGE = "howto/pipelines.md"
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
INSTALL, JUDGE = ACTION["runs"]["steps"]


def programs(folder: Path, python: str = sys.executable) -> str:
    """A search path on which the program is."""
    folder.mkdir()
    (folder / "shoal").write_text(f'#!/bin/sh\nexec "{python}" -m shoal "$@"\n')
    (folder / "shoal").chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def run_step(step: dict[str, Any], folder: Path, given: dict[str, str], path: str) -> Done:
    """A step of the action, as GitHub runs it: inputs in the environment, bash that stops at the
    first fault."""
    inputs = {name: one.get("default", "") for name, one in ACTION["inputs"].items()} | given
    asked = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], text)
        for name, text in step["env"].items()
    }
    asked |= {"GITHUB_OUTPUT": str(folder / "told"), "GITHUB_ACTION_PATH": str(ROOT), "PATH": path}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env=os.environ | asked,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_action_has_the_form_of_one() -> None:
    jsonschema.validate(ACTION, schema("metadata-syntax-for-github-actions"))
    assert {step["shell"] for step in ACTION["runs"]["steps"]} == {"bash"}
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"], "an input would be taken for shell"
    used = {name for step in (INSTALL, JUDGE) for name in step["env"].values()}
    assert used == {f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"]}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table, a file of another tool, and a release."""
    folder = tmp_path_factory.mktemp("action")
    table = shoal.datasets.hospital(1_000, seed=1)
    table.write_csv(folder / "my table.csv")
    table.with_columns(sex=pl.lit("*")).write_csv(folder / "released.csv")
    spec = shoal.Spec(qi=["sex", "region"], sensitive="diagnosis", protect=["HIV"], r=2)
    shoal.anonymize(table, spec, seed=1).save(folder / "release")
    return folder


def test_the_action_says_what_the_command_says(place: Path, tmp_path: Path) -> None:
    path = programs(tmp_path / "bin")
    kept = run_step(JUDGE, place, {"command": "verify", "arguments": "release\n"}, path)
    assert kept.returncode == 0, kept.stderr
    assert kept.stdout.startswith("::notice file=release,title=shoal verify::CONFIRMED")
    words = ["my table.csv", "--released", "released.csv", "--qi", "sex,region"]
    words += ["--sensitive", "diagnosis", "--protect", "HIV", "-r", "200"]
    given = {"command": "audit", "arguments": "\n".join(words), "output-format": "sarif"}
    broken = run_step(JUDGE, place, given | {"output": "answer.sarif"}, path)
    assert (broken.returncode, broken.stdout) == (1, ""), broken.stderr
    assert '"kind": "fail"' in (place / "answer.sarif").read_text("utf-8")
    strange = {"command": "verify", "arguments": "$(touch seen); touch seen `touch seen`"}
    assert run_step(JUDGE, place, strange, path).returncode == 2
    assert run_step(JUDGE, place, {"command": "demo; touch seen"}, path).returncode == 2
    assert not (place / "seen").exists()
    told = (place / "told").read_text().splitlines()
    assert told == ["exit-code=0", "exit-code=1", "exit-code=2"]


@pytest.mark.slow
def test_the_action_installs_shoal(place: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    path = f"{tmp_path / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONPATH", raising=False)
        done = run_step(INSTALL, place, {"extras": "duckdb"}, path)
        assert done.returncode == 0, done.stderr
        given = {"command": "verify", "arguments": "release"}
        done = run_step(JUDGE, place, given, path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "venv" / "bin" / "shoal").is_file()


def test_the_workflow_names_inputs_of_the_action() -> None:
    (workflow,) = [yaml.safe_load(one.text) for one in blocks(PAGE) if one.language == "yaml"]
    *_, step = workflow["jobs"]["verify"]["steps"]
    assert step["with"].keys() <= ACTION["inputs"].keys()
    needed = {name for name, one in ACTION["inputs"].items() if one.get("required")}
    assert needed <= step["with"].keys()


def test_the_check_of_dagster_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dagster = pytest.importorskip("dagster", reason="dagster is not installed, and brings much")
    (block,) = [one for one in blocks(PAGE) if one.language == "py"]
    monkeypatch.chdir(tmp_path)
    shoal.datasets.hospital(1_000, seed=1).write_csv("patients.csv")
    found = {}
    for r in ("r=3", "r=200"):
        names: dict[str, Any] = {}
        exec(compile(block.text.replace("r=3", r), PAGE, "exec"), names)
        made = [names[name] for name in ("patients", "published", "nobody_is_linked")]
        done = dagster.materialize(made, raise_on_error=False)
        (found[r],) = done.get_asset_check_evaluations()
    assert found["r=3"].passed
    assert not found["r=200"].passed
    assert found["r=200"].metadata["one-view"].value > 0


@pytest.mark.slow
def test_the_recipe_of_a_container_runs_in_a_plain_folder(place: Path, tmp_path: Path) -> None:
    """Its lines, with a folder for a root and an environment for an image."""
    (recipe,) = [one.text for one in blocks(PAGE) if one.language == "dockerfile"]
    lines = [line.split(maxsplit=1) for line in recipe.replace("\\\n", " ").splitlines()]
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    root = tmp_path / "opt" / "shoal"
    kept = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in kept.stdout.splitlines():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    environment = {name: one for name, one in os.environ.items() if name != "PYTHONPATH"}
    environment["PATH"] = f"{tmp_path / 'venv' / 'bin'}{os.pathsep}{environment['PATH']}"
    for word, rest in lines:
        command = rest.replace("/opt/shoal", str(root))
        if word == "ENV":
            name, _, value = command.partition("=")
            environment[name] = value
        elif word == "RUN":
            subprocess.run(["bash", "-ec", command], cwd=place, env=environment, check=True)
    (start,) = [shlex.split(rest.strip("[]")) for word, rest in lines if word == "ENTRYPOINT"]
    done = subprocess.run([*start, "verify", "release"], cwd=place, env=environment, check=False)
    assert done.returncode == 0
