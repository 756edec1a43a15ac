"""`shoal report`: render a release's report again. Also the report options of other commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.release.facts import Facts


def report(
    run: Path,
    /,
    private: Path | None = None,
    report: Path | None = None,
    public_report: Path | None = None,
) -> None:
    """Render the report of a release again, in either edition, from its private folder.

    Args:
        run: The folder of a release.
        private: Its private folder (default RUN-private).
    """
    if report is None and public_report is None:
        raise InputError(
            "report-nowhere",
            "No file for the report is named.",
            "Give --report FILE, --public-report FILE, or both.",
        )
    check_reports(report, public_report)

    from shoal.release.facts import certificate_digest, load_facts
    from shoal.release.folder import private_folder
    from shoal.release.pair import refuse_strangers
    from shoal.release.stated import read_certificate

    inside = private_folder(run, private)
    certificate = read_certificate(run)
    facts = load_facts(inside)
    if facts.certificate != certificate_digest(certificate):
        raise InputError(
            "report-other",
            f'"{inside}" belongs to another release than "{run}".',
            "Name the private folder that was written with this release.",
        )
    refuse_strangers(run, inside)
    pages = render_reports(facts, report=report, public_report=public_report)
    with placed_together(pages):
        pass
    for path in pages:
        typer.echo(f"Report: {path}")


def check_reports(
    *paths: Path | None, table: str | None = None, replaced: Sequence[Path] = ()
) -> None:
    """Before a long run: an InputError if a report could not be made, would hit the input, or
    would lie in a folder that the run replaces."""
    wanted = [path for path in paths if path is not None]
    if not wanted:
        return
    if len({path.resolve() for path in wanted}) < len(wanted):
        raise InputError(
            "report-twice", "Both editions have the same file.", "Name a file for each."
        )
    from shoal.data.storage import refuse_overlap

    for path in wanted:
        if path.is_dir():
            raise InputError("output-place", f'"{path}" is a folder.', "Name a file.")
        if not path.resolve().parent.is_dir():
            parent = path.resolve().parent
            raise InputError(
                "output-place", f'There is no folder "{parent}" to write to.', "Make it first."
            )
        if table is not None:
            refuse_overlap(path, table)
        for folder in replaced:
            if path.resolve().is_relative_to(folder.resolve()):
                raise InputError(
                    "report-inside",
                    f'The report "{path}" would lie in "{folder}", which this run replaces.',
                    "Name a file elsewhere.",
                )


def render_reports(
    facts: Facts, *, report: Path | None, public_report: Path | None
) -> dict[Path, str]:
    """The editions that were asked for, each with the file that it is for."""
    from shoal.report.page import render

    pages = {}
    if report is not None:
        pages[report] = render(facts, edition="internal")
    if public_report is not None:
        pages[public_report] = render(facts, edition="public")
    return pages


@contextmanager
def placed_together(pages: Mapping[Path, str]) -> Iterator[None]:
    """Writes pages beside their places; they are moved there once the body has succeeded."""
    from shoal.data.storage import replace_file

    with ExitStack() as stack:
        for path, html in pages.items():
            stack.enter_context(replace_file(path)).write_text(html, encoding="utf-8")
        yield
