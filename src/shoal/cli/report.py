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
    from shoal.report.page import Edition

EDITIONS: dict[str, Edition] = {"report": "internal", "public_report": "public"}
"""By the options that ask for them."""


def report(run: Path, /, private: Path | None = None, *, reports: dict[str, Path]) -> None:
    """Render the report of a release again, in either edition, from its private folder.

    Args:
        run: The folder of a release.
        private: Its private folder (default RUN-private).
    """
    if not reports:
        raise InputError(
            "report-nowhere",
            "No file for the report is named.",
            "Give --report FILE, --public-report FILE, or both.",
        )
    check_reports(reports)

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
    with placed_together(render_reports(facts, reports)):
        pass
    for path in reports.values():
        typer.echo(f"Report: {path}")


def check_reports(
    reports: Mapping[str, Path], *, table: str | None = None, replaced: Sequence[Path] = ()
) -> None:
    """Before a long run: an InputError if a report could not be made, would hit the input, or
    would lie in a folder that the run replaces."""
    if len({path.resolve() for path in reports.values()}) < len(reports):
        raise InputError(
            "report-twice", "Both editions have the same file.", "Name a file for each."
        )
    from shoal.data.storage import refuse_overlap

    for path in reports.values():
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


def render_reports(facts: Facts, reports: Mapping[str, Path]) -> dict[Path, str]:
    """The editions that were asked for, each by the file that it is for."""
    from shoal.report.page import render

    return {path: render(facts, edition=EDITIONS[name]) for name, path in reports.items()}


@contextmanager
def placed_together(pages: Mapping[Path, str]) -> Iterator[None]:
    """Writes pages beside their places; they are moved there once the body has succeeded."""
    from shoal.data.storage import replace_file

    with ExitStack() as stack:
        for path, html in pages.items():
            stack.enter_context(replace_file(path)).write_text(html, encoding="utf-8")
        yield
