"""A large file through Spark on one machine: what each stage takes of Python and of Java.

    python -m benchmarks.spark_file ROWS

A made-up hospital of that many rows is written as Parquet (`benchmarks.large`), counted by Spark
in `local[2]` with a driver of 1 GB, published, and written as Parquet by Spark. Rows are on this
machine, but in no memory as a whole.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.settings import hospital_spec
from benchmarks.spark import peak_of

Say = Callable[[str], None]
ROWS = 20_000_000
MASTER, MEMORY = "local[2]", "1g"


def measure_spark_file(say: Say, rows: int = ROWS) -> list[dict[str, Any]]:
    """One line per stage."""
    command = [sys.executable, "-m", "benchmarks.spark_file", str(rows)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    lines: list[dict[str, Any]] = json.loads(done.stdout)
    for line in lines:
        say(
            f"  {line['stage']:<14} Python {line['cpu']['python']:6.1f} s, "
            f"{line['peak_mb']['python']:,} MB; Java {line['cpu']['java']:6.1f} s, "
            f"{line['peak_mb']['java']:,} MB"
        )
    return lines


def measure(rows: int, home: Path) -> list[dict[str, Any]]:
    """The stages of one release, one after the other; peaks are those so far."""
    import shoal
    from shoal.engines.spark import SparkEngine

    _make(rows, home / "table.parquet")
    engine = SparkEngine(_session(home))
    stages = Stages(rows)
    table = engine.count(home / "table.parquet", hospital_spec())
    stages.end("count", cells=len(table.member_cells.rows))
    release = shoal.anonymize(table, engine=engine, seed=0)
    stages.end("search, audit")
    release.save(home / "release", format="parquet", private=home / "private")
    stages.end("write")
    engine.session.stop()
    return stages.lines


def _make(rows: int, path: Path) -> None:
    """In another process, whose memory is none of this one's."""
    command = [sys.executable, "-m", "benchmarks.large", "make", str(rows), str(path)]
    subprocess.run(command, check=True)


class Stages:
    """What has been taken at the end of each stage."""

    def __init__(self, rows: int) -> None:
        self._rows, self._java = rows, _driver()
        self._before, self._started = self._cpu(), time.perf_counter()
        self.lines: list[dict[str, Any]] = []

    def end(self, stage: str, **found: int) -> None:
        now, cpu = time.perf_counter(), self._cpu()
        self.lines.append(
            {
                "rows": self._rows,
                "stage": stage,
                **found,
                "seconds": round(now - self._started, 1),
                "cpu": {who: round(cpu[who] - self._before[who], 1) for who in cpu},
                "peak_mb": {
                    "python": peak_of(Path("/proc/self")),
                    "java": peak_of(self._java),
                },
            }
        )
        self._before, self._started = cpu, now

    def _cpu(self) -> dict[str, float]:
        mine = resource.getrusage(resource.RUSAGE_SELF)
        fields = (self._java / "stat").read_text("utf-8").rpartition(")")[2].split()
        java = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return {"python": mine.ru_utime + mine.ru_stime, "java": java}


def _driver() -> Path:
    """The process of this one's Java, which Spark has started for it."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
            parent = (process / "stat").read_text("utf-8").rpartition(")")[2].split()[1]
        except OSError:  # it has just ended
            continue
        if b"SparkSubmit" in command and int(parent) == os.getpid():
            return process
    raise RuntimeError("Spark's Java is not to be found")


def _session(home: Path) -> Any:
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.memory": MEMORY,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(home / "spark"),
        "spark.shoal.scratch": str(home),
    }
    builder = SparkSession.builder.master(MASTER)
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(int(sys.argv[1]), Path(folder))))
