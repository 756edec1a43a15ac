"""`shoal report`: render a release's report again. Also the report options of other commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.report import Facts

ReportOption = Annotated[
    Path | None,
    typer.Option(
        "--report", help="Write an HTML report, internal edition with rows, to this file."
    ),
]
PublicReportOption = Annotated[
    Path | None,
    typer.Option("--public-report", help="Write the edition that may be published to this file."),
]


def report(
    run: Annotated[Path, typer.Argument(help="The folder of a release.")],
    private: Annotated[
        Path | None, typer.Option("--private", help="Its private folder (default RUN-private).")
    ] = None,
    report: ReportOption = None,
    public_report: PublicReportOption = None,
) -> None:
    """Render the report of a release again, in either edition, from its private folder."""
    if report is None and public_report is None:
        raise InputError(
            "report-nowhere",
            "No file for the report is named.",
            "Give --report FILE, --public-report FILE, or both.",
        )
    check_reports(report, public_report)

    from shoal.release.folder import read_certificate
    from shoal.report import certificate_digest, load_facts

    inside = private or run.with_name(run.name + "-private")
    certificate = read_certificate(run)
    facts = load_facts(inside)
    if facts.certificate != certificate_digest(certificate):
        raise InputError(
            "report-other",
            f'"{inside}" belongs to another release than "{run}".',
            "Name the private folder that was written with this release.",
        )
    write_reports(facts, report=report, public_report=public_report)
    for path in (report, public_report):
        if path is not None:
            typer.echo(f"Report: {path}")


def check_reports(*paths: Path | None, table: str | None = None) -> None:
    """Before a long run: an InputError if a report could not be made, or would hit the input."""
    wanted = [path for path in paths if path is not None]
    if not wanted:
        return
    if len({path.resolve() for path in wanted}) < len(wanted):
        raise InputError(
            "report-twice", "Both editions have the same file.", "Name a file for each."
        )
    from shoal.report import require_packages
    from shoal.sources import refuse_overlap

    require_packages()
    for path in wanted:
        if path.is_dir():
            raise InputError("output-folder", f'"{path}" is a folder.', "Name a file.")
        if not path.resolve().parent.is_dir():
            parent = path.resolve().parent
            raise InputError(
                "output-parent", f'There is no folder "{parent}" to write to.', "Make it first."
            )
        if table is not None:
            refuse_overlap(path, table)


def write_reports(facts: Facts, *, report: Path | None, public_report: Path | None) -> None:
    """Writes the editions that were asked for."""
    from shoal.report import render, write

    if report is not None:
        write(render(facts, edition="internal"), report)
    if public_report is not None:
        write(render(facts, edition="public"), public_report)
