"""`shoal count`: count a table's cells where its rows are."""

from __future__ import annotations

from pathlib import Path

import typer

from shoal.cli import options as o
from shoal.cli.show import emit_json, progress_bar
from shoal.names import Reading


def count(
    table: str,
    /,
    out: Path,
    engine: str | None = None,
    force: bool = False,
    *,
    asked: o.SpecOptions,
    reading: Reading,
    json: bool = False,
) -> None:
    """Count how many rows have which values of the spec's columns. The other commands take the file
    for the table; nothing else has to travel. Exit code 0: made; 2: not made.

    Args:
        force: Replace an existing file.
    """
    spec = asked.make_spec()
    o.refuse_existing(out, force=force)
    from shoal.api.count import count as make

    with progress_bar(quiet=json) as progress:
        chosen = o.make_engine(engine, **reading)
        cells = make(table, spec, out, engine=chosen, progress=progress)
    columns = cells.columns[:-1]
    rows, alone = int(cells[cells.columns[-1]].sum()), int((cells[cells.columns[-1]] == 1).sum())
    if json:
        emit_json({"rows": rows, "cells": cells.height, "alone": alone, "columns": columns})
        return
    typer.echo(f"{rows:,} rows in {cells.height:,} cells of {', '.join(columns)}: {out}")
    typer.echo(
        f"{alone:,} people are alone in their cell: the file is as private as the table itself."
    )
