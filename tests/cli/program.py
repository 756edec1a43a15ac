"""The program as a user starts it, and how it refuses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from shoal.datasets import HOSPITAL_EVENT

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
