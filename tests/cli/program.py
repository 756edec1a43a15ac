"""The program as a user starts it, and how it refuses."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import warnings
from contextlib import chdir
from pathlib import Path
from unittest import mock

from shoal.cli import main
from shoal.data.datasets import HOSPITAL_EVENT
from shoal.data.spec import InputWarning

Done = subprocess.CompletedProcess[str]

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


def shoal_process(*arguments: object, cwd: Path | None = None) -> Done:
    """Runs the program in a process of its own, which takes two seconds to load its libraries."""
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, cwd=cwd, timeout=120, check=False
    )


def shoal_(*arguments: object, cwd: Path | None = None) -> Done:
    """Runs the program here, from its `main` to its exit code, as if in a process of its own.

    A warning that is not about the input is a failure, as everywhere in the tests.
    """
    given = ["shoal", *map(str, arguments)]
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with (
        chdir(cwd or Path.cwd()),
        mock.patch.dict(os.environ),
        mock.patch.multiple(sys, argv=given, stdout=out, stderr=err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default", InputWarning)
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    assert isinstance(code, int), code
    return Done(given, code, out.getvalue(), err.getvalue())


def complaints(done: Done) -> list[str]:
    """The lines on stderr, but for the one that says why a first run takes longer."""
    return [line for line in done.stderr.splitlines() if line != "compiling, once"]


def refused(done: Done, code: str) -> None:
    """Exit code 2, and one line on stderr that ends with the error's short name."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    lines = complaints(done)
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("shoal: ")
    assert lines[0].endswith(f"[{code}]")
