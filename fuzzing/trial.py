"""Tries until the time or the count is up, and what came of it."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

from fuzzing.groups import BATCH, judge_batch
from fuzzing.persons import judge_persons
from fuzzing.tables import judge_table

JUDGES = {
    "groups": (judge_batch, BATCH),
    "tables": (judge_table, 1),
    "persons": (judge_persons, 1),
}
"""By name: what a try is, and how many groups or tables it has."""


@dataclass(frozen=True)
class Run:
    """What was tried, and how often it failed."""

    what: str
    seed: int
    first: int
    tries: int
    count: int
    failed: int
    seconds: int

    def record(self, file: Path) -> None:
        """Writes the run into a file of runs, in the place of the last of its kind."""
        runs = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        runs[self.what] = {"date": date.today().isoformat(), **asdict(self)}
        file.write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")


def fuzz(what: str, seed: int, seconds: float, count: int | None, first: int = 0) -> Run:
    """Prints every try that fails, with the command that repeats it."""
    judge, size = JUDGES[what]
    began, number, failed = time.monotonic(), first, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while time.monotonic() - began < seconds:
            if count is not None and (number - first) * size >= count:
                break
            wrong = _tried(judge, (seed, number))
            for one in wrong:
                print(f"FAILED: {one}, by {what} --seed {seed} --first {number} --count 1")
            failed += bool(wrong)
            number += 1
    tries = number - first
    spent = round(time.monotonic() - began)
    return Run(what, seed, first, tries, tries * size, failed, spent)


def _tried(judge: Callable[[tuple[int, int]], list[str]], seed: tuple[int, int]) -> list[str]:
    try:
        return judge(seed)
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]
