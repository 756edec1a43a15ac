"""The newcomer's path: build the wheel, install it somewhere else, follow the tutorial."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import DOCS, run_page

ROOT = DOCS.parent


def _run(*command: str | Path, folder: Path) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.slow
def test_the_tutorial_runs_from_the_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    _run(sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path / "dist", folder=ROOT)
    wheels = list((tmp_path / "dist").glob("shoal-*.whl"))
    assert len(wheels) == 1
    _run(sys.executable, "-m", "venv", tmp_path / "venv", folder=tmp_path)
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = (python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    _run(*pip, "--constraint", ROOT / "constraints.txt", wheels[0], folder=tmp_path)
    where = _run(python, "-c", "import shoal; print(shoal.__file__)", folder=tmp_path)
    assert Path(where.strip()).is_relative_to(tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    assert run_page("tutorial.md", work, python=str(python)) >= 6
