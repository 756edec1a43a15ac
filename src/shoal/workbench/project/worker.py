"""The process of a run: works its commands off, one after the other, and says how it ended.

Whoever wants it to stop leaves the file `stop` in the run's folder. The lock that it is given tells
others that it runs, and is given up by the system when it ends, however it ends.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from shoal.workbench.project.files import file_hash, keep_hashes, read_lines, write_json, write_text
from shoal.workbench.project.run import OUTCOME, STEPS, STOP, TABLE, Run

LOOKS = 0.1
"""Seconds between looks at whether to stop."""
PATIENCE = 10.0
"""Seconds that a command has to clear up once it is interrupted."""
_REFUSED = re.compile(r"shoal: (.*) \[([a-z0-9-]+)\]")


def work(run: Run, lock: int) -> None:
    """Works a run off, and writes its outcome."""
    started = time.monotonic()
    _keep_hash(run)
    ended: dict[str, Any] = {"state": "done", "error": None}
    for number, arguments in enumerate(run.steps, start=1):
        stopped = _step(run.folder, number, arguments, lock)
        if stopped:
            ended = {"state": "stopped", "error": None}
            break
        if run.result(number) is None:
            ended = {"state": "failed", "error": _error(run.folder, number)}
            break
    ended["seconds"] = round(time.monotonic() - started, 3)
    if ended["state"] == "done":
        keep_hashes(run.folder)
    write_json(run.folder / OUTCOME, ended)


def _keep_hash(run: Run) -> None:
    """Keeps what the table's file is when the run begins; of a database nothing is kept."""
    source = run.made["source"]
    path = run.folder.parent.parent / source if source else None
    if path is None or not path.is_file():
        return
    write_json(run.folder / TABLE, {"sha256": file_hash(path), "bytes": path.stat().st_size})


def _step(folder: Path, number: int, arguments: list[str], lock: int) -> bool:
    """Runs one command to its end; whether it was stopped."""
    steps, stop = folder / STEPS, folder / STOP
    if stop.exists():
        return True
    environment = os.environ | {"SHOAL_PROGRESS": str(steps / f"{number}.progress.json")}
    with (steps / f"{number}.json").open("wb") as out, (steps / f"{number}.log").open("wb") as log:
        command = subprocess.Popen(
            [sys.executable, "-P", "-m", "shoal", *arguments],
            cwd=folder.parent.parent,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=log,
            process_group=0,
            pass_fds=(lock,),
            preexec_fn=_end_with_worker,
        )
        stopped = False
        while not _ended(command, LOOKS):
            if stop.exists():
                stopped = True
                _interrupt(command)
    write_text(steps / f"{number}.exit", str(command.returncode))
    return stopped


def _interrupt(command: subprocess.Popen[bytes]) -> None:
    os.killpg(command.pid, signal.SIGINT)
    if not _ended(command, PATIENCE):
        os.killpg(command.pid, signal.SIGKILL)
        command.wait()


def _ended(command: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        command.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _end_with_worker() -> None:
    """On Linux a command ends with its worker, even if that is killed. Elsewhere it goes on, and
    holds the lock as long."""
    if sys.platform == "linux":
        set_death_signal = 1
        ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)


def _error(folder: Path, number: int) -> dict[str, str]:
    """What a command said when it failed: its sentence and code, or its last line."""
    lines = [line for line in read_lines(folder / STEPS / f"{number}.log") if line.strip()]
    for line in reversed(lines):
        if refused := _REFUSED.fullmatch(line):
            return {"code": refused[2], "text": refused[1]}
    said = lines[-1] if lines else "The command ended without a word."
    return {"code": "internal", "text": said}


def main(arguments: list[str]) -> None:
    """Works off the run of a folder; its lock is an open file of this process."""
    # A shell may have started this in the background with interrupts ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    work(Run(Path(arguments[0])), int(arguments[1]))


if __name__ == "__main__":
    main(sys.argv[1:])
