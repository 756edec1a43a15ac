"""Damaged files of every kind: one sentence or an answer, in a process that lives to say so."""

from __future__ import annotations

import subprocess
import sys


def fuzz(*more: str) -> str:
    command = [sys.executable, "-m", "fuzzing", "readers", *more]
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", check=False, timeout=900
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    return done.stdout


def test_some_hundred_damaged_files() -> None:
    assert "damaged files" in fuzz("--seed", "1", "--count", "20", "--seconds", "120")
