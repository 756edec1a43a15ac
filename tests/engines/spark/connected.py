"""What a client of Spark Connect does, in a process of its own: a process has sessions of one kind.

    SPARK_REMOTE=local[1] python -m tests.engines.spark.connected FOLDER

Prints what came of it as JSON, line by line.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import shoal
from shoal.engines import Runs
from shoal.engines.spark import SparkEngine
from shoal.errors import InputError
from tests.engines.kinds import all_kinds, hospital, some_kinds


def main(home: Path) -> None:
    engine = SparkEngine()  # the session is that of SPARK_REMOTE
    session = engine.session
    told: list[tuple[str, int, int]] = []
    tell("session", type(session).__module__)
    for name, (frame, spec) in {
        "hospital": hospital(3000),
        "kinds": (all_kinds(600), some_kinds("text with. dots", "day, of", "moment", "price")),
    }.items():
        file = home / f"{name}.parquet"
        frame.write_parquet(file)
        here = shoal.anonymize(shoal.read_table(file), spec, seed=3)
        there = shoal.anonymize(
            session.read.parquet(str(file)), spec, seed=3, progress=lambda *step: told.append(step)
        )
        tell(f"{name}: same certificate", there.certificate == here.certificate)
        for form in ("csv", "parquet"):
            there.save(home / f"{name}-{form}", format=form)
            found = shoal.verify(home / f"{name}-{form}", session.read.parquet(str(file)))
            tell(f"{name}: {form} confirmed", found.confirmed)
    tell("progress", max((done for step, done, _ in told if "on Spark" in step), default=0))
    audited(session, home)
    damaged(engine, home)
    interrupted(session, home / "endless")
    session.stop()


def audited(session: Any, home: Path) -> None:
    people, (_, spec) = session.read.parquet(str(home / "hospital.parquet")), hospital(10)
    banded = people.selectExpr("patient", "sex", "region", "floor(age / 10) * 10 AS age")
    found = shoal.audit(people, spec, released=banded, key="patient")
    rows = pl.read_parquet(home / "hospital.parquet")
    released = rows.select("patient", "sex", "region", pl.col("age") // 10 * 10)
    expected = shoal.audit(rows, spec, released=released, key="patient")
    tell("same worst case", found.worst.posterior == expected.worst.posterior)  # type: ignore[union-attr]


def damaged(engine: SparkEngine, home: Path) -> None:
    (home / "ragged.csv").write_text("code,rows\n1,HIV\n2\n", encoding="utf-8")
    try:
        engine.count(home / "ragged.csv", some_kinds("code"))
    except InputError as error:
        tell("ragged rows", error.code)


def interrupted(session: Any, folder: Path) -> None:
    """Writing without an end, and Ctrl-C."""
    folder.mkdir()
    endless = Runs.numbered(
        np.arange(40), np.full(40, 10**7), np.ones(40, np.int64), pl.DataFrame({"q": range(40)})
    )
    threading.Timer(5, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        SparkEngine(session).write(endless, folder / "qi.csv")
    except KeyboardInterrupt:
        tell("interrupted", [entry.name for entry in folder.iterdir()])
    tell("afterwards", session.range(3).count())


def tell(what: str, found: Any) -> None:
    print(json.dumps({what: found}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
