"""`shoal experiment`: a study of methods over a factor, its figures and its page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.show import progress_bar
from shoal.errors import InputError


def experiment(
    what: Annotated[
        str,
        typer.Argument(help="paper (all studies), one study's name, a .toml file, or page."),
    ],
    results: Annotated[
        Path | None, typer.Argument(help="For page: the folder or CSV file of a run.")
    ] = None,
    data: Annotated[Path | None, typer.Option("--data", help="The table to study.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder of the run; for page: the file to write.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer values and queries.")] = False,
    repeat: Annotated[int, typer.Option("--repeat", help="Runs per cell, seeds counting up.")] = 1,
    seed: Annotated[int, typer.Option("--seed", help="First seed.")] = 0,
) -> None:
    """Repeat the paper's experiments, or your own. A stopped run goes on where it was."""
    if out is None:
        raise InputError("out-missing", "Nothing says where to write.", "Add --out.")
    if what == "page":
        if results is None:
            raise InputError(
                "results-missing", "No results are named.", "Name the folder of a run."
            )
        from shoal.experiments.page import write_page
        from shoal.experiments.results import Results

        for path in write_page(Results.load(results), out):
            typer.echo(path)
        return
    if results is not None:
        raise InputError(
            "argument-extra", f'"{results}" is not understood.', "Only page takes results."
        )
    if data is None:
        raise InputError("data-missing", "No table is named.", "Add --data FILE.")
    if repeat < 1:
        raise InputError("whole-number", f"repeat is {repeat}.", "Give at least 1.")

    from shoal.experiments.figures import draw
    from shoal.experiments.results import collect
    from shoal.experiments.run import run
    from shoal.experiments.study import read_studies
    from shoal.planning.comparison.machine import machine_note

    studies = read_studies(what, quick=quick)
    with progress_bar() as progress:
        lines = run(
            studies,
            data,
            out,
            repeat=repeat,
            seed=seed,
            say=lambda text: typer.echo(text, err=True),
            progress=progress,
        )
    shown = f"shoal experiment {Path(what).name} --data {data.name} --repeat {repeat} --seed {seed}"
    command = shown + (" --quick" if quick else "")
    collected = collect(lines, studies, command=command, machine=machine_note())
    collected.save(out)
    for path in draw(collected, out / "figures"):
        typer.echo(path)
