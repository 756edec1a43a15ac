"""A private folder that the cluster writes to and this process reads, gone whatever happens."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRATCH = "spark.shoal.scratch"
"""The setting of a session that says where: a folder that this process and all executors see under
the same name. Without it, the system's folder for temporary files, which serves where all of them
run on one machine."""
LINGERING = 1.0
"""Seconds in which tasks of a job that was stopped may still write."""


@contextmanager
def private_scratch(session: SparkSession) -> Iterator[Path]:
    """A new folder that nobody else may read. Counted cells are data about people."""
    told = session.conf.get(SCRATCH, None)
    base = None if told is None else Path(told.removeprefix("file://"))
    if base is not None and not base.is_dir():
        raise InputError(
            "spark-scratch",
            f'{SCRATCH} names "{told}", which is no folder here.',
            "Name a folder that this machine and all executors see under the same name.",
        )
    folder = Path(tempfile.mkdtemp(prefix="shoal-", dir=base)).resolve()
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(LINGERING)
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def address(path: Path) -> str:
    """A path as Spark has to be told of it, whatever its usual file system is."""
    return f"file://{path}"
