"""The command line as a user meets it: help, and mistakes that are one sentence."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import shoal
import shoal.cli
from shoal.cli.options import read_hierarchies
from shoal.errors import InputError
from tests.cli.program import SPEC, complaints, refused, shoal_, shoal_process

# --- Help, versions, imports ----------------------------------------------------------------


def test_help_lists_the_commands_and_loads_nothing_heavy() -> None:
    done = shoal_process("--help")
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


def test_help_takes_little_more_than_what_it_is_made_with() -> None:
    """In seconds of CPU, the least of some runs: 0.2 where typer takes 0.06."""
    code = (
        "import sys, time, runpy\n"
        "begun = time.process_time()\n"
        "sys.argv = ['shoal', '--help']\n"
        "import typer.main, typer.core\n"
        "theirs = time.process_time()\n"
        "try:\n    runpy.run_module('shoal')\nexcept SystemExit:\n    pass\n"
        "print((time.process_time() - theirs) / (theirs - begun))\n"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(5)
    ]
    assert min(float(run.stdout.split()[-1]) for run in runs) < 6


@pytest.mark.parametrize("command", ["anonymize", "plan"])
def test_a_release_and_a_plan_take_neither_pandas_nor_optimizers(
    command: str, tmp_path: Path
) -> None:
    """Each takes a good part of a second to import."""
    code = (
        "import sys\n"
        "from shoal.cli import main\n"
        "try:\n    main()\nexcept SystemExit as done:\n    print('CODE', done.code)\n"
        "heavy = {'pandas', 'scipy.optimize', 'scipy.sparse.csgraph', 'scipy.stats', 'sklearn'}\n"
        "print('HEAVY', sorted(heavy & set(sys.modules)))\n"
    )
    table = tmp_path / "table.csv"
    shoal.datasets.hospital(2_000, seed=1).write_csv(table)
    more = {"anonymize": ["--out", str(tmp_path / "out"), "--write-anyway"], "plan": []}
    found = subprocess.run(
        [sys.executable, "-c", code, command, str(table), *SPEC, *more[command]],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    needed = {"anonymize": [], "plan": ["scipy.sparse.csgraph"]}[command]
    assert found.stdout.splitlines()[-2:] == ["CODE 0", f"HEAVY {needed}"]


def test_every_command_explains_itself() -> None:
    for name in ("anonymize", "audit", "verify", "plan"):
        done = shoal_(name, "--help")
        assert done.returncode == 0
        assert "Exit code" in " ".join(done.stdout.split())


def test_the_version_is_shown() -> None:
    assert shoal_process("--version").stdout == f"shoal {shoal.__version__}\n"


# --- Mistakes -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"--qi": "age,sexx"}, "column-missing"),
        ({"--sensitive": "diagnoses"}, "column-missing"),
        ({"--protect": "Plague"}, "value-missing"),
        ({"--qi": "age,diagnosis"}, "role-twice"),
        ({"-r": "1"}, "r"),
        ({"-r": "many"}, "r"),
        ({"-r": None}, "spec-missing"),
        ({"--known-band": "age=x"}, "band"),
        ({"--title": "age"}, "recode-form"),
        ({"--recode": "age=10"}, "recode-form"),
        ({"--spec": "nowhere.toml"}, "spec-file"),
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
    assert len(complaints(done)) == 1


def test_an_unknown_key_of_a_spec_file_is_named_before_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text('qi = ["age"]\nsensitiv = "diagnosis"\nr = 3\n', "utf-8")
    done = shoal_("plan", "table.csv", "--spec", tmp_path / "spec.toml")
    refused(done, "spec-key")
    assert 'an unknown key "sensitiv" (did you mean "sensitive"?)' in done.stderr


def test_a_hierarchy_for_a_column_that_is_no_qi_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='names "agee", which is no QI') as raised:
        read_hierarchies(["agee=x.csv"], qi=("age", "sex"))
    assert raised.value.code == "hierarchy-column"
    (tmp_path / "sex.csv").write_text("F;*\nM;*\n", "utf-8")
    found = read_hierarchies([f"sex={tmp_path / 'sex.csv'}"], qi=("age", "sex"))
    assert list(found) == ["sex"]


# --- Warnings and Ctrl-C --------------------------------------------------------------------


def test_a_value_like_a_protected_one_is_warned_of_in_one_line(tmp_path: Path) -> None:
    lines = [f"{20 + i % 5},{('HIV', 'HIV ', 'flu', 'flu', 'cold')[i % 5]}" for i in range(100)]
    (tmp_path / "t.csv").write_text("\n".join(["age,illness", *lines]), "utf-8")
    spec = ["--qi", "age", "--sensitive", "illness", "--protect", "HIV", "-r", "2"]
    for command in (["plan"], ["audit", "--groups", "age"]):
        done = shoal_(command[0], tmp_path / "t.csv", *command[1:], *spec)
        assert done.returncode == {"plan": 2, "audit": 1}[command[0]]
        told = [line for line in done.stderr.splitlines() if line.startswith("shoal: warning: ")]
        assert len(told) == 1, done.stderr
        assert '"HIV" and "HIV "' in told[0]


def stopped() -> None:
    inner = SystemError("returned a result with an exception set")
    inner.__cause__ = KeyboardInterrupt()
    raise SystemError("returned a result with an exception set") from inner


def broken() -> None:
    raise SystemError("something else")


def test_ctrl_c_in_compiled_code_is_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # put back afterwards
    monkeypatch.setattr(shoal.cli, "app", stopped)
    with pytest.raises(SystemExit) as ended:
        shoal.cli.main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "shoal: stopped; nothing was written.\n"
    monkeypatch.setattr(shoal.cli, "app", broken)
    with pytest.raises(SystemExit) as ended:
        shoal.cli.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith("SystemError: something else\n")


def test_debug_shows_where_it_happened(home: Path) -> None:
    done = shoal_process("--debug", "plan", home / "table.csv", *[*SPEC[:-1], "1"])
    assert done.returncode == 2
    assert "Traceback" in done.stderr
