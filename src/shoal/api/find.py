"""find: settings that hold for a table, each of them run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from shoal.api.inputs import Known, spec_of, table_of
from shoal.data.spec import Spec
from shoal.data.table.hierarchy import read_hierarchy
from shoal.engines import Engine
from shoal.errors import InputError
from shoal.groups import Progress, silent
from shoal.planning.comparison.finding import Found
from shoal.planning.comparison.finding import find as find_in

LEAST, MOST = 0.01, 100.0
"""Of an importance."""


def find(
    data: Any,
    spec: Spec | None = None,
    *,
    seconds: float = 60.0,
    hierarchies: Mapping[str, str | Path] | None = None,
    importance: Mapping[str, float] | None = None,
    knowledge: str | Path | None = None,
    engine: Engine | None = None,
    seed: int = 0,
    progress: Progress = silent,
    told: Callable[[Found], None] | None = None,
) -> Found:
    """Tries what was asked of a table and settings near it, and says what came of each.

    Tried are fewer or coarser columns, a smaller r, `limit="prior"`, a larger min_support. Each is
    anonymized and judged by the usual adversaries, on the counted cells; the best that holds is run
    with a second seed.

    Args:
        data: A frame, the path or URL of a table, or a Table.
        spec: What is asked; a Table has its own.
        seconds: How long settings are tried; what still runs then is stopped.
        hierarchies: Files by QI, along which it may be made coarser.
        importance: Numbers by QI, from 0.01 to 100 (1 unless given): how much its detail counts.
            The less important are dropped and made coarser first.
        knowledge: A file of what outsiders know, in place of what the spec says.
        engine: Who counts the rows; Polars on this machine unless given.
        seed: Seed of the runs.
        progress: Called with a step's name, how much of it is done, and of how much.
        told: Called after each run with what came of all so far.

    Returns:
        The settings that were run, best first, and which of them is recommended.

    Raises:
        InputError: The table, the spec, a hierarchy or the time is wrong.

    >>> import shoal
    >>> hospital = shoal.datasets.hospital(2000, seed=0)
    >>> spec = shoal.Spec(
    ...     qi=["sex", "region"], sensitive="diagnosis", protect=[["HIV", "Schizophrenia"]], r=5
    ... )
    >>> shoal.find(hospital, spec).recommended.words
    'as asked'
    """
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < 1e6:
        raise InputError("find-seconds", f"seconds is {seconds!r}.", "Give a positive number.")
    known: Known = knowledge
    asked = spec_of(data, spec, knowledge=known, engine=engine)
    for name in hierarchies or ():
        if name not in asked.qi:
            raise InputError(
                "hierarchy-column",
                f'"{name}" has a hierarchy and is no QI.',
                f"QIs: {', '.join(asked.qi)}.",
            )
    check_importance(importance or {}, asked)
    trees = {
        name: (str(file), read_hierarchy(file, name=name))
        for name, file in (hierarchies or {}).items()
    }
    table = table_of(data, spec, knowledge=known, engine=engine, publish=True, progress=progress)
    return find_in(
        table,
        asked,
        seconds=float(seconds),
        hierarchies=trees,
        importance=importance,
        seed=seed,
        progress=progress,
        told=told,
    )


def check_importance(importance: Mapping[str, Any], spec: Spec) -> dict[str, float]:
    """How important QIs are; an InputError for what is no importance, or of no QI."""
    for name, one in importance.items():
        wrong = isinstance(one, bool) or not isinstance(one, int | float)
        if wrong or not LEAST <= one <= MOST:
            raise InputError(
                "find-importance",
                f'The importance of "{name}" is {one!r}.',
                f"Give a number from {LEAST:g} to {MOST:g}.",
            )
        if name not in spec.qi:
            raise InputError(
                "find-importance",
                f'"{name}" has an importance and is no QI.',
                f"QIs: {', '.join(spec.qi)}.",
            )
    return dict(importance)
