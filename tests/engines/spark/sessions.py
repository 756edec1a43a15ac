"""Spark sessions for tests, where pyspark and Java are at hand."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    # Far from UTC: whatever depends on it by mistake is seen.
    "spark.sql.session.timeZone": "America/New_York",
}


def need_spark() -> None:
    """Skips a test where Spark cannot run."""
    pytest.importorskip("pyspark", reason="pyspark is not installed (extra spark)")
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        pytest.skip("Spark needs Java, which is not installed")


@contextmanager
def stopped_at_the_end(master: str, home: Path, **settings: str) -> Iterator[Any]:
    """A session of its own, with its files in `home`."""
    need_spark()
    from pyspark.sql import SparkSession

    if SparkSession.getActiveSession() is not None:
        pytest.skip("a process has one Spark session at a time, and another one is running")
    builder = SparkSession.builder.master(master).appName("shoal-tests")
    chosen = {**SETTINGS, "spark.sql.warehouse.dir": str(home), "spark.local.dir": str(home)}
    for key, value in {**chosen, **settings}.items():
        builder = builder.config(key, value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()
