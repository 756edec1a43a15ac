"""The command line as a user meets it: help, and mistakes that are one sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import shoal
from tests.cli.program import SPEC, refused, shoal_

# --- Help, versions, imports ----------------------------------------------------------------


def test_help_lists_the_commands_and_loads_nothing_heavy() -> None:
    done = shoal_("--help")
    assert done.returncode == 0
    for name in ("anonymize", "audit", "verify", "plan", "demo", "init", "compare"):
        assert f" {name} " in done.stdout
    code = (
        "import sys\n"
        "sys.argv = ['shoal', '--help']\n"
        "from shoal.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'polars', 'numba', 'numpy', 'scipy', 'pyarrow', 'pandas', 'vl_convert'}\n"
        "print('HEAVY', sorted(heavy & set(sys.modules)))\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert found.stdout.splitlines()[-1] == "HEAVY []"


def test_every_command_explains_itself() -> None:
    for name in ("anonymize", "audit", "verify", "plan"):
        done = shoal_(name, "--help")
        assert done.returncode == 0
        assert "Exit code" in " ".join(done.stdout.split())


def test_the_version_is_shown() -> None:
    assert shoal_("--version").stdout == f"shoal {shoal.__version__}\n"


# --- Mistakes -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"--qi": "age,sexx"}, "column-missing"),
        ({"--sensitive": "diagnoses"}, "column-missing"),
        ({"--protect": "Plague"}, "value-missing"),
        ({"--qi": "age,diagnosis"}, "role-twice"),
        ({"-r": "1"}, "r-small"),
        ({"-r": "many"}, "r-number"),
        ({"-r": None}, "spec-missing"),
        ({"--band": "age=x"}, "band-width"),
        ({"--spec": "nowhere.toml"}, "spec-read"),
    ],
)
def test_a_mistake_is_one_sentence(
    home: Path, tmp_path: Path, changes: dict[str, Any], code: str
) -> None:
    options = dict(zip(SPEC[::2], SPEC[1::2], strict=True)) | changes
    given = [text for name, value in options.items() if value is not None for text in (name, value)]
    done = shoal_("anonymize", home / "table.csv", "--out", tmp_path / "out", *given)
    refused(done, code)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    "content", ["", "age,sex,region,diagnosis\n", "age,sex,region,diagnosis\n1,F,N,HIV\n"]
)
def test_a_table_without_people_is_one_sentence(tmp_path: Path, content: str) -> None:
    (tmp_path / "t.csv").write_text(content, encoding="utf-8")
    done = shoal_("plan", tmp_path / "t.csv", *SPEC)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_debug_shows_where_it_happened(home: Path) -> None:
    done = shoal_("--debug", "plan", home / "table.csv", *[*SPEC[:-1], "1"])
    assert "Traceback" in done.stderr
