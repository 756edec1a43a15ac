"""The newcomer's path: build the wheel, install it somewhere else, follow the tutorial."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.docs.blocks import DOCS, run_page

ROOT = DOCS.parent


def _run(*command: str | Path, folder: Path) -> str:
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module", autouse=True)
def _as_on_another_machine() -> Iterator[None]:
    """Nothing of this repository is on the path, and what Python compiles is kept."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, folder=ROOT)
    wheels = list(folder.glob("shoal-*.whl"))
    assert len(wheels) == 1
    return wheels[0]


def test_the_wheel_holds_the_whole_package(wheel: Path, tmp_path: Path) -> None:
    source = ROOT / "src"
    files = {
        file.relative_to(source).as_posix()
        for file in (source / "shoal").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    with ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if not name.startswith("shoal-")}
        archive.extractall(tmp_path)
    assert packed == files
    code = "import shoal, shoal.cli; print(shoal.__file__); print(shoal.__version__)"
    where, version = _run(sys.executable, "-c", code, folder=tmp_path).splitlines()
    assert Path(where) == tmp_path / "shoal" / "__init__.py"
    assert wheel.name.startswith(f"shoal-{version}-")


@pytest.mark.slow
def test_the_tutorial_runs_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    """With what the wheel itself asks for, and nothing else."""
    _run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv", folder=tmp_path)
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check")
    install = (*pip, "install", "--quiet", "--no-compile")  # most modules are never imported
    _run(*install, "--constraint", ROOT / "constraints.txt", wheel, folder=tmp_path)
    where = _run(python, "-c", "import shoal; print(shoal.__file__)", folder=tmp_path)
    assert Path(where.strip()).is_relative_to(tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    assert run_page("tutorial.md", work, python=str(python)) >= 10
    assert (work / "release" / "certificate.json").is_file()
    assert (work / "report.html").is_file()
