"""The runner: measures every cell that is not yet done, one line of results for each.

A line is written as soon as its cell is finished, so that a run can be stopped at any time and
goes on where it was. Cells that share a release are measured together.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import polars as pl

from shoal.data import datasets
from shoal.data.sources import read_table
from shoal.data.table import Table
from shoal.data.table.hierarchy import Hierarchy, adult_hierarchies, read_hierarchy
from shoal.errors import InputError
from shoal.knowledge import Knowledge
from shoal.planning.comparison.trial import RISKS, Trial, equip, warm_up
from shoal.planning.plan import coverage_bound
from studies.study import Cell, Study

CELLS = "cells.jsonl"
Say = Callable[[str], None]

# Seconds per cell on two cores with Adult and 5 QIs: the first guess of how long a run takes.
GUESS = {"art": 12.0, "t-closeness": 22.0}
GUESS_ROWS = 45_222


def fingerprint(frame: pl.DataFrame) -> str:
    """A short name for the content of a table."""
    digest = hashlib.sha256(json.dumps([frame.columns, frame.height]).encode())
    digest.update(frame.hash_rows(seed=0).to_numpy().tobytes())
    return digest.hexdigest()[:16]


def run(
    studies: Sequence[Study],
    data: Path,
    out: Path,
    *,
    repeat: int = 1,
    seed: int = 0,
    say: Say = lambda text: None,
) -> list[dict[str, Any]]:
    """Measures all cells of the studies; returns their lines, in the studies' order."""
    out.mkdir(parents=True, exist_ok=True)
    lines: list[dict[str, Any]] = []
    for adult, some in groupby(studies, key=lambda study: study.adult):
        group = list(some)
        frame = (datasets.adult if adult else read_table)(data)
        name = fingerprint(frame)
        cells = [cell for study in group for cell in study.cells(repeat=repeat, seed=seed)]
        trees = _hierarchies(group, adult=adult)
        done = _finished(out / CELLS)
        left = [cell for cell in cells if cell.key(name) not in done]
        say(
            f"{len(cells)} cells, {len(cells) - len(left)} of them done; "
            f"about {_minutes(_guess(left, frame.height))} to go on two cores."
        )
        _measure_all(left, frame, name, trees, out / CELLS, say)
        done = _finished(out / CELLS)
        lines += [_line(cell, done[cell.key(name)]) for cell in cells]
    return lines


def _measure_all(
    cells: Sequence[Cell],
    frame: pl.DataFrame,
    data: str,
    trees: Mapping[str, Hierarchy],
    path: Path,
    say: Say,
) -> None:
    by_release: dict[str, list[Cell]] = {}
    for cell in cells:
        by_release.setdefault(cell.release_key(), []).append(cell)
    started, finished, spent = time.monotonic(), 0, 0.0
    expected = _guess(cells, frame.height)
    with path.open("a", encoding="utf-8") as file:
        for together in by_release.values():
            measured = {
                cell.key(data): measures for cell, measures in _measure(together, frame, trees)
            }
            for key, measures in measured.items():
                file.write(json.dumps({"key": key, "measures": measures}) + "\n")
            file.flush()
            finished += len(together)
            spent += _guess(together, frame.height)
            rate = (time.monotonic() - started) / max(spent, 1e-9)
            first = together[0]
            say(
                f"[{finished}/{len(cells)}] {first.entry.name}, {first.factor} {first.value:g}"
                f" ({first.study}); about {_minutes(max(0.0, expected - spent) * rate)} left"
            )


def _measure(
    cells: Sequence[Cell], frame: pl.DataFrame, trees: Mapping[str, Hierarchy]
) -> Iterator[tuple[Cell, dict[str, Any]]]:
    """Runs the method once and measures its release for each cell."""
    first = cells[0]
    table = Table.from_frame(frame, first.spec)
    knowledge = Knowledge.of(table)
    method = equip(first.entry.method, first.entry.parameters, trees)
    try:
        warm_up(table, [method])
        trial = Trial.run(table, method, seed=first.seed)
    except InputError as error:
        for cell in cells:
            yield cell, {"failed": str(error)}
        return
    losses = trial.losses()
    risks: dict[str, dict[str, Any]] = {}
    # What one carrier per group could protect from the binary adversary: against the joint one
    # it is a yardstick, not a bound.
    coverage = 0
    if any(cell.coverage for cell in cells):
        coverage = sum(
            coverage_bound(table, knowledge, event, float(table.event_r[event]))
            for event in range(len(table.events))
        )
    for cell in cells:
        measures = {"min_support": table.min_support, **losses}
        for adversary in cell.adversaries:
            if adversary not in risks:
                risks[adversary] = _risks(trial, knowledge, adversary, cell.seed)
            prefix = "" if adversary == "joint" else f"{adversary}_"
            measures |= {f"{prefix}{name}": value for name, value in risks[adversary].items()}
        measures |= trial.errors(cell.workload)
        if cell.coverage:
            measures["coverage_bound"] = coverage
        yield cell, measures


def _risks(trial: Trial, knowledge: Knowledge, adversary: Any, seed: int) -> dict[str, Any]:
    try:
        return trial.risks(knowledge, adversary=adversary, seed=seed)
    except InputError as error:
        return {**dict.fromkeys(RISKS), "unjudged": str(error)}


def _line(cell: Cell, measures: Mapping[str, Any]) -> dict[str, Any]:
    line = {
        "study": cell.study,
        "factor": cell.factor,
        "value": float(cell.value),
        "method": cell.entry.name,
        "seed": cell.seed,
        "qi": len(cell.spec.qi),
        "r": float(cell.spec.r),
        "min_support": cell.spec.min_support,
        "qd": cell.workload.dimensions or len(cell.spec.qi),
        "s": cell.workload.selectivity,
        "queries": cell.workload.queries,
        **measures,
    }
    carriers = measures.get("with_event")
    if carriers:
        line["suppressed_share"] = measures["suppressed_with_event"] / carriers
        if "coverage_bound" in measures:
            line["coverage_lost"] = 1 - measures["coverage_bound"] / carriers
    return line


def _finished(path: Path) -> dict[str, dict[str, Any]]:
    """Measures by key; a line cut off by a crash is no line."""
    finished: dict[str, dict[str, Any]] = {}
    if path.is_file():
        for text in path.read_text(encoding="utf-8").splitlines():
            try:
                line = json.loads(text)
                finished[line["key"]] = line["measures"]
            except (ValueError, KeyError, TypeError):
                continue
    return finished


def _hierarchies(studies: Sequence[Study], *, adult: bool) -> dict[str, Hierarchy]:
    trees = adult_hierarchies() if adult else {}
    for study in studies:
        for name, path in study.hierarchies.items():
            trees[name] = read_hierarchy(path, name=name)
    return trees


def _guess(cells: Sequence[Cell], rows: int) -> float:
    """A first guess in seconds; it is corrected by what finished cells really took."""
    releases = {cell.release_key(): cell for cell in cells}
    total = 1.5 * len(cells)
    for cell in releases.values():
        growth = 2.0 ** (len(cell.spec.qi) - 5) if cell.entry.method == "art" else 1.0
        if cell.entry.parameters.get("condition") == "bound":
            growth *= 5.0
        total += GUESS.get(cell.entry.method, 1.0) * growth
    return total * max(0.02, rows / GUESS_ROWS)


def _minutes(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min"
