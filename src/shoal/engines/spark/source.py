"""Addresses of tables that Spark reads, and the session that it reads them with."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import InputError
from shoal.sources.columnar import missing_extra

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PREFIX = "spark:"
"""What stands before the name of a table in the session's catalog."""


def open_session() -> SparkSession:
    """The session with the user's own configuration: SPARK_REMOTE, spark-defaults.conf, or
    PYSPARK_SUBMIT_ARGS say where it runs."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise missing_extra("Spark", "pyspark") from None
    try:
        with warnings.catch_warnings():
            # Nothing here goes through pandas, of whose newer versions Spark warns.
            warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
            return SparkSession.builder.getOrCreate()
    except Exception as error:  # whatever Java or the cluster has to say
        raise InputError(
            "spark-session",
            f"No Spark session can be had: {first_line(error)}.",
            "Spark needs Java 17 or newer, and a cluster within reach, if one is configured.",
        ) from None


def open_source(address: str | Path) -> DataFrame:
    """A table as a Spark frame: `spark:catalog.table`, or the path of Parquet or CSV, as a file or
    a folder, anywhere that the session reads from. CSV has a header, and its columns are typed by
    what they hold."""
    from pyspark.errors import AnalysisException

    session, text = open_session(), str(address)
    try:
        if text.startswith(PREFIX):
            return session.table(text.removeprefix(PREFIX))
        if _is_csv(text):
            return session.read.csv(text, header=True, inferSchema=True, escape='"', multiLine=True)
        return session.read.parquet(text)
    except AnalysisException as error:
        raise InputError(
            "spark-source",
            f'Spark cannot read "{text}": {first_line(error)}.',
            f"Give {PREFIX}catalog.table, or the path of Parquet or CSV.",
        ) from None


def first_line(error: Exception) -> str:
    """What an error of Spark or Java says, without the trace."""
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__).rstrip(".")


def _is_csv(text: str) -> bool:
    endings = (".csv", ".csv.gz")
    if text.rstrip("/").endswith(endings):
        return True
    folder = Path(text)
    return folder.is_dir() and any(file.name.endswith(endings) for file in folder.iterdir())
