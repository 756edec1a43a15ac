"""The code blocks of a page, and how to run them as a reader would."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[2] / "docs"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    language: str
    text: str


def blocks(page: str) -> list[Block]:
    """The fenced blocks of docs/<page>, in order."""
    return [Block(*found) for found in _BLOCK.findall((DOCS / page).read_text("utf-8"))]


def run_page(page: str, folder: Path, *, python: str = sys.executable) -> int:
    """Runs a page's bash and python blocks in one folder, in order; how many there were.

    Each line of a text block must occur in what the block before it printed. Python of another
    installation runs in a process of its own, the page's earlier Python before each block.
    """
    programs = folder / ".programs"
    programs.mkdir()
    shoal = programs / "shoal"
    shoal.write_text(f'#!/bin/sh\nexec "{python}" -m shoal "$@"\n')
    shoal.chmod(0o755)
    environment = os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    printed, ran = "", 0
    names: dict[str, Any] = {}
    code = ""
    for block in blocks(page):
        if block.language == "bash":
            printed = run_bash(block.text, folder, environment)
        elif block.language == "python":
            code += block.text
            if python == sys.executable:
                printed = run_python(block.text, folder, page, names)
            else:
                printed = run_bash(shlex.join([python, "-c", code]), folder, environment)
        elif block.language == "text":
            missing = [line for line in block.text.splitlines() if line not in printed]
            assert not missing, f"{page} shows {missing}, but it printed:\n{printed}"
        ran += block.language in ("bash", "python")
    return ran


def run_python(code: str, folder: Path, page: str, names: dict[str, Any]) -> str:
    """What the page's own code prints; what it names is kept in `names`."""
    out = io.StringIO()
    with chdir(folder), redirect_stdout(out):
        exec(compile(code, page, "exec"), names)
    return out.getvalue()


def run_bash(script: str, folder: Path, environment: dict[str, str]) -> str:
    """What a script prints; it must end well."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
    return done.stdout
