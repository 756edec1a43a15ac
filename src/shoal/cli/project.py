"""`shoal state` and `shoal runs`: what a project's folder holds besides its table and its spec."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.show import echo_table, emit_json
from shoal.errors import InputError

VERDICTS = {True: "robust", False: "not robust", None: "no verdict"}
CHECKS = {True: ", verified", False: ", refuted", None: ""}


def state(project: Path = Path(), /, *, stated: dict[str, str]) -> None:
    """Keep what only a person can say of a release, for its evidence file. What is not named
    stays as it is; an empty text takes it back.

    Args:
        project: The project's folder.
    """
    from shoal.workbench.project import Project

    kept = Project.open(project, create=project.is_dir())  # a folder's name mistyped makes none
    kept.state(**stated)
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


# `shoal evidence` and `shoal decide`: what is kept on a release, and who answers for it.


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


# `shoal workbench`: make, judge and decide a release in the browser.


def workbench(
    project: Path = Path(),
    /,
    port: Annotated[
        int, typer.Option("--port", help="The port on 127.0.0.1 (0: any).", min=0, max=65535)
    ] = 0,
    no_browser: bool = False,
    upload_limit: str = "10GB",
) -> None:
    """Open a project in the browser, on this machine alone. The address works once.

    Args:
        project: The project's folder; it is made if there is none.
        no_browser: Only print the address.
        upload_limit: How large a dropped file may be, such as 2GB.
    """
    from shoal.errors import missing_extra
    from shoal.memory import parse_size

    try:
        from shoal.workbench.server import serve
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn", "python_multipart"):
            raise
        raise missing_extra("The workbench", error.name.replace("_", "-")) from None

    def tell(address: str) -> None:
        typer.echo(f"Open {address}")
        typer.echo("It works once, in one browser on this machine. Ctrl-C ends the workbench.")

    serve(
        project, port=port, browser=not no_browser, upload_limit=parse_size(upload_limit), tell=tell
    )
