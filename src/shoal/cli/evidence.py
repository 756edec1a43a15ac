"""`shoal evidence` and `shoal decide`: what is kept on a release, and who answers for it."""

from __future__ import annotations

from pathlib import Path

import typer

from shoal.errors import InputError


def evidence(run: Path, /, out: Path | None = None, context: Path | None = None) -> None:
    """Write the assessment of a run's release: what was computed, what people stated, what was
    decided, on one page to print and keep; and the same as JSON beside it.

    Args:
        run: The folder of a run: PROJECT/runs/0001.
        out: The HTML file to write (RUN/evidence.html); the JSON beside it has its name.
        context: TOML file of what people state, which counts before what the project keeps.
    """
    from shoal.workbench.evidence import write_evidence
    from shoal.workbench.project import Context

    said = None if context is None else Context.read(context)
    typer.echo(f"Evidence: {write_evidence(run, out, context=said)}")


def decide(
    run: Path,
    /,
    approve: bool = False,
    refuse: bool = False,
    name: str = "",
    reason: str = "",
    review: str | None = None,
    despite: str = "",
) -> None:
    """Keep a person's decision on a run with it, for its evidence file.

    Args:
        run: The folder of a run: PROJECT/runs/0001.
        approve: It may be published.
        refuse: It may not be published.
        name: Who decides.
        reason: Why.
        review: When to look at it again: 2030-12-31.
        despite: Why it may be published although it is not robust.
    """
    if approve == refuse:
        raise InputError(
            "decision-word",
            "Both decisions are named." if approve else "No decision is named.",
            "Give either --approve or --refuse.",
        )
    from shoal.workbench.project import Project

    chosen = "approved" if approve else "refused"
    Project.of_run(run)[1].decide(chosen, name=name, reason=reason, review=review, despite=despite)
    typer.echo(f"Kept: {chosen}.")
