"""`shoal audit`: judge a grouping of a table, or a release that any tool made."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from shoal.auditing.check_words import before_words, in_full, lines, stratum_words
from shoal.cli import options as o
from shoal.cli.report import check_reports, placed_together, render_reports
from shoal.cli.show import echo_table, emit_json, progress_bar
from shoal.names import ENGINES, Model, OutputFormat, Reading
from shoal.wording import (
    EXIT_CODES,
    adversaries_words,
    exposed_words,
    limit_words,
    verdict_words,
    visible,
)
from shoal.wording import plain_percent as percent

if TYPE_CHECKING:
    from shoal.auditing.models import Models
    from shoal.auditing.verdict import Audit


def audit(
    table: str,
    /,
    groups: str | None = None,
    released: str | None = None,
    releases: list[str] | None = None,
    key: str | None = None,
    adversary: list[str] | None = None,
    rows: Path | None = None,
    model: Model | None = None,
    models: bool = False,
    seed: int = 0,
    engine: str | None = None,
    *,
    asked: o.SpecOptions,
    reading: Reading,
    reports: dict[str, Path],
    json: bool = False,
    output_format: OutputFormat | None = None,
) -> None:
    """Say who can be linked to what. Exit code 0: robust, 1: not robust, 3: could not judge.

    Args:
        releases: Releases of the same people, files or folders, that are judged together.
        rows: Write everybody's worst case to this file.
    """
    if releases:
        from shoal.cli.releases import judge_together

        unused = {"--groups": groups, "--released": released, "--rows": rows, "--models": models}
        unused |= {f"--{name.replace('_', '-')}": file for name, file in reports.items()}
        unused |= {"--engine": engine, "--output-format": output_format}
        code = judge_together(
            table,
            releases,
            asked,
            key=key,
            adversary=adversary,
            model=model,
            seed=seed,
            reading=reading,
            json=json,
            unused=unused,
        )
        raise typer.Exit(code)
    from shoal.api.audit import check_named, published_of
    from shoal.cli.outcomes import CommandRun, chosen_format, of_checks

    machine = chosen_format(output_format, json=json)
    check_named(groups, released, key)
    check_reports(reports, table=table)
    spec = asked.make_spec(released)

    from shoal.api.inputs import described
    from shoal.api.released import is_own
    from shoal.auditing.adversaries.adversary import USUAL
    from shoal.auditing.audit import grouped
    from shoal.data.sources import read_table, write_table

    holds = None
    if engine not in (None, ENGINES[0]):
        holds = o.make_engine(engine, **reading)

    def read(path: str | None) -> Any:
        if path is None or holds is not None or is_own(path):
            return path
        return read_table(path, **reading)

    with progress_bar(quiet=machine is not None) as progress:
        found = published_of(
            read(table),
            described(spec, table, **reading),
            groups=groups,
            released=read(released),
            key=key,
            engine=holds,
            progress=progress,
        )
        original, who = found.table, adversary or USUAL
        result = found.judged(
            None, model, adversary=who, seed=seed, models=models, progress=progress
        )
    pages: dict[Path, str] = {}
    if reports:
        from shoal.release.facts import Repeat, audit_facts
        from shoal.report.public import command_line

        repeat = Repeat(command=command_line(sys.argv[1:]), seed=seed)
        grouping, _, _ = grouped(original, found.groups, found.rows)
        facts = audit_facts(result, original, grouping=grouping, repeat=repeat)
        pages = render_reports(facts, reports)
    with placed_together(pages):
        if rows is not None:
            write_table(result.frame, rows)
    code = EXIT_CODES[result.robust]
    limits = [
        (event.label, float(r)) for event, r in zip(original.events, original.event_r, strict=True)
    ]
    if json:
        emit_json(result.to_dict())
    elif machine is not None:
        outcomes = of_checks(result.checks, in_full(result.findings, result.column))
        CommandRun("audit", released or table, headline(result, limits), outcomes, code).emit(
            machine
        )
    else:
        _show(result, limits, members=original.spec.publish_members)
    raise typer.Exit(code)


def common_r(limits: Sequence[tuple[str, float]]) -> float | None:
    """The r that all events have, by label and r; None where they differ."""
    different = {r for _, r in limits}
    return different.pop() if len(different) == 1 else None


def own_limit(label: str, r: float, limit: str, worst: float | None, *, least: bool) -> str:
    """One event's limit and the largest link to it; `least`: a larger one cannot be excluded."""
    line = f'  "{label}": the limit is {limit_words(percent(1 / r), limit)}, r = {r:g}'
    if worst is None:
        return f"{line}."
    return f"{line}; the largest link{' that was found' if least else ''} is {percent(worst)}."


def show_checks(audit: Audit, more: str = "") -> None:
    """The list of checks, and the strata that two of them tell of most."""
    for line in lines(audit.checks, in_full(audit.findings, audit.column, more=more)):
        typer.echo(line)
    for name, found in (("counting", audit.counter), ("suppression", audit.absence)):
        if found.classes:
            worst = stratum_words(found.classes[0])
            typer.echo(f"The worst stratum of {len(found.classes):,}, by {name}: {worst}.")


