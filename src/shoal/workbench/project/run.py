"""Run: command lines that are worked off in a process of their own, and what came of them."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Literal

from shoal.auditing.attacked import AttackResult
from shoal.errors import InputError
from shoal.workbench.project.commands import FOUND, options_of, python_of, typed
from shoal.workbench.project.decision import keep_decision, read_decision
from shoal.workbench.project.files import (
    HASHES,
    file_hash,
    is_held,
    now,
    read_json,
    read_lines,
    take,
    tell,
)
from shoal.workbench.project.source import Source

State = Literal["waiting", "running", "done", "failed", "stopped", "lost"]
ENDED = ("done", "failed", "stopped")
KINDS = ("anonymize", "plan", "find", "audit", "verify", "attack")
LOCK, STOP, STEPS = ".worker-lock", "stop", "steps"
OUTCOME, TABLE = "outcome.json", "table.json"
REPORTS = ("report.html", "report-public.html")
MADE = (STEPS, OUTCOME, TABLE, STOP, HASHES, FOUND, "release", "private", *REPORTS)
"""What a run makes: a run that is started again begins without it."""


@dataclass(frozen=True)
class RunProgress:
    """How far a run has come."""

    step: int
    steps: int
    """The step at hand, from 1, and how many there are."""
    command: str
    """What it does: anonymize, verify ..."""
    words: str
    """What it is at; empty where the command does not tell."""
    done: int
    total: int
    """In the unit of these words; 0 where it is not known."""
    fraction: float | None
    """How much of what these words say is done; None where nobody can tell."""
    seconds: float
    """Since the run was started."""
    left: float | None
    """Seconds until that is done, at the pace so far; None where nobody can tell."""


@dataclass(frozen=True)
class Run:
    """The folder of a run."""

    folder: Path

    @property
    def name(self) -> str:
        """Its number in the project."""
        return self.folder.name

    @property
    def made(self) -> dict[str, Any]:
        """What was asked for: kind, steps, time, spec, source, title."""
        told = read_json(self.folder / "run.json")
        if told is None or not _is_whole(told):
            raise InputError(
                "run-damaged",
                f"The run.json of run {self.name} cannot be read.",
                "Make the run again.",
            )
        return told

    @property
    def is_whole(self) -> bool:
        """Whether what was asked for can be read."""
        told = read_json(self.folder / "run.json")
        return told is not None and _is_whole(told)

    @property
    def kind(self) -> str:
        """anonymize, plan, find, audit, verify or attack."""
        return str(self.made["kind"])

    @property
    def title(self) -> str:
        """What its maker called it."""
        return str(self.made.get("title", ""))

    @property
    def steps(self) -> list[list[str]]:
        """The arguments of each command."""
        return [list(map(str, step)) for step in self.made["steps"]]

    @property
    def state(self) -> State:
        """What became of it; lost if its process ended without a word."""
        lock = self.folder / LOCK
        if is_held(lock):
            return "running"
        if self.outcome is not None:
            state: State = self.outcome["state"]
            return state
        return "lost" if lock.exists() else "waiting"

    @property
    def outcome(self) -> dict[str, Any] | None:
        """state, seconds and error of a run that ended; None if that cannot be read."""
        told = read_json(self.folder / OUTCOME)
        return told if told is not None and told.get("state") in ENDED else None

    @property
    def table(self) -> dict[str, Any] | None:
        """SHA-256 and size of the table's file when the run began; None if it is in no file."""
        return read_json(self.folder / TABLE)

    @property
    def source(self) -> Source | None:
        """The table that it was made from."""
        address, step = self.made["source"], self.steps[0]
        if address is None:
            return None
        return Source(address, option_of(step, "separator"), option_of(step, "encoding"))

    def is_of(self, source: Source) -> bool:
        """Whether a source still is the table of this run, as far as its file tells."""
        if self.made["source"] != source.address:
            return False
        kept, path = self.table, self.folder.parent.parent / source.address
        if kept is None:  # it lies in a database, or was not read yet
            return True
        try:
            held, noted = path.stat(), (self.folder / TABLE).stat()
        except OSError:
            return False
        if held.st_size != kept.get("bytes"):
            return False
        return held.st_mtime_ns < noted.st_mtime_ns or file_hash(path) == kept.get("sha256")

    @property
    def error(self) -> dict[str, str] | None:
        """Why it failed: the code of the error catalogue and the sentence."""
        error: dict[str, str] | None = (self.outcome or {}).get("error")
        return error

    @property
    def found(self) -> dict[str, Any] | None:
        """What a search for settings has tried so far."""
        return read_json(self.folder / FOUND)

    @property
    def attacks(self) -> list[AttackResult]:
        """What the red team found, one by one where several columns are sensitive."""
        numbers = [n for n, step in enumerate(self.steps, 1) if step[0] == "attack"]
        told = [found for n in numbers if (found := self.result(n)) is not None]
        return [AttackResult.of(found) for found in told]

    @property
    def warnings(self) -> list[str]:
        """What its commands warned of."""
        mark = "shoal: warning: "
        lines = [line for number in self._numbers() for line in self._log(number)]
        return [line.removeprefix(mark) for line in lines if line.startswith(mark)]

    @property
    def progress(self) -> RunProgress | None:
        """How far it has come; None unless it is running."""
        if self.state != "running":
            return None
        steps = self.steps
        ended = sum(self.exit_code(number) is not None for number in self._numbers())
        at = min(ended + 1, len(steps))
        told = read_json(self.folder / STEPS / f"{at}.progress.json") or {}
        done, total, seconds = (told.get(name, 0) for name in ("done", "total", "seconds"))
        fraction = min(done / total, 1.0) if total else None
        return RunProgress(
            step=at,
            steps=len(steps),
            command=steps[at - 1][0],
            words=told.get("step", ""),
            done=done,
            total=total,
            fraction=fraction,
            seconds=self._seconds(),
            left=seconds * (1 - fraction) / fraction if fraction and seconds else None,
        )

    def start(self) -> None:
        """Works its commands off in a process that outlives this one. A run that was stopped, lost
        or failed begins again."""
        lock = take(self.folder / LOCK)
        try:
            if lock is None or (self.outcome or {}).get("state") == "done":
                raise InputError(
                    "run-started",
                    f"Run {self.name} was started already.",
                    "Wait for it, or make another.",
                )
            for name in MADE:
                _remove(self.folder / name)
            (self.folder / STEPS).mkdir()
            tell(lock, {"started": now()})
            with (self.folder / STEPS / "worker.log").open("ab") as log:
                # The worker takes over the lock: it holds until the last copy of it is closed.
                worker = subprocess.Popen(
                    [
                        sys.executable,
                        "-P",
                        "-m",
                        "shoal.workbench.project.worker",
                        self.folder,
                        str(lock),
                    ],
                    cwd=self.folder.parent.parent,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=(lock,),
                    start_new_session=True,
                )
        finally:
            if lock is not None:
                os.close(lock)
        threading.Thread(target=worker.wait, daemon=True).start()

    def wait(self) -> None:
        """Until the run has ended, however it ended."""
        while self.state == "running":
            time.sleep(0.1)

    def stop(self) -> None:
        """Asks the run to end; what its command had begun to write is not left half done."""
        if self.state == "running":
            (self.folder / STOP).touch()

    def result(self, step: int | str = 1) -> dict[str, Any] | None:
        """What a step printed, by its number or command; None if it ended without an
        answer. That an r is refused is an answer of `plan`, which exits as `anonymize` would."""
        if isinstance(step, str):
            verbs = [one[0] for one in self.steps]
            if step not in verbs:
                return None
            step = verbs.index(step) + 1
        if self.exit_code(step) not in range(4):
            return None
        return read_json(self.folder / STEPS / f"{step}.json")

    def exit_code(self, step: int) -> int | None:
        """How a step's command ended; None if it did not yet."""
        try:
            return int((self.folder / STEPS / f"{step}.exit").read_text("ascii"))
        except (OSError, ValueError):
            return None

    def commands(self) -> list[str]:
        """The command lines as a user types them."""
        return [
            f"cd {shlex.quote(str(self.folder.parent.parent))}",
            *(typed(step) for step in self.steps),
        ]

    def programs(self) -> list[str]:
        """What the commands do in Python, one program for each step."""
        return [python_of(step) for step in self.steps]

    @property
    def decision(self) -> dict[str, Any] | None:
        """Whether the release may be published: decision, name, reason, date, review."""
        return read_decision(self.folder)

    @property
    def robust(self) -> bool | None:
        """The verdict on what it made or judged, with what attackers did to it; None if there is
        none, or nothing was decided."""
        found = (self.result(1) if self.state == "done" else None) or {}
        beaten = any(attack.beaten_by for attack in self.attacks)
        told: bool | None = found.get("robust")
        return False if beaten else told

    def decide(
        self,
        decision: str,
        *,
        name: str,
        reason: str,
        review: str | date | None = None,
        despite: str = "",
    ) -> None:
        """Keeps a person's decision with the run; earlier ones are kept too. To approve what is not
        robust takes a reason of its own: `despite`."""
        if self.kind != "anonymize":
            raise InputError(
                "decision-kind",
                f"Run {self.name} made no release, so there is nothing to decide on.",
                "Decide on a run that makes one (anonymize).",
            )
        if self.state != "done":
            raise InputError(
                "decision-early",
                f"Run {self.name} is {self.state}, so there is nothing to decide on.",
                "Wait until it is done.",
            )
        if decision == "approved" and self.robust is not True and not despite.strip():
            raise InputError(
                "decision-despite",
                f"The release of run {self.name} is not shown to be robust.",
                "Say why it may be published all the same, or refuse it.",
            )
        told = despite if decision == "approved" and self.robust is not True else ""
        keep_decision(self.folder, decision, name=name, reason=reason, review=review, despite=told)

    def _numbers(self) -> range:
        return range(1, len(self.steps) + 1)

    def _log(self, number: int) -> list[str]:
        return read_lines(self.folder / STEPS / f"{number}.log")

    def _seconds(self) -> float:
        told = read_json(self.folder / LOCK) or {}
        started = datetime.fromisoformat(told.get("started", now()))
        return max(0.0, (datetime.now(UTC) - started).total_seconds())


