"""`shoal state` and `shoal runs`: what a project's folder holds besides its table and its spec."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from shoal.cli.show import echo_table, emit_json

VERDICTS = {True: "robust", False: "not robust", None: "no verdict"}
CHECKS = {True: ", verified", False: ", refuted", None: ""}


def state(
    project: Path = Path(),
    /,
    purpose: str | None = None,
    recipient: str | None = None,
    release_model: str | None = None,
    reviewer: str | None = None,
) -> None:
    """Keep what only a person can say of a release, for its evidence file. What is not named
    stays as it is; an empty text takes it back.

    Args:
        project: The project's folder.
        purpose: What the release is for.
        recipient: Who gets it.
        release_model: How it is given: public, named recipients, controlled access ...
        reviewer: Who decides on it.
    """
    from shoal.workbench.project import Project

    given = {
        "purpose": purpose,
        "recipient": recipient,
        "release_model": release_model,
        "reviewer": reviewer,
    }
    kept = Project.open(project, create=project.is_dir())  # a folder's name mistyped makes none
    kept.state(**{name: text for name, text in given.items() if text is not None})
    for name, text in kept.statement.items():
        typer.echo(f"{name.replace('_', ' ')}: {text}")


def runs(project: Path = Path(), /, json: bool = False) -> None:
    """List a project's runs: what was asked for, and what came of it.

    Args:
        project: The project's folder.
    """
    from shoal.workbench.project import Project, summary

    found = [summary(run) for run in Project.open(project).runs()]
    if json:
        emit_json(found)
    elif not found:
        typer.echo("There are no runs yet.")
    else:
        echo_table(
            [_row(one) for one in found],
            headers=("run", "", "state", "method", "r", "verdict", "decision"),
        )


def _row(one: dict[str, Any]) -> list[str]:
    from shoal.wording import visible

    judged = VERDICTS[one["robust"]] + CHECKS[one["confirmed"]] if one["judged"] else ""
    only_checked = "" if one["judged"] else CHECKS[one["confirmed"]].removeprefix(", ")
    return [
        one["run"],
        f"{one['kind']} {visible(one['title'])}".strip(),
        one["state"],
        one["method"] or "",
        "" if one["r"] is None else f"{one['r']:g}",
        judged or only_checked,
        (one["decision"] or {}).get("decision", ""),
    ]
