"""The wheel's life: built, checked, installed elsewhere, followed through the tutorial, removed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from email.parser import HeaderParser
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.docs.blocks import DOCS, run_page

ROOT = DOCS.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


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
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a source archive and of the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "build", "--outdir", folder, folder=ROOT)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (wheel,) = built.glob("*.whl")
    return wheel


def test_the_wheel_holds_the_whole_package(wheel: Path, tmp_path: Path) -> None:
    source = ROOT / "src"
    files = {
        file.relative_to(source).as_posix()
        for file in (source / "shoal").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path)
    noted = {name for name in names if ".dist-info/" in name}
    assert {*names} - noted == files
    assert "shoal/py.typed" in files
    assert any(name.endswith("/licenses/LICENSE") for name in noted)
    code = "import shoal, shoal.cli; print(shoal.__file__); print(shoal.__version__)"
    where, version = _run(sys.executable, "-c", code, folder=tmp_path).splitlines()
    assert Path(where) == tmp_path / "shoal" / "__init__.py"
    assert wheel.name.startswith(f"{PROJECT['name'].replace('-', '_')}-{version}-py3-none-any")


def test_what_the_wheel_says_of_itself(built: Path, wheel: Path) -> None:
    _run(sys.executable, "-m", "twine", "check", "--strict", *built.iterdir(), folder=built)
    with ZipFile(wheel) as archive:
        (noted,) = {Path(name).parent for name in archive.namelist() if name.endswith("/RECORD")}
        said = HeaderParser().parsestr(archive.read(f"{noted}/METADATA").decode())
        entries = archive.read(f"{noted}/entry_points.txt").decode()
    assert said["Name"] == PROJECT["name"] != "shoal", "that name is somebody else's"
    assert "shoal = shoal.cli:main" in entries
    assert {*said.get_all("Provides-Extra")} == {*PROJECT["optional-dependencies"]}
    assert {"Typing :: Typed", *PROJECT["classifiers"]} == {*said.get_all("Classifier")}
    assert said["License-Expression"] == "MIT"
    assert said.get_payload().startswith("# shoal\n")
    asked = [one for one in said.get_all("Requires-Dist") if re.match(r"shoal\b(?!-privacy)", one)]
    assert not asked


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="only git knows what is kept")
def test_the_source_archive_holds_what_is_kept(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        held = {name.partition("/")[2] for name in packed.getnames()}
    kept = _run("git", "ls-files", "-co", "--exclude-standard", folder=ROOT).splitlines()
    assert {*kept} == held - {"PKG-INFO"}


def test_every_package_to_install_is_ours_or_one_that_shoal_needs() -> None:
    """The name `shoal` on the public index is somebody else's."""
    extras = PROJECT["optional-dependencies"].values()
    needed = {*PROJECT["dependencies"], *(one for extra in extras for one in extra)}
    known = {PROJECT["name"], *(re.split(r"[\[<>=]", one)[0] for one in needed)}
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]
    named: set[str] = set()
    for file in [*pages, *(ROOT / "src").rglob("*.py")]:
        asked = re.findall(
            r"\b(?:pip|uv tool) install\s+['\"]?([a-z][\w-]*)", file.read_text("utf-8")
        )
        named.update(asked)
    assert {"scikit-learn", "pyspark"} <= named, "the search finds too little"
    assert named <= known


@pytest.fixture(scope="module")
def elsewhere(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an empty environment, with the wheel and what that asks for alone."""
    folder = tmp_path_factory.mktemp("environment")
    _run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", folder=folder)
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = (*_pip(python), "install", "--quiet", "--no-compile")  # most is never imported
    _run(*install, "--constraint", ROOT / "constraints.txt", wheel, folder=folder)
    return python


def _pip(python: Path) -> tuple[str | Path, ...]:
    return (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check")


@pytest.mark.slow
def test_the_tutorial_runs_from_the_wheel(elsewhere: Path, tmp_path: Path) -> None:
    """With what the wheel itself asks for, and nothing else; the tutorial begins with the demo."""
    where = _run(elsewhere, "-c", "import shoal; print(shoal.__file__)", folder=tmp_path)
    assert Path(where.strip()).is_relative_to(elsewhere.parents[1])
    assert run_page("tutorial.md", tmp_path, python=str(elsewhere)) >= 10
    assert (tmp_path / "release" / "certificate.json").is_file()
    assert (tmp_path / "demo" / "report.html").is_file()
    assert (tmp_path / "report.html").is_file()


@pytest.mark.slow
def test_the_wheel_leaves_nothing_when_it_is_removed(elsewhere: Path, tmp_path: Path) -> None:
    program = elsewhere.with_name("shoal")
    assert _run(program, "--version", folder=tmp_path).startswith("shoal ")
    _run(*_pip(elsewhere), "uninstall", "--yes", PROJECT["name"], folder=tmp_path)
    assert not program.exists()
    left = [one for one in elsewhere.parents[1].rglob("shoal*") if one.name != "__pycache__"]
    assert not [one for one in left if any(part.suffix == ".py" for part in one.rglob("*"))]


@pytest.mark.slow
def test_the_wheel_runs_without_being_installed(wheel: Path, tmp_path: Path) -> None:
    uvx = shutil.which("uvx", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if uvx is None:
        pytest.skip("uv is not installed")
    asked = ("--constraints", ROOT / "constraints.txt", "--python", sys.executable)
    said = _run(uvx, *asked, "--from", wheel, "shoal", "demo", "--out", "demo", folder=tmp_path)
    assert "An independent check confirms the certificate." in said
    assert (tmp_path / "demo" / "release" / "certificate.json").is_file()
