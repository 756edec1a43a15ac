"""`shoal audit`: judge a grouping of a table, or a release that any tool made."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from shoal.cli import options as o
from shoal.cli.report import PublicReportOption, ReportOption, check_reports, write_reports
from shoal.cli.show import emit_json, percent, progress_bar
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.verdict import Audit


@o.with_spec_options
def audit(
    table: o.TableArgument,
    groups: Annotated[
        str | None, typer.Option("--groups", help="The column that labels the groups.")
    ] = None,
    released: Annotated[
        str | None,
        typer.Option("--released", help="A released file; its QI columns define the classes."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option("--key", help="Column that aligns the released file (default: row by row)."),
    ] = None,
    adversary: Annotated[
        Literal["joint", "binary"], typer.Option("--adversary", help="Who judges.")
    ] = "joint",
    rows: Annotated[
        Path | None, typer.Option("--rows", help="Write everybody's worst case to this file.")
    ] = None,
    report: ReportOption = None,
    public_report: PublicReportOption = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the estimates.")] = 0,
    *,
    asked: o.SpecOptions,
    separator: o.SeparatorOption = None,
    encoding: o.EncodingOption = None,
    json: o.JsonOption = False,
) -> None:
    """Say who can be linked to what. Exit code 0: robust, 1: not robust, 2: could not judge."""
    made = asked.make_spec()
    if (groups is None) == (released is None):
        raise InputError(
            "audit-what",
            "Nothing to judge is named." if groups is None else "Two things to judge are named.",
            "Give either --groups COLUMN or --released FILE.",
        )
    if key is not None and released is None:
        raise InputError("key-alone", "--key has nothing to align.", "Use it with --released.")

    check_reports(report, public_report, table=table)

    from shoal.auditor import audit as judge
    from shoal.released import align_column, align_release
    from shoal.sources import read_table, write_table

    frame = read_table(table, separator=separator, encoding=encoding)
    if groups is not None:
        original, grouping = align_column(frame, groups, made)
    else:
        assert released is not None
        other = read_table(released, separator=separator, encoding=encoding)
        original, grouping = align_release(frame, other, made, key=key)
    with progress_bar(quiet=json) as progress:
        labelled = grouping if groups is None else frame[groups]
        result = judge(original, labelled, adversary=adversary, seed=seed, progress=progress)
    if rows is not None:
        write_table(result.frame, rows)
    if report is not None or public_report is not None:
        from shoal.report import Repeat, audit_facts, command_line

        repeat = Repeat(command=command_line(sys.argv[1:]), seed=seed)
        facts = audit_facts(result, original, grouping=grouping, repeat=repeat)
        write_reports(facts, report=report, public_report=public_report)
    if json:
        emit_json(result.to_dict())
    else:
        _show(result, members=original.spec.publish_members)
    raise typer.Exit({True: 0, False: 1, None: 2}[result.robust])


def _show(result: Audit, *, members: bool) -> None:
    limit = percent(1 / result.r)
    word = {True: "ROBUST", False: "NOT ROBUST", None: "COULD NOT JUDGE"}[result.robust]
    say = typer.echo
    say(f"{word}: r = {result.r:g}, so nobody may be linked to an event above {limit}.")
    say(
        f"{result.adversary} adversary, {result.views} views, knowledge: {result.knowledge}"
        + ("; member values as published." if members else ".")
    )
    say("")
    if result.worst is not None:
        worst = result.worst
        person = ", ".join(f"{name} {value}" for name, value in worst.person.items())
        through = " and ".join(worst.view) or "the whole table's distribution"
        say(f"Worst case: row {worst.row} ({person}) in group {worst.group}")
        say(
            f'  linked to "{worst.event}": {percent(worst.before)} before, '
            f"{percent(worst.posterior)} after ({worst.kind}), through {through}."
        )
    for name, value in _figures(result):
        say(f"{name:<38}{value}")
    if result.problematic or result.undecided:
        say("\nThe ten most exposed people:")
        say(f"{'row':>8}  {'group':>8}  {'before':>8}  {'after':>8}  {'':<9} through")
        for line in result.worst_people().iter_rows(named=True):
            say(
                f"{line['row']:>8}  {line['group'][:8]:>8}  {percent(line['before']):>8}  "
                f"{percent(line['posterior']):>8}  {line['kind']:<9} {line['view']}"
            )


def _figures(result: Audit) -> list[tuple[str, str]]:
    share = percent(result.problematic_share)
    counts = ", ".join(f"{count:,} {kind}" for kind, count in result.posteriors.items() if count)
    guess = result.guess_rate
    figures = [
        ("Published rows and groups", f"{result.published:,} in {result.groups:,} groups"),
        (
            "Problematic people",
            f"{result.problematic:,}; {share} of the {result.carriers:,} who carry an event",
        ),
        ("Known above the limit beforehand", f"{result.known_before:,}"),
        (
            "Best guess is right",
            f"{percent(guess.worst)} through {' and '.join(guess.view) or 'no attribute'}",
        ),
        (
            "Average delta",
            f"{result.average_delta:.4f}; in groups with an event "
            f"{result.average_delta_carrying:.4f}, Theorem 1 allows {result.average_bound:.4f}",
        ),
        (
            "Groups that meet Theorem 1",
            f"{result.theorem1_groups:,} of the {result.event_groups:,} with an event",
        ),
        ("Posteriors", counts or "none"),
    ]
    if result.suppressed:
        figures.insert(
            1,
            (
                "Not published",
                f"{result.suppressed:,} rows, {result.suppressed_carriers:,} with an event",
            ),
        )
    if result.undecided:
        figures.append(("Neither safe nor breached for sure", f"{result.undecided:,} people"))
    if result.contradictory:
        figures.append(("Groups that contradict what is known", f"{result.contradictory:,}"))
    return figures
