"""Killed, stopped, or nowhere to write: there is never half a release."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import shoal
from tests.cli.program import RELEASE_FILES, SPEC, command, refused, shoal_


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
    (tmp_path / "first").mkdir()
    assert start(home, tmp_path / "first" / "timing").wait(120) == 0
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
    assert left == {"first", "out", "out-private"}


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
    "searching": "shoal.methods.art.attempts.add_decoys",
    "auditing": "shoal.api.anonymize.judge",
    "gathering facts": "shoal.release.facts.loss.query_errors",
    "writing": "shoal.release.folder.readme_text",
    "private": "shoal.release.folder.save_private",
    "swapping": "shoal.data.storage.moves.swap",
}


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("name", ["SIGINT", "SIGKILL"])
def test_stopped_at_any_moment_nothing_is_published(
    home: Path, tmp_path: Path, moment: str, name: str
) -> None:
    """The process sends itself a signal when it comes to one step of its work."""
    module, _, function = MOMENTS[moment].rpartition(".")
    out = tmp_path / "out"
    asked = (*SPEC, "--json")  # how far counts are off is found for those who ask
    arguments = command("anonymize", home / "table.csv", "--out", out, *asked)[3:]
    code = (
        "import importlib, os, signal, sys, time\n"
        "def stop(*_, **__):\n"
        f"    os.kill(os.getpid(), signal.{name})\n"
        "    time.sleep(60)\n"
        f"module = importlib.import_module('{module}')\n"
        f"assert hasattr(module, '{function}')\n"
        f"module.{function} = stop\n"
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
    refused(shoal_("anonymize", home / "table.csv", "--out", out, *SPEC), "output-place")
