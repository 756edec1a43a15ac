"""Spark for real: executors in processes of their own, a standalone master with two workers, an
executor killed in the middle of writing, and the driver's memory as tables grow."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.sources import write_table
from shoal.engines import Runs
from shoal.engines.spark import SparkEngine
from shoal.engines.spark import parts as written
from tests.engines.kinds import hospital
from tests.engines.spark.sessions import need_spark, stopped_at_the_end

pytestmark = [pytest.mark.slow, pytest.mark.cluster]

SMALL = {
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": "4",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


def executors() -> dict[int, int]:
    """The executors among the processes below this one: their number and parent, by process."""
    parents, found = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                status = (entry / "status").read_text()
                command = (entry / "cmdline").read_bytes()
            except OSError:  # it has just ended
                continue
            parents[int(entry.name)] = int(re.search(r"PPid:\s+(\d+)", status)[1])  # type: ignore[index]
            if b"CoarseGrainedExecutorBackend" in command:
                found[int(entry.name)] = parents[int(entry.name)]
    return {pid: parent for pid, parent in found.items() if _below(pid, parents)}


def _below(pid: int, parents: dict[int, int]) -> bool:
    while pid in parents:
        if pid == os.getpid():
            return True
        pid = parents[pid]
    return False


def same_release_from(session: Any, folder: Path) -> None:
    """A release is made, written and verified on a cluster, as it would be here, and one of another
    tool judged."""
    frame, spec = hospital(5000)
    write_table(frame, folder / "table.parquet")
    people = session.read.parquet(str(folder / "table.parquet"))
    there = shoal.anonymize(people, spec, seed=3)
    assert there.certificate == shoal.anonymize(frame, spec, seed=3).certificate
    there.save(folder / "release", format="parquet")
    checked = shoal.verify(folder / "release", table=frame)
    assert checked.confirmed, checked
    other = frame.sample(4900, seed=1).with_columns(region=pl.lit("any"))
    write_table(other, folder / "other.parquet")
    published = session.read.parquet(str(folder / "other.parquet"))
    judged, expected = (
        shoal.audit(table, spec, released=released, key="patient").worst
        for table, released in ((people, published), (frame, other))
    )
    assert judged is not None
    assert expected is not None
    assert judged.posterior == expected.posterior


def test_an_executor_is_killed_while_it_writes(tmp_path: Path) -> None:
    """In local-cluster mode executors are processes of their own; Spark starts another one."""
    with stopped_at_the_end("local-cluster[2,1,1024]", tmp_path, **SMALL) as session:
        same_release_from(session, tmp_path)
        each, groups = 2000, np.arange(300)
        runs = Runs.numbered(
            groups, np.full(300, each), np.ones(300, np.int64), pl.DataFrame({"q": groups})
        )
        target, killed = tmp_path / "out" / "qi.csv", list[int]()
        target.parent.mkdir()

        def kill() -> None:
            while not list(target.parent.glob(".qi.csv.*/spark/_temporary/0/_temporary/*")):
                time.sleep(0.05)
            killed.append(min(executors()))
            os.kill(killed[0], signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(written, "AT_ONCE", 60_000)
            SparkEngine(session).write(runs, target)
        killer.join()
        assert killed
        parts = sorted(target.iterdir())
        assert len(parts) == 10
        assert [entry.name for entry in target.parent.iterdir()] == ["qi.csv"]
        text = b"".join(part.read_bytes().removeprefix(b"gid,q\n") for part in parts)
        found = pl.read_csv(text, has_header=False, new_columns=["gid", "q"])
        assert found.cast(pl.Int64).equals(runs.frame().cast(pl.Int64))


def test_a_command_leaves_its_cluster_in_peace(tmp_path: Path) -> None:
    """Executors do not take the end of the command for a failure and start again."""
    need_spark()
    import pyspark

    frame, spec = hospital(2000)
    write_table(frame, tmp_path / "table.parquet")
    (tmp_path / "spec.toml").write_text(spec.to_toml(), encoding="utf-8")
    settings = {"spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false", **SMALL}
    chosen = " ".join(f"--conf '{key}={value}'" for key, value in settings.items())
    done = subprocess.run(
        [sys.executable, "-m", "shoal", "count", "table.parquet", "--spec", "spec.toml",
         "--engine", "spark", "--out", "cells.parquet"],
        cwd=tmp_path,
        env={
            **os.environ,
            "SPARK_HOME": pyspark.__path__[0],
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_SUBMIT_ARGS": f"--master local-cluster[1,1,1024] {chosen} pyspark-shell",
        },
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "cells.parquet").is_file()
    assert "ERROR" not in done.stderr


@contextmanager
def standalone(home: Path) -> Iterator[str]:
    """A master and two workers, each a process of its own; gives the master's address."""
    import pyspark

    script = Path(pyspark.__file__).parent / "bin" / "spark-class"
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOG_DIR": str(home)}
    environment |= {"SPARK_WORKER_DIR": str(home / "work"), "SPARK_DAEMON_MEMORY": "256m"}
    log = home / "master.Master.log"

    def start(name: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [str(script), f"org.apache.spark.deploy.{name}", "--host", "127.0.0.1"]
        with (home / f"{name}.log").open("ab") as out:
            return subprocess.Popen(
                [*command, *arguments],
                env=environment,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    processes = [start("master.Master", "--port", "0", "--webui-port", "0")]
    try:
        address = _found(log, r"Starting Spark master at (spark://\S+)")
        options = ("--cores", "1", "--memory", "600m", "--webui-port", "0")
        processes += [start("worker.Worker", *options, address) for _ in range(2)]
        while log.read_text().count("Registering worker") < 2:
            time.sleep(0.2)
        yield address
    finally:
        for process in reversed(processes):
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(20)


def _found(log: Path, pattern: str, patience: float = 60) -> str:
    until = time.monotonic() + patience
    while time.monotonic() < until:
        if log.exists() and (found := re.search(pattern, log.read_text())):
            return found[1]
        time.sleep(0.2)
    raise AssertionError(log.read_text() if log.exists() else "no log")


def test_a_standalone_master_with_two_workers(tmp_path: Path) -> None:
    need_spark()
    with standalone(tmp_path) as address, stopped_at_the_end(address, tmp_path, **SMALL) as session:
        same_release_from(session, tmp_path)
