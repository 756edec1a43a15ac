"""Jobs of one step: their progress in Spark's own figures, and an end to them on Ctrl-C."""

from __future__ import annotations

import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from shoal.errors import InputError
from shoal.groups import Progress, silent

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.shell.progress import ProgressHandler, StageInfo


GROUP = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")
"""What a job group is told by; the user may have one already."""
EVERY = 0.5
"""Seconds between two looks at how far the jobs are."""
LINGERING = 1.0
"""Seconds in which tasks of a job that was stopped may still write."""


@contextmanager
def watched(session: SparkSession, step: str, progress: Progress = silent) -> Iterator[None]:
    """Jobs that are started within the block are one group: `progress` hears how many of their
    tasks are done, and a block that is left by an exception stops them. A folder that they write to
    is cleared outside of it."""
    context = _context(session)
    if context is None:
        with _tagged(session, step, progress):
            yield
        return
    name, ended = f"shoal-{secrets.token_hex(8)}", threading.Event()
    before = {key: context.getLocalProperty(key) for key in GROUP}
    context.setJobGroup(name, f"shoal: {step}", interruptOnCancel=True)
    watcher = threading.Thread(target=_watch, args=(context, name, step, progress, ended))
    watcher.start()
    try:
        yield
    except BaseException:
        context.cancelJobGroup(name)
        time.sleep(LINGERING)
        raise
    finally:
        ended.set()
        watcher.join()
        for key, old in before.items():
            context.setLocalProperty(key, old)  # type: ignore[arg-type]


def _context(session: SparkSession) -> SparkContext | None:
    """What runs the session's jobs; None where that is a server (Spark Connect)."""
    try:
        return session.sparkContext
    except Exception:  # the kind differs between versions
        return None


@contextmanager
def _tagged(session: SparkSession, step: str, progress: Progress) -> Iterator[None]:
    """Progress where a server runs the jobs: it says how far they are, and stops what is tagged."""
    tag, heard = f"shoal-{secrets.token_hex(8)}", _heard(step, progress)
    session.addTag(tag)
    session.registerProgressHandler(heard)
    try:
        yield
    except BaseException:
        session.interruptTag(tag)
        time.sleep(LINGERING)
        raise
    finally:
        session.removeProgressHandler(heard)
        session.removeTag(tag)


def _heard(step: str, progress: Progress) -> ProgressHandler:
    """Tells how many tasks are done of all that the server has told of, operation by operation."""
    tasks: dict[str | None, tuple[int, int]] = {}

    def hear(
        stages: Iterable[StageInfo] | None,
        inflight_tasks: int,
        operation_id: str | None,
        done: bool,
    ) -> None:
        known = list(stages or ())
        tasks[operation_id] = (
            sum(one.num_completed_tasks for one in known),
            sum(one.num_tasks for one in known),
        )
        finished, wanted = (sum(numbers) for numbers in zip(*tasks.values(), strict=True))
        if wanted:
            progress(step, finished, wanted)

    return cast("ProgressHandler", hear)


def _watch(
    context: SparkContext, name: str, step: str, progress: Progress, ended: threading.Event
) -> None:
    """Tells how many tasks are done of those that are known of."""
    tracker, told = context.statusTracker(), (0, 0)
    while not ended.wait(EVERY):
        jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(name)]
        stages = [tracker.getStageInfo(one) for job in jobs if job for one in job.stageIds]
        known = [stage for stage in stages if stage]
        now = (sum(one.numCompletedTasks for one in known), sum(one.numTasks for one in known))
        if now != told and now[1]:
            progress(step, *now)
            told = now


# A private folder that the cluster writes to and this process reads, gone whatever happens.

SCRATCH = "spark.shoal.scratch"
"""The setting of a session that says where: a folder that this process and all executors see under
the same name. Without it, the system's folder for temporary files, which serves where all of them
run on one machine."""


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
