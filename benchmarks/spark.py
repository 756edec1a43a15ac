"""What the Spark engine takes as tables grow: the driver's memory should not grow with the rows.

    python -m benchmarks.spark ROWS

Each size runs in a process of its own on `local-cluster[2,1,1024]`, whose executors are processes
too. Rows are made on the cluster; a release of them is made, and written as Parquet.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Say = Callable[[str], None]
SIZES = (1_000_000, 10_000_000)
MASTER = "local-cluster[2,1,1024]"
EXECUTOR = b"CoarseGrainedExecutorBackend"


def measure_spark(say: Say) -> list[dict[str, Any]]:
    """One line per size."""
    lines = []
    for rows in SIZES:
        command = [sys.executable, "-m", "benchmarks.spark", str(rows)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        lines.append(json.loads(done.stdout))
        peaks = lines[-1]["peak_mb"]
        say(f"  {rows:,} rows: driver {peaks['python']:,} MB, its Java {peaks['java']:,} MB")
    return lines


def measure(rows: int) -> dict[str, Any]:
    """Seconds and peaks of one release."""
    import shoal
    from shoal.engines.spark import SparkEngine

    session, start = _session(), time.perf_counter()
    engine = SparkEngine(session)
    spec = shoal.Spec(
        qi=["age", "sex", "region", "work"], sensitive="illness", protect=["HIV"], r=5
    )
    table = engine.count(people(session, rows), spec)
    counted = time.perf_counter()
    release = shoal.anonymize(table, engine=engine, seed=0)
    made = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        release.save(Path(folder) / "release", format="parquet")
    written = time.perf_counter()
    peaks = _peaks()
    session.stop()
    return {
        "rows": rows,
        "cells": len(table.member_cells.rows),
        "seconds": {
            "count": round(counted - start, 1),
            "release": round(made - counted, 1),
            "write": round(written - made, 1),
        },
        "peak_mb": peaks,
    }


def people(session: Any, rows: int) -> Any:
    """Rows made where they are counted: attributes from a hash of the row's number."""

    def drawn(salt: int, kinds: int) -> str:
        return f"pmod(xxhash64(id, {salt}), {kinds})"

    return session.range(rows).selectExpr(
        "id",
        f"{drawn(1, 90)} AS age",
        f"if({drawn(2, 2)} = 0, 'm', 'f') AS sex",
        f"concat('region ', {drawn(3, 12)}) AS region",
        f"concat('work ', {drawn(4, 9)}) AS work",
        f"if({drawn(5, 200)} = 0, 'HIV', concat('illness ', {drawn(6, 20)})) AS illness",
    )


def _session() -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(MASTER).config("spark.driver.memory", "1g")
    builder = builder.config("spark.ui.enabled", "false").config("spark.executor.memory", "768m")
    session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def _peaks() -> dict[str, Any]:
    """The most memory that this process, the driver's Java and each executor had."""
    found: dict[str, Any] = {"python": peak_of(Path("/proc/self")), "java": 0, "executors": []}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
        except OSError:  # it has just ended
            continue
        if EXECUTOR in command:
            found["executors"].append(peak_of(process))
        elif b"java" in command and MASTER.encode() in command:
            found["java"] = max(found["java"], peak_of(process))
    return found


def peak_of(process: Path) -> int:
    lines = (process / "status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