def headline(result: Audit, limits: Sequence[tuple[str, float]]) -> str:
    """The verdict, the limit that it is about, and how many checks are open."""
    word, r = verdict_words(result.robust).upper(), common_r(limits)
    states = [one.state for one in result.checks]
    broken, undecided = states.count("broken"), states.count("undecided")
    count, said = (broken, "broken") if broken else (undecided, "not decided")
    checks = f"{count} checks are {said}" if count > 1 else f"1 check is {said}"
    checks = checks if count else "every check is kept"
    if r is None:
        return f"{word}: every event has a limit of its own, and {checks}."
    limit = limit_words(percent(1 / r), result.limit)
    return f"{word} at r = {r:g}: the limit is {limit}, and {checks}."


def _show(result: Audit, limits: Sequence[tuple[str, float]], *, members: bool) -> None:
    say = typer.echo
    views = "1 view" if result.views == 1 else f"{result.views:,} views"
    say(headline(result, limits))
    if common_r(limits) is None:
        for label, own in limits:
            worst = result.worst_by_event.get(label)
            linked = worst.posterior if worst else None
            say(own_limit(label, own, result.limit, linked, least=bool(result.undecided)))
    say(
        f"{adversaries_words(result.adversaries)}, {views}, knowledge: {result.knowledge}"
        + ("; member values as published." if members else ".")
    )
    say("")
    if result.worst is not None:
        worst = result.worst
        person = ", ".join(f"{name} {value}" for name, value in worst.person.items())
        through = " and ".join(worst.view) or "the whole table's distribution"
        row = "" if worst.row is None else f"row {worst.row}, counted from 0 "
        say(f"Worst case: {row}({person}) in group {worst.group}")
        say(
            f'  linked to "{worst.event}" with {percent(worst.posterior)} ({worst.kind}), through '
            f"{through}{before_words(worst)}".replace("\u00a0", " ")
        )
    echo_table(_figures(result))
    show_checks(result)
    for line in result.assumed.sentences:
        say(line)
    if result.problematic or result.undecided:
        shown = result.worst_people()
        say(f"\n{exposed_words(shown.height, result.exposed_like(shown.height))}:")
        people = [
            (
                str(line["row"]),
                visible(line["group"]),
                percent(line["before"]),
                percent(line["posterior"]),
                line["kind"],
                line["view"],
            )
            for line in shown.iter_rows(named=True)
        ]
        headers = ("row", "group", "before", "after", "", "through")
        echo_table(people, headers=headers, right=range(4))
        say("before: by public statistics alone; after: with the release. Rows count from 0.")
    if result.models is not None:
        _show_models(result.models)


def _show_models(models: Models) -> None:
    typer.echo("\nOther models of privacy, and what this release satisfies of them:")
    lines = [
        (one.name, ", ".join(_threshold(*part) for part in one.thresholds.items()), one.meaning)
        for one in models.models
    ]
    echo_table(lines)
    for remark in models.remarks:
        typer.echo(remark)


def _threshold(letter: str, figure: float | None) -> str:
    if figure is None:
        return f"no {letter}"
    return f"{letter} = {figure:,}" if isinstance(figure, int) else f"{letter} = {figure:.4g}"


def _figures(result: Audit) -> list[tuple[str, str]]:
    share = percent(result.problematic_share)
    ways = {"exact": "exactly", "bound": "as upper bounds", "estimate": "as estimates"}
    counts = ", ".join(
        f"{count:,} {ways[kind]}" for kind, count in result.posteriors.items() if count
    )
    guess = result.guess_rate
    figures = [
        ("Published rows and groups", f"{result.published:,} in {result.groups:,} groups"),
        (
            "People above their limit",
            f"{result.problematic:,}, among them {share} of the {result.carriers:,} with a "
            "protected value",
        ),
        (
            "Above it by public statistics",
            f"{result.known_before:,} people, release or none" if result.known_before else "nobody",
        ),
        (
            "Best guess is right",
            f"{percent(guess.worst)} of the time (measured, not guaranteed), through "
            f"{' and '.join(guess.view) or 'no attribute'}",
        ),
        (
            "Spread of chances within a group",
            f"{result.average_delta:.4f} on average (likeliest less least likely member, by public "
            f"statistics); {result.average_delta_carrying:.4f} in groups with an event, where the "
            f"paper's Theorem 1 allows {result.average_bound:.4f}",
        ),
        (
            "Groups within what Theorem 1 allows",
            f"{result.theorem1_groups:,} of the {result.event_groups:,} with an event (the paper's "
            "condition; the verdict does not rest on it)",
        ),
        ("Links computed, by group, view, event", counts or "none: no group has an event"),
    ]
    if result.suppressed:
        figures.insert(
            1,
            (
                "Not published",
                f"{result.suppressed:,} rows, {result.suppressed_carriers:,} with an event",
            ),
        )
    if result.contradictory:
        figures.append(("Groups that contradict what is known", f"{result.contradictory:,}"))
    return figures
