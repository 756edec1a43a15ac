"""Spark Connect: a client whose session is on a server, to which it speaks by gRPC only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines.spark.sessions import need_spark

pytestmark = [pytest.mark.slow, pytest.mark.cluster]

PACKAGES = ("grpc", "grpc_status", "google.rpc", "zstandard")


def test_a_client_of_a_server_gets_the_same(tmp_path: Path) -> None:
    need_spark()
    for package in PACKAGES:
        pytest.importorskip(package, reason="Spark Connect needs pip install 'pyspark[connect]'")
    settings = "--driver-memory 1g --conf spark.ui.enabled=false --conf spark.log.level=OFF"
    done = subprocess.run(
        [sys.executable, "-m", "tests.engines.spark.connected", str(tmp_path)],
        env={
            **os.environ,
            "SPARK_REMOTE": "local[1]",
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_SUBMIT_ARGS": f"{settings} pyspark-shell",
        },
        capture_output=True,
        text=True,
    )
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    told = {what: one for line in found for what, one in line.items()}
    assert told.pop("progress", 0) > 0, done.stderr
    assert told == {
        "session": "pyspark.sql.connect.session",
        **{
            f"{name}: {what}": True
            for name in ("hospital", "kinds")
            for what in ("same certificate", "csv confirmed", "parquet confirmed")
        },
        "same worst case": True,
        "ragged rows": "spark-read",
        "interrupted": [],
        "afterwards": 3,
    }, done.stderr
    assert done.returncode == 0, done.stderr
