"""Other tools for tables of people beside shoal: what each takes on the same tables, in one run.

Each has a virtual environment of its own under out/peers/, made with what the package index has on
the first run, and a program of its own in peer/. What cannot be had, fails or takes more than
LIMIT seconds of CPU is a line that says so.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.large import measured
from benchmarks.settings import Subject, adult_subject, hospital_subject
from benchmarks.stages import Say
from shoal.data.table.hierarchy import ANY, Hierarchy

HERE = Path(__file__).parent
HOMES = HERE.parent / "out" / "peers"
K, LIMIT, ROWS = 5, 120, 1_000_000
BAND = 10
"""Years that the hospital's hierarchy of ages puts together first."""
JUDGED = ["sh", "-c", '"$@"; test $? -ne 2', "sh"]
"""A release that is not robust is written, too."""
LIMITED = ["sh", "-c", f'ulimit -t {LIMIT}; exec "$@"', "sh"]


class Peer(NamedTuple):
    """Another tool."""

    name: str
    packages: tuple[str, ...]
    program: str
    promise: str


PEERS = (
    Peer(
        "anonypy, Mondrian",
        ("anonypy", "pandas<3"),
        "with_anonypy.py",
        f"{K} people share what is shown of their QIs; nothing of values",
    ),
    Peer(
        "anjana, k-anonymity",
        ("anjana",),
        "with_anjana.py",
        f"{K} people share their generalized QIs; nothing of values",
    ),
    Peer("pyCANON, k and l", ("pycanon",), "with_pycanon.py", "nothing: measures k and l"),
)
OURS = {
    "art": f"nobody is linked above 1/{K} by one view; counts, all views, the missing are checked",
    "mondrian": f"{K} people share what is shown of their QIs; judged as ART is",
}


def measure_peers(say: Say) -> list[dict[str, Any]]:
    """One line per table and tool."""
    found: list[dict[str, Any]] = []
    adult = adult_subject()
    for subject in [*([adult] if adult else []), hospital_subject(ROWS)]:
        say(f" {subject.name}, {subject.frame.height:,} rows")
        with tempfile.TemporaryDirectory() as scratch:
            home = Path(scratch)
            for name, promise, command in _commands(subject, home):
                told = {"failed": command} if isinstance(command, str) else _tried(command, home)
                line = {"table": subject.name, "rows": subject.frame.height, "tool": name}
                found.append({**line, "promise": promise, **told})
                say(f"  {name:<28}{told}")
    return found


def _commands(subject: Subject, home: Path) -> list[tuple[str, str, list[str] | str]]:
    """What is run on a table, or why it cannot be."""
    spec = subject.spec.with_(r=K)
    table, asked, wanted = home / "table.csv", home / "asked.json", home / "spec.toml"
    subject.frame.select(*spec.qi, *spec.sensitive_columns).write_csv(table)
    wanted.write_text(spec.with_(identifiers=()).to_toml(), "utf-8")
    numbers = [name for name in spec.qi if subject.frame[name].dtype.is_numeric()]
    levels = {name: _levels(subject, name) for name in spec.qi}
    about = {"qi": spec.qi, "numbers": numbers, "sensitive": spec.sensitive_columns[0], "k": K}
    asked.write_text(json.dumps({**about, "levels": levels}), "utf-8")
    lines: list[tuple[str, str, list[str] | str]] = []
    for method, promise in OURS.items():
        command = [
            *JUDGED,
            sys.executable,
            "-m",
            "shoal",
            "anonymize",
            str(table),
            "--spec",
            str(wanted),
        ]
        command += ["--method", method, "--seed", "0", "--out", str(home / method)]
        lines.append((f"shoal, {method}", promise, [*command, "--write-anyway", "--alone"]))
    for peer in PEERS:
        python = _python(peer)
        program = [str(HERE / "peer" / peer.program), str(table), str(asked), str(home / "out.csv")]
        command_or_not = python if isinstance(python, str) else [str(python), *program]
        lines.append((peer.name, peer.promise, command_or_not))
    return lines


def _levels(subject: Subject, name: str) -> list[list[str]]:
    """A hierarchy as columns: the values, what they are made to, and so on to the top."""
    values = subject.frame[name].unique().sort()
    if name in subject.hierarchies:
        tree = subject.hierarchies[name].bind(values)
    elif values.dtype.is_numeric():
        tree = Hierarchy.intervals(values, (BAND,), name=name)
    else:
        return [[*values], [ANY] * len(values)]
    rows = [[*path, tree.top] for path in tree.paths]
    return [list(column) for column in zip(*rows, strict=True)]


def _python(peer: Peer) -> Path | str:
    """The Python of a tool's environment, which is made if there is none; or why there is none."""
    home = HOMES / Path(peer.program).stem
    python = home / "bin" / "python"
    try:
        if not (home / "made").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
            install = [python, "-m", "pip", "install", "--quiet", *peer.packages]
            subprocess.run(install, check=True, capture_output=True, text=True)
            (home / "made").touch()
    except subprocess.CalledProcessError as error:
        return f"could not be installed here: {_last(error.stderr)}"
    return python


def _tried(command: Sequence[str], home: Path) -> dict[str, Any]:
    """What a command takes, or why it failed."""
    try:
        return measured([*LIMITED, *command], home)
    except subprocess.CalledProcessError as error:
        return {"failed": _last(error.stderr) or f"no end within {LIMIT} s of CPU"}


def _last(told: str | None) -> str:
    return (told or "").strip().rpartition("\n")[2]
