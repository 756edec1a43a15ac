"""Whole commands on files of any size: what they take beside plain Polars, in one run.

    python -m benchmarks.large make ROWS FILE.parquet
    python -m benchmarks.large measure ROWS [ROWS ...]

`make` writes a made-up hospital some rows at a time. `measure` makes one of each size, reads,
groups and writes it with plain Polars, and then runs `shoal anonymize` and `shoal verify --table`
on it with either engine, each in a process of its own; figures are CPU seconds of all threads and
the most memory held. Of sizes that plain Polars cannot hold, only anonymization is measured. The
sizes of `make bench` (section "large") are SIZES.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.settings import hospital_spec

Say = Callable[[str], None]
SIZES = (5_000_000, 20_000_000, 50_000_000, 100_000_000)
LARGEST_PLAIN = 20_000_000
ALONE = "anonymize, polars"
STEP = 1_000_000
MEMORY = "2GB"
PLAIN = """
import sys, polars as pl
source, out, *columns = sys.argv[1:]
frame = pl.read_parquet(source, columns=columns)
frame.group_by(columns).len()
frame.write_parquet(out)
"""


def make(rows: int, path: Path) -> None:
    """A hospital of that many patients as one Parquet file."""
    from pyarrow.parquet import ParquetWriter

    from shoal.data import datasets

    writer: Any = None
    for number, first in enumerate(range(0, rows, STEP)):
        part = datasets.hospital(min(STEP, rows - first), seed=number).to_arrow()
        writer = writer or ParquetWriter(path, part.schema, compression="zstd")
        writer.write_table(part.cast(writer.schema))
    writer.close()


def measure_large(say: Say, sizes: Sequence[int] = SIZES) -> list[dict[str, Any]]:
    """One line per command and size."""
    lines: list[dict[str, Any]] = []
    spec = hospital_spec()
    for rows in sizes:
        say(f" hospital, {rows:,} rows")
        with tempfile.TemporaryDirectory() as scratch:
            home = Path(scratch)
            make(rows, home / "table.parquet")
            (home / "spec.toml").write_text(spec.to_toml(), encoding="utf-8")
            for name, command in _commands(home, [*spec.qi, *spec.sensitive_columns]).items():
                if rows > LARGEST_PLAIN and name != ALONE:
                    continue
                line = {"rows": rows, "what": name, **measured(command, home)}
                if name == ALONE:
                    line["released"] = _size(home / "polars")
                lines.append(line)
                say(
                    f"  {name:<28}{line['cpu']:8.1f} s of CPU {line['seconds']:8.1f} s "
                    f"{line['peak'] / 1e6:8,.0f} MB"
                )
    return lines


def _commands(home: Path, columns: Sequence[str]) -> dict[str, list[str]]:
    table, shoal = str(home / "table.parquet"), [sys.executable, "-m", "shoal"]
    plain = [sys.executable, "-c", PLAIN, table, str(home / "plain.parquet"), *columns]
    commands = {"plain Polars": plain}
    for engine in ("polars", "duckdb"):
        made = [*shoal, "anonymize", table, "--spec", str(home / "spec.toml"), "--seed", "0"]
        made += ["--out", str(home / engine), "--format", "parquet", "--engine", engine]
        made += ["--memory", MEMORY, "--private"]
        commands[f"anonymize, {engine}"] = [*made, "cells"]
        if engine == "polars":
            commands["anonymize, rows recorded"] = [*made, str(home / "private"), "--force"]
    check = [*shoal, "verify", str(home / "polars"), "--memory", MEMORY]
    return {**commands, "verify": check, "verify --table": [*check, "--table", table]}


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def measured(command: list[str], home: Path) -> dict[str, Any]:
    """A command's CPU and wall seconds, and its peak."""
    code = (
        "import json, resource, subprocess, sys, time\n"
        "started = time.perf_counter()\n"
        "done = subprocess.run(sys.argv[1:], capture_output=True, text=True)\n"
        "seconds = time.perf_counter() - started\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "sys.exit(done.stderr) if done.returncode else print(json.dumps({\n"
        "    'seconds': round(seconds, 2), 'cpu': round(used.ru_utime + used.ru_stime, 2),\n"
        "    'peak': used.ru_maxrss}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(home)},
    )
    measured: dict[str, Any] = json.loads(done.stdout)
    return {**measured, "peak": measured["peak"] * (1 if sys.platform == "darwin" else 1024)}


def main(arguments: Sequence[str]) -> None:
    way, *rest = arguments
    if way == "make":
        make(int(rest[0]), Path(rest[1]))
    else:
        measure_large(lambda text: print(text, flush=True), [int(text) for text in rest])


if __name__ == "__main__":
    main(sys.argv[1:])
