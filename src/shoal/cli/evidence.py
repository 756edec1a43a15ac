"""`shoal evidence` and `shoal decide`: what is kept on a release, and who answers for it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.errors import InputError

RunArgument = Annotated[Path, typer.Argument(help="The folder of a run: PROJECT/runs/0001.")]


def evidence(
    run: RunArgument,
    out: Annotated[
        Path | None, typer.Option("--out", help="The HTML file to write (RUN/evidence.html).")
    ] = None,
) -> None:
    """Write the evidence file of a run: what was computed, what a person stated, what was decided,
    on one page to print and keep."""
    from shoal.workbench.evidence import write_evidence

    typer.echo(f"Evidence: {write_evidence(run, out)}")


def decide(
    run: RunArgument,
    approve: Annotated[bool, typer.Option("--approve", help="It may be published.")] = False,
    refuse: Annotated[bool, typer.Option("--refuse", help="It may not be published.")] = False,
    name: Annotated[str, typer.Option("--name", help="Who decides.")] = "",
    reason: Annotated[str, typer.Option("--reason", help="Why.")] = "",
    review: Annotated[
        str | None, typer.Option("--review", help="When to look at it again: 2030-12-31.")
    ] = None,
) -> None:
    """Keep a person's decision on a run with it, for its evidence file."""
    if approve == refuse:
        raise InputError(
            "decision-word",
            "Both decisions are named." if approve else "No decision is named.",
            "Give either --approve or --refuse.",
        )
    from shoal.workbench.project import Project

    chosen = "approved" if approve else "refused"
    Project.of_run(run)[1].decide(chosen, name=name, reason=reason, review=review)
    typer.echo(f"Kept: {chosen}.")
