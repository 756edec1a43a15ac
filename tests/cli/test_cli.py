"""The command line as a user runs it: exit codes, JSON, one-sentence errors, no half release."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.datasets import HOSPITAL_EVENT, hospital

EVENT = "|".join(HOSPITAL_EVENT)
SPEC = ["--qi", "age,sex,region", "--sensitive", "diagnosis", "--protect", EVENT, "-r", "3"]
RELEASE_FILES = {
    "qi.csv",
    "sensitive.csv",
    "members.csv",
    "certificate.json",
    "datapackage.json",
    "README.txt",
}


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "shoal", *map(str, arguments)]


def shoal_(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, cwd=cwd, timeout=120, check=False
    )


def refused(done: subprocess.CompletedProcess[str], code: str) -> None:
    """Exit code 2, and one line on stderr that ends with the error's short name."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    lines = [line for line in done.stderr.splitlines() if line != "compiling, once"]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("shoal: ")
    assert lines[0].endswith(f"[{code}]")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table, the same one with groups, and a release of it."""
    folder = tmp_path_factory.mktemp("cli")
    frame = hospital(2000, 2)
    frame.write_csv(folder / "table.csv")
    made = shoal.anonymize(
        frame,
        shoal.Spec(
            qi=("age", "sex", "region"),
            sensitive="diagnosis",
            protect=(shoal.Event(HOSPITAL_EVENT),),
            r=3,
        ),
    )
    assert made.row_groups is not None
    labels = [f"g{gid}" if gid >= 0 else None for gid in made.row_groups]
    frame.with_columns(safe=pl.Series(labels), same=pl.lit("one")).write_csv(folder / "grouped.csv")
    made.save(folder / "release")
    return folder


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
        "heavy = {'polars', 'numba', 'numpy', 'scipy', 'pyarrow', 'pandas', 'altair'}\n"
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


# --- audit ----------------------------------------------------------------------------------


def test_audit_of_a_safe_grouping_ends_with_0(home: Path) -> None:
    done = shoal_("audit", home / "grouped.csv", "--groups", "safe", *SPEC)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ROBUST: r = 3")
    assert "joint adversary" in done.stdout


def test_audit_of_an_unsafe_grouping_ends_with_1_and_names_the_worst(
    home: Path, tmp_path: Path
) -> None:
    rows = tmp_path / "rows.parquet"
    spec = [*SPEC[:-1], "80"]
    done = shoal_("audit", home / "grouped.csv", "--groups", "same", *spec, "--rows", rows)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("NOT ROBUST: r = 80")
    assert "Worst case: row" in done.stdout
    assert "in group one" in done.stdout
    people = done.stdout.split("The ten most exposed people:")[1].strip().splitlines()
    assert len(people) == 11
    assert pl.read_parquet(rows).height == 2000


@pytest.mark.parametrize("adversary", ["joint", "binary"])
def test_audit_speaks_to_machines(home: Path, adversary: str) -> None:
    done = shoal_(
        "audit", home / "grouped.csv", "--groups", "safe", *SPEC, "--json", "--adversary", adversary
    )
    found = json.loads(done.stdout)
    promised = "robust r adversary worst_posterior problematic problematic_share average_delta"
    assert {*promised.split(), "guess_rate", "exact_share"} <= set(found)
    assert (found["robust"], found["r"], found["adversary"]) == (True, 3, adversary)
    assert done.stderr == ""
    assert done.returncode == 0


def test_audit_of_a_released_file_by_order_and_by_key(home: Path, tmp_path: Path) -> None:
    frame = pl.read_csv(home / "table.csv")
    decade = (pl.col("age") // 10 * 10).cast(pl.String) + "s"
    released = frame.select("patient", decade, "sex", region=pl.lit("*"))
    released.write_csv(tmp_path / "released.csv")
    by_order = shoal_(
        "audit", home / "table.csv", "--released", tmp_path / "released.csv", *SPEC, "--json"
    )
    shuffled = released.sample(fraction=1, shuffle=True, seed=1)
    shuffled.write_csv(tmp_path / "shuffled.csv")
    options = ["--released", tmp_path / "shuffled.csv", "--key", "patient", *SPEC, "--json"]
    by_key = shoal_("audit", home / "table.csv", *options)
    one, other = json.loads(by_order.stdout), json.loads(by_key.stdout)
    assert one["groups"] == other["groups"] == released.select("age", "sex").unique().height
    assert one["worst_posterior"] == pytest.approx(other["worst_posterior"])
    assert by_order.returncode == by_key.returncode == (0 if one["robust"] else 1)


def test_an_audit_that_cannot_judge_ends_with_2(home: Path) -> None:
    refused(shoal_("audit", home / "table.csv", *SPEC), "audit-what")
    both = ["--groups", "a", "--released", "b"]
    refused(shoal_("audit", home / "table.csv", *both, *SPEC), "audit-what")
    alone = ["--groups", "same", "--key", "patient"]
    refused(shoal_("audit", home / "grouped.csv", *alone, *SPEC), "key-alone")
    refused(shoal_("audit", home / "grouped.csv", "--groups", "saef", *SPEC), "groups-column")


# --- anonymize, verify, plan ----------------------------------------------------------------


def test_anonymize_writes_a_release_that_verify_confirms(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = shoal_("anonymize", home / "table.csv", "--out", out, *SPEC, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {"rows", "groups", "suppressed", "pooled", "r", "worst_posterior"} <= set(found)
    assert found["robust"] is True
    assert {"read", "knowledge", "search", "audit"} <= set(found["seconds"])
    assert {file.name for file in out.iterdir()} == RELEASE_FILES
    assert {entry.name for entry in tmp_path.iterdir()} == {"out", "out-private"}

    alone = shoal_("verify", out)
    assert (alone.returncode, alone.stdout.splitlines()[-2]) == (
        0,
        "CONFIRMED (from the release alone).",
    )
    whole = shoal_("verify", out, "--table", home / "table.csv", "--json")
    assert whole.returncode == 0
    assert json.loads(whole.stdout)["recomputed"] is True

    table = out / "qi.csv"
    table.write_text(table.read_text(encoding="utf-8").replace("1", "2", 1), encoding="utf-8")
    tampered = shoal_("verify", out)
    assert tampered.returncode == 1
    assert "WRONG  file qi.csv" in tampered.stdout
    assert "REFUTED" in tampered.stdout
    refused(shoal_("verify", tmp_path), "release-not")


def test_a_spec_file_does_what_options_do(home: Path, tmp_path: Path) -> None:
    spec = tmp_path / "release.toml"
    spec.write_text(
        'qi = ["age", "sex", "region"]\nsensitive = "diagnosis"\nr = 3\n'
        f"protect = [{list(HOSPITAL_EVENT)}]\n",
        encoding="utf-8",
    )
    one = shoal_("anonymize", home / "table.csv", "--out", tmp_path / "a", "--spec", spec)
    assert one.returncode == 0, one.stderr
    assert one.stdout.startswith("ROBUST: r = 3")
    two = shoal_("anonymize", home / "table.csv", "--out", tmp_path / "b", *SPEC)
    assert two.returncode == 0, two.stderr
    for name in RELEASE_FILES:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_an_existing_release_is_replaced_only_by_force(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = ["anonymize", home / "table.csv", "--out", out, *SPEC]
    assert shoal_(*run).returncode == 0
    before = (out / "certificate.json").stat().st_mtime_ns
    refused(shoal_(*run), "output-exists")
    assert (out / "certificate.json").stat().st_mtime_ns == before
    assert shoal_(*run, "--force").returncode == 0
    assert (out / "certificate.json").stat().st_mtime_ns > before


def test_past_the_suppression_limit_nothing_is_written(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    spec = [*SPEC[:-1], "500"]
    refused(
        shoal_("anonymize", home / "table.csv", "--out", out, *spec),
        "suppression-limit",
    )
    assert not any(tmp_path.iterdir())


def test_the_output_may_not_hold_the_input(home: Path, tmp_path: Path) -> None:
    table = tmp_path / "data" / "table.csv"
    table.parent.mkdir()
    table.write_bytes((home / "table.csv").read_bytes())
    done = shoal_("anonymize", table, "--out", tmp_path / "data", *SPEC, "--force")
    refused(done, "output-input")
    assert table.is_file()


def test_plan_says_what_is_possible(home: Path) -> None:
    fine = shoal_("plan", home / "table.csv", *SPEC, "--json")
    assert fine.returncode == 0, fine.stderr
    assert json.loads(fine.stdout)["feasible"] is True
    done = shoal_("plan", home / "table.csv", *[*SPEC[:-1], "900"])
    assert done.returncode == 1
    assert "tightest view" in done.stdout
    assert "What would help" in done.stdout


def test_demo_says_in_ten_lines_what_happened(tmp_path: Path) -> None:
    done = shoal_("demo", "--rows", 3000, "--out", tmp_path / "demo")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) <= 11
    assert "confirms the certificate" in done.stdout
    kept = tmp_path / "demo"
    again = shoal_("verify", kept / "release", "--table", kept / "hospital.csv")
    assert again.returncode == 0


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


# --- Faults ---------------------------------------------------------------------------------


def start(home: Path, out: Path, *more: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command("anonymize", home / "table.csv", "--out", out, *SPEC, *more),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def whole_or_none(folder: Path) -> bool:
    """Whether there is a release; if there is one, it must be whole."""
    if not folder.exists():
        return False
    assert {file.name for file in folder.iterdir()} == RELEASE_FILES
    assert shoal.verify(folder).confirmed
    return True


def test_a_killed_run_leaves_no_half_release(home: Path, tmp_path: Path) -> None:
    """Killed at moments spread over its life; then once more, in peace."""
    out = tmp_path / "out"
    began = time.monotonic()
    assert start(home, tmp_path / "timing").wait(120) == 0
    life = time.monotonic() - began
    for part in (0.5, 0.85, 0.92, 0.96, 1.0):
        process = start(home, out, "--force")
        time.sleep(life * part)
        process.kill()
        process.wait(60)
        whole_or_none(out)
    assert start(home, out, "--force").wait(120) == 0
    assert whole_or_none(out)
    left = {entry.name for entry in tmp_path.iterdir()}
    assert left == {"timing", "timing-private", "out", "out-private"}


def test_a_kill_while_replacing_leaves_the_old_release_or_the_new(
    home: Path, tmp_path: Path
) -> None:
    """Killed soon after the new folder appears beside the old one."""
    out = tmp_path / "out"
    assert start(home, out).wait(120) == 0
    for delay in (0.0, 0.005, 0.02):
        process = start(home, out, "--force")
        limit = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < limit:
            if any(entry.name.startswith(".out.") for entry in tmp_path.iterdir()):
                time.sleep(delay)
                process.kill()
                break
            time.sleep(0.0005)
        process.wait(60)
        assert whole_or_none(out)


MOMENTS = {
    "searching": "shoal.anonymizers.art.mix_events",
    "auditing": "shoal.pipeline.judge",
    "writing": "shoal.release_files.readme_text",
    "private": "shoal.release_files._save_private",
    "swapping": "shoal.sources.replace._swap",
}


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("name", ["SIGINT", "SIGKILL"])
def test_stopped_at_any_moment_nothing_is_published(
    home: Path, tmp_path: Path, moment: str, name: str
) -> None:
    """The process sends itself a signal when it comes to one step of its work."""
    module, _, function = MOMENTS[moment].rpartition(".")
    out = tmp_path / "out"
    arguments = command("anonymize", home / "table.csv", "--out", out, *SPEC)[3:]
    code = (
        "import importlib, os, signal, sys, time\n"
        "def stop(*_, **__):\n"
        f"    os.kill(os.getpid(), signal.{name})\n"
        "    time.sleep(60)\n"
        f"setattr(importlib.import_module('{module}'), '{function}', stop)\n"
        "from shoal.cli import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert not out.exists()
    if name == "SIGINT":
        assert done.returncode == 130
        assert "Traceback" not in done.stderr
        assert not any(tmp_path.iterdir())
    else:
        assert done.returncode == -signal.SIGKILL
        if moment not in ("private", "swapping"):
            return
        assert start(home, out, "--force").wait(120) == 0
        assert whole_or_none(out)
        assert {entry.name for entry in tmp_path.iterdir()} == {"out", "out-private"}


def test_a_read_only_folder_is_one_sentence(home: Path, tmp_path: Path) -> None:
    folder = tmp_path
    if os.geteuid() == 0:  # root may write anywhere but here
        folder = Path("/proc")
        if not folder.is_dir():
            pytest.skip("root may write anywhere")
    tmp_path.chmod(0o500)
    try:
        done = shoal_("anonymize", home / "table.csv", "--out", folder / "out", *SPEC)
    finally:
        tmp_path.chmod(0o700)
    refused(done, "output-failed")
    assert not (folder / "out").exists()


def test_a_folder_that_does_not_exist_is_one_sentence(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "nowhere" / "out"
    refused(shoal_("anonymize", home / "table.csv", "--out", out, *SPEC), "output-parent")
