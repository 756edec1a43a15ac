"""shoal against plain Polars doing the obvious part of the same job, within one run."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.clock import best, timed
from benchmarks.settings import Subject, hospital_subject
from benchmarks.stages import Say
from shoal.api.anonymize import anonymize
from shoal.data.sources import read_table
from shoal.data.table import Table
from shoal.knowledge import Knowledge

END_TO_END_AIM, GROWTH_AIM, KNOWLEDGE_AIM, MEMORY_AIM = 20.0, 12.0, 1.0, 3.0
MEMORY_OF = {"command": "`shoal anonymize`", "python": "`anonymize(frame)`"}


def measure_ratios(sizes: Sequence[int], say: Say) -> list[dict[str, Any]]:
    """Ratios with their aims; the last size is the one that the aims speak of."""
    lines: list[dict[str, Any]] = []

    def note(name: str, rows: int, shoal: float, other: float, aim: float | None) -> None:
        ratio = shoal / other
        lines.append(
            {
                "name": name,
                "rows": rows,
                "shoal": round(shoal, 4),
                "other": round(other, 4),
                "ratio": round(ratio, 2),
            }
            | ({} if aim is None else {"aim": aim, "met": ratio <= aim})
        )
        verdict = "" if aim is None else f"  (aim {aim:g}: {'met' if ratio <= aim else 'MISSED'})"
        say(f"  {name} at {rows:,} rows: {shoal:.3f} / {other:.3f} = {ratio:.2f}{verdict}")

    whole: dict[int, float] = {}
    aim: float | None
    for rows in sizes:
        subject = hospital_subject(rows)
        final = rows == sizes[-1]
        table = Table.from_frame(subject.frame, subject.spec)
        _, own = best(lambda: Knowledge.of(table))  # noqa: B023
        _, three = best(lambda: [_grouped(subject) for _ in range(3)])  # noqa: B023
        note("knowledge / 3 group_bys", rows, own, three, KNOWLEDGE_AIM if final else None)
        for suffix in ("parquet", "csv"):
            with tempfile.TemporaryDirectory() as scratch:
                ours, theirs = _end_to_end(subject, Path(scratch), suffix)
            aim = END_TO_END_AIM if final else None
            note(f"end to end / Polars ({suffix})", rows, ours, theirs, aim)
            if suffix == "parquet":
                whole[rows] = ours
        for way, shown in MEMORY_OF.items():
            used = {key: value / 1e6 for key, value in memory(way, rows).items()}
            aim = MEMORY_AIM if final else None
            working = used["peak"] - used["base"]
            note(f"memory of {shown} / table (MB)", rows, working, used["table"], aim)
        note("the same with libraries / table (MB)", rows, used["peak"], used["table"], None)
    if len(sizes) > 1:
        first, last = sizes[0], sizes[-1]
        aim = GROWTH_AIM if last == 10 * first else None
        note(f"end to end, {first:,} to {last:,}", last, whole[last], whole[first], aim)
    return lines


def _grouped(subject: Subject) -> pl.DataFrame:
    return subject.frame.group_by(list(subject.spec.qi)).agg(pl.len())


def _end_to_end(subject: Subject, folder: Path, suffix: str) -> tuple[float, float]:
    source, copy = folder / f"table.{suffix}", folder / f"copy.{suffix}"
    if suffix == "csv":
        subject.frame.write_csv(source)
    else:
        subject.frame.write_parquet(source)

    def ours() -> None:
        release = anonymize(read_table(source), subject.spec)
        release.save(folder / "release", format=suffix, force=True, private=folder / "private")

    def theirs() -> None:
        frame = pl.read_csv(source) if suffix == "csv" else pl.read_parquet(source)
        frame.group_by(list(subject.spec.qi)).agg(pl.len())
        if suffix == "csv":
            frame.write_csv(copy)
        else:
            frame.write_parquet(copy)

    return min(timed(ours)[1] for _ in range(2)), best(theirs)[1]


def memory(way: str, rows: int) -> dict[str, int]:
    """Peak memory of one run in a process of its own, and the table's size in Polars."""
    with tempfile.TemporaryDirectory() as scratch:
        source, out = Path(scratch) / "table.parquet", Path(scratch) / "out"
        hospital_subject(rows).frame.write_parquet(source)
        command = [sys.executable, "-m", "benchmarks.memory", way, str(source), str(out)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    measured: dict[str, int] = json.loads(done.stdout)
    return measured
