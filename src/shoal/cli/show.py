"""How the command line speaks: one console for people, progress on the error stream."""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from shoal.groups import Progress

COMPILING = "compiling, once"
"""Said when a first run takes longer than later ones will."""
PROGRESS_FILE = "SHOAL_PROGRESS"
BETWEEN_WRITES = 0.2
"""Seconds between two writes of progress, unless another step begins."""


def emit_json(data: Any) -> None:
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False, default=_plain))


def echo_table(
    rows: Sequence[Sequence[str]], *, headers: Sequence[str] = (), right: Collection[int] = ()
) -> None:
    """Columns side by side, those in `right` flush right: folded to a terminal's width, and each
    row on one line where nobody watches."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=bool(headers), pad_edge=False, padding=(0, 2, 0, 0))
    for place in range(len(rows[0]) if rows else len(headers)):
        table.add_column(
            Text(headers[place]) if headers else "",
            justify="right" if place in right else "left",
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    width = None if sys.stdout.isatty() else 100_000
    console = Console(file=io.StringIO(), width=width, color_system=None)
    with console.capture() as capture:
        console.print(table)
    for line in capture.get().splitlines():
        typer.echo(line.rstrip())


def _plain(value: Any) -> Any:
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{type(value).__name__} is no JSON")


class _WrittenProgress:
    """Progress in a file that others read: the step, done, total, and seconds since this count
    began. A count that goes on under other words is the same count."""

    def __init__(self, path: Path) -> None:
        self._path, self._beside = path, path.with_name(path.name + ".new")
        self._step, self._done, self._total = "", 0, 0
        self._began = self._written = time.monotonic()

    def __call__(self, step: str, done: int, total: int) -> None:
        now = time.monotonic()
        if total != self._total or done < self._done:
            self._began = now
        elif step == self._step and now - self._written < BETWEEN_WRITES:
            return
        self._step, self._done, self._total, self._written = step, done, total, now
        told = {"step": step, "done": done, "total": total, "seconds": now - self._began}
        with suppress(OSError):  # a full disk is no reason to end the work itself
            self._beside.write_text(json.dumps(told, default=_plain), encoding="utf-8")
            self._beside.replace(self._path)


@contextmanager
def progress_bar(*, quiet: bool = False) -> Iterator[Progress]:
    """A bar for anything that takes over a second; says so when kernels are compiled. Where the
    environment names a file in SHOAL_PROGRESS, progress goes there instead."""
    from shoal import compiling
    from shoal.groups import silent

    if file := os.environ.get(PROGRESS_FILE):
        written = _WrittenProgress(Path(file))
        with compiling.telling(lambda: written(COMPILING, 0, 0)):
            yield written
        return
    if quiet or not sys.stderr.isatty():
        with nullcontext() if quiet else compiling.telling(lambda: typer.echo(COMPILING, err=True)):
            yield silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    started = time.monotonic()
    with bar:
        task = bar.add_task("starting", total=None, visible=False)

        def report(step: str, done: int, total: int) -> None:
            seen = time.monotonic() - started > 1.0
            bar.update(task, description=step, completed=done, total=total, visible=seen)

        def tell() -> None:
            bar.update(task, description=COMPILING, visible=True)

        with compiling.telling(tell):
            yield report
