"""How the command line speaks: one console for people, progress on the error stream."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from shoal.grouping import Progress


def emit_json(data: Any) -> None:
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False, default=_plain))


def _plain(value: Any) -> Any:
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{type(value).__name__} is no JSON")


@contextmanager
def progress_bar(*, quiet: bool = False) -> Iterator[Progress]:
    """A bar for anything that takes over a second; says so when kernels are compiled first."""
    from shoal import compiling
    from shoal.grouping import silent

    if quiet or not sys.stderr.isatty():
        if not quiet and not compiling.is_cached():
            typer.echo("compiling, once", err=True)
        yield silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    first = "" if compiling.is_cached() else "compiling, once"
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
        task = bar.add_task(first or "starting", total=None, visible=bool(first))

        def report(step: str, done: int, total: int) -> None:
            seen = time.monotonic() - started > 1.0
            bar.update(task, description=step, completed=done, total=total, visible=seen)

        yield report