def option_of(step: Sequence[str], option: str) -> str | None:
    """What a command line gives for an option, the last if several."""
    return options_of(step).get(option, [None])[-1]


def _is_whole(told: dict[str, Any]) -> bool:
    steps = told.get("steps")
    return (
        told.get("kind") in KINDS
        and isinstance(told.get("made"), str)
        and isinstance(told.get("spec"), dict)
        and isinstance(told.get("source"), str | None)
        and isinstance(steps, list)
        and bool(steps)
        and all(isinstance(step, list) and step for step in steps)
    )


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


# A run in one line: what was asked for, and what came of it.


def summary(run: Run) -> dict[str, Any]:
    """What the list of all runs says of one. `robust` is None where no verdict could be reached,
    and `judged` says whether one was asked for."""
    made, state = run.made, run.state
    found = (run.result(1) if state == "done" else None) or {}
    checked = run.result("verify") or {}
    return {
        "run": run.name,
        "kind": made["kind"],
        "title": made.get("title", ""),
        "made": made["made"],
        "state": state,
        "r": made["spec"].get("r") if made["kind"] in ("anonymize", "audit") else None,
        "method": option_of(run.steps[0], "method"),
        "judged": "robust" in found,
        "robust": run.robust,
        "confirmed": checked.get("confirmed"),
        "decision": run.decision,
    }
