"""`shoal find`: settings that hold, each of them run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from shoal.cli import options as o
from shoal.cli.show import echo_table, emit_json, progress_bar
from shoal.names import Reading
from shoal.wording import percent

if TYPE_CHECKING:
    from shoal.planning.comparison.finding import Found, Tried

WIDTH = 680
"""Of the picture, in pixels."""


def find(
    table: str,
    /,
    seconds: float = 60.0,
    write: Path | None = None,
    out: Path | None = None,
    picture: Path | None = None,
    hierarchy: list[str] | None = None,
    importance: list[str] | None = None,
    force: bool = False,
    engine: str | None = None,
    *,
    asked: o.SpecOptions,
    reading: Reading,
    json: bool = False,
) -> None:
    """Try what was asked and settings near it, and show what came of each, best first. Exit code 0:
    a setting holds; 1: none of those that were run; 2: refused.

    Args:
        write: Write the spec of the best setting here.
        out: Keep what was tried here as JSON, renewed after each run.
        picture: Draw risk against error: a file .svg, .png or .html.
        force: Replace existing files.
    """
    o.refuse_existing(write, out, picture, force=force)
    from shoal.report.charts.stored import chart_ending, save_chart

    if picture is not None:
        chart_ending(picture)
    spec = asked.make_spec()
    from shoal.api.find import find as run
    from shoal.data.storage import refuse_overlap, replace_file
    from shoal.display import counted
    from shoal.release.stated import as_json
    from shoal.report.charts.found import found_chart

    for file in (write, out, picture):
        if file is not None:
            refuse_overlap(file, table)

    def keep(so_far: Found) -> None:
        if out is not None:
            with replace_file(out) as new:
                new.write_text(as_json(so_far.to_dict()), encoding="utf-8")

    with progress_bar(quiet=json) as progress:
        found = run(
            table,
            spec,
            seconds=seconds,
            hierarchies=o.files_by_name(hierarchy),
            importance=o.numbers_by_name(importance),
            engine=o.make_engine(engine, **reading),
            progress=progress,
            told=keep,
        )
    keep(found)
    best = found.recommended
    if write is not None and best is not None:
        with replace_file(write) as new:
            new.write_text(best.spec.to_toml(), encoding="utf-8")
    if picture is not None and found.holding:
        drawn = found_chart([vars(one) | {"words": one.words} for one in found.tried])
        save_chart(drawn | {"width": WIDTH, "background": "white"}, picture)
    if json:
        emit_json(found.to_dict())
        raise typer.Exit(0 if best else 1)
    say = typer.echo
    if found.obstacle:
        say(found.obstacle)
    else:
        say(
            f"Run in {found.seconds:.0f} s: {counted(len(found.tried), 'setting')}, of which "
            f"{len(found.holding)} hold; best first."
        )
        heads = ("setting", "verdict", "suppressed", "error on cases", "detail lost", "seconds")
        echo_table([_line(one) for one in found.tried], headers=heads, right=(2, 3, 4, 5))
    if any("min_support" in one.words for one in found.tried):
        say("A larger min_support assumes a less informed adversary; nobody is protected better.")
    if best is not None:
        say(f"Best: {best.words}. It held in {'two runs' if best.runs > 1 else 'one run'}.")
        say(f"Wrote {write}." if write else "--write spec.toml writes its spec.")
    raise typer.Exit(0 if best else 1)


def _line(one: Tried) -> tuple[str, ...]:
    return (
        one.words,
        one.verdict,
        "" if one.suppressed is None else f"{one.suppressed:,}",
        "" if one.error is None else percent(one.error),
        percent(one.detail_lost),
        f"{one.seconds:.1f}",
    )
