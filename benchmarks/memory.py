"""One run from file to release in this process; prints its memory as JSON.

    python -m benchmarks.memory command|python TABLE.parquet OUT

`command` runs `shoal anonymize`; `python` reads the table, keeps it, and calls `shoal.anonymize`.
`base` is what Python, the libraries and the loaded kernels hold before the table is read; `peak`
the most that is held from then on; `table` what the table takes in Polars.
"""

from __future__ import annotations

import contextlib
import io
import json
import resource
import sys
import tempfile
from pathlib import Path

import polars as pl

from benchmarks.settings import hospital_subject
from shoal.api.anonymize import anonymize
from shoal.data.sources import read_table
from shoal.data.spec import Spec

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
SMALL_ROWS, SMALL_SUPPORT = 3_000, 20


def main(way: str, source: str, out: str) -> None:
    """Loads libraries and kernels with a small table first, then runs on the table asked for."""
    run = {"command": _command, "python": _python}[way]
    small = hospital_subject(SMALL_ROWS)
    with tempfile.TemporaryDirectory() as scratch:
        table = Path(scratch, "small.parquet")
        small.frame.write_parquet(table)
        run(table, small.spec.with_(min_support=SMALL_SUPPORT), Path(scratch, "out"))
    base = start_counting()
    run(Path(source), small.spec, Path(out))
    most = peak()
    print(json.dumps({"base": base, "peak": most, "table": held(read_table(source))}))


def _command(table: Path, spec: Spec, out: Path) -> None:
    from shoal.cli import app

    file = out.with_suffix(".toml")
    file.write_text(spec.to_toml())
    command = ["anonymize", str(table), "--spec", str(file), "--out", str(out), "--write-anyway"]
    with contextlib.redirect_stdout(io.StringIO()):
        app([*command, "--format", "parquet", "--max-suppression", "1"], standalone_mode=False)


def _python(table: Path, spec: Spec, out: Path) -> None:
    frame = read_table(table)
    release = anonymize(frame, spec, max_suppression=1)
    release.save(out, format="parquet", private=out.with_name(f"{out.name}-private"))


def held(frame: pl.DataFrame) -> int:
    """The bytes of all buffers of a frame. (`estimated_size` counts a text's letters, but not the
    sixteen bytes with which Polars refers to each.)"""
    columns = frame.to_arrow(compat_level=pl.CompatLevel.newest()).columns
    chunks = (chunk for column in columns for chunk in column.chunks)
    return sum(buffer.size for chunk in chunks for buffer in chunk.buffers() if buffer)


def start_counting() -> int:
    """The memory held now; where the system allows it, peaks are counted afresh from here."""
    if not _CLEAR.exists():
        return peak()
    _CLEAR.write_text("5")
    return _read("VmRSS")


def peak() -> int:
    """The most memory held so far."""
    if _STATUS.exists():
        return _read("VmHWM")
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024


def _read(name: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"{_STATUS} does not say {name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
