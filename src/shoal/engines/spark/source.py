"""Addresses of tables that Spark reads, and the session that it reads them with."""

from __future__ import annotations

import atexit
import codecs
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from shoal.data.sources.delimited import header_of
from shoal.data.sources.read import refuse_unused
from shoal.data.sources.text import text_decoder
from shoal.errors import InputError, missing_extra
from shoal.names import Reading

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PREFIX = "spark:"
"""What stands before the name of a table in the session's catalog."""
CHARSETS = {
    "utf-8": "utf-8",
    "iso8859-1": "iso-8859-1",
    "ascii": "us-ascii",
    "utf-16": "utf-16",
    "utf-32": "utf-32",
}
"""Encodings that Spark reads, by Python's name and by Java's."""


def open_session() -> SparkSession:
    """The session with the user's own configuration: SPARK_REMOTE, spark-defaults.conf, or
    PYSPARK_SUBMIT_ARGS say where it runs. One that is opened here is stopped when Python ends, so
    that executors do not take the driver's end for a failure."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise missing_extra("Spark", "pyspark") from None
    try:
        with warnings.catch_warnings():
            # Nothing here goes through pandas, of whose newer versions Spark warns.
            warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
            theirs = SparkSession.getActiveSession()
            session = SparkSession.builder.getOrCreate()
            if theirs is None:
                atexit.register(_stop, session)
            return session
    except Exception as error:  # whatever Java or the cluster has to say
        raise InputError(
            "spark-session",
            f"No Spark session can be had: {first_line(error)}.",
            "Spark needs Java 17 or newer, and a cluster within reach, if one is configured.",
        ) from None


def _stop(session: SparkSession) -> None:
    with suppress(Exception):  # whoever stopped Java before
        session.stop()


def open_source(
    address: str | Path, session: SparkSession | None = None, **reading: Unpack[Reading]
) -> DataFrame:
    """A table as a Spark frame: `spark:catalog.table`, or the path of Parquet or CSV, as a file or
    a folder, anywhere that the session reads from. CSV has a header, and its cells stay texts: what
    type a column has is found from its distinct values, as of any CSV."""
    from pyspark.errors import AnalysisException

    session, text = session or open_session(), str(address)
    if is_text(text):
        refuse_unused("text", sheet=reading.get("sheet"))
    else:
        refuse_unused("spark", **reading)
    try:
        if text.startswith(PREFIX):
            return session.table(text.removeprefix(PREFIX))
        if is_text(text):
            return _read_text(
                session, text, reading.get("separator"), reading.get("encoding") or "utf-8"
            )
        return session.read.parquet(text)
    except AnalysisException as error:
        raise InputError(
            "spark-source",
            f'Spark cannot read "{text}": {first_line(error)}.',
            f"Give {PREFIX}catalog.table, or the path of Parquet or CSV.",
        ) from None


@contextmanager
def failures_told() -> Iterator[None]:
    """An InputError in place of what Spark or Java say where rows cannot be read."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        raise _unread(first_line(error)) from None
    except Exception as error:
        # What Java says comes through py4j, which a client of Spark Connect does without.
        told = getattr(error, "java_exception", None)
        if told is None:
            raise
        raise _unread(str(told.getMessage())) from None


def _unread(why: str) -> InputError:
    return InputError(
        "spark-read",
        f"Spark cannot read the table: {why.strip().rstrip('.')}.",
        "Its log says where: a file is damaged, or a row of CSV has more or fewer cells.",
    )


def first_line(error: Exception) -> str:
    """What an error of Spark or Java says, without the trace."""
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__).rstrip(".")


def _read_text(session: SparkSession, text: str, separator: str | None, encoding: str) -> DataFrame:
    """CSV as texts. Names and the separator are found as of any CSV; a row with more or fewer cells
    stops the job."""
    first = session.read.text(text).first()
    if first is None:
        raise InputError("file-empty", f'"{text}" is empty.', "Give a table with a header row.")
    header = first[0].removeprefix("\ufeff").encode()
    chosen, names = header_of(header + b"\n", separator, Path(text))
    frame = session.read.csv(
        text,
        header=True,
        sep=chosen,
        encoding=_charset(encoding),
        escape='"',
        multiLine=True,
        mode="FAILFAST",
        enforceSchema=False,
    )
    return frame.toDF(*names) if len(names) == len(frame.columns) else frame


def _charset(encoding: str) -> str:
    """What Spark calls an encoding."""
    text_decoder(encoding)
    name = codecs.lookup(encoding).name
    if name not in CHARSETS:
        raise InputError(
            "spark-encoding",
            f'Spark reads no CSV in the encoding "{encoding}".',
            f"Convert it to one of {', '.join(CHARSETS)}, or use another engine.",
        )
    return CHARSETS[name]


def is_text(address: str | Path) -> bool:
    """Whether it names CSV, or a folder of it."""
    text, endings = str(address), (".csv", ".csv.gz")
    if text.rstrip("/").endswith(endings):
        return True
    folder = Path(text)
    return folder.is_dir() and any(file.name.endswith(endings) for file in folder.iterdir())
