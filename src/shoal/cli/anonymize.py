"""`shoal anonymize`: make a release, with its certificate."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from shoal.auditing.check_words import known_words, remedy
from shoal.cli import options as o
from shoal.cli.audit import (
    common_r,
    headline,
    own_limit,
    show_checks,
)
from shoal.cli.report import check_reports, placed_together, render_reports
from shoal.cli.show import emit_json, progress_bar
from shoal.cli.warm import helped
from shoal.methods.registry import parameters_of
from shoal.names import Model, Reading
from shoal.plain import plain
from shoal.wording import (
    EXIT_CODES,
    lines_of,
    pooled_words,
    seed_words,
    weights_words,
    written_words,
)
from shoal.wording import plain_percent as percent

if TYPE_CHECKING:
    from shoal.auditing.verdict import Audit
    from shoal.release import Release
    from shoal.release.facts import Facts


def anonymize(
    table: str,
    /,
    out: Path,
    method: str = "art",
    hierarchy: list[str] | None = None,
    format: Literal["csv", "parquet", "sav", "dta"] = "csv",
    private: str | None = None,
    engine: str | None = None,
    force: bool = False,
    write_anyway: bool = False,
    adversary: list[str] | None = None,
    model: Model | None = None,
    after: Path | None = None,
    ledger: bool = False,
    key: str | None = None,
    alone: bool = False,
    seed: int | None = None,
    *,
    tuned: dict[str, Any],
    asked: o.SpecOptions,
    reading: Reading,
    reports: dict[str, Path],
    json: bool = False,
) -> None:
    """Make a release folder. Exit code 0: robust, and written; 1: not robust; 3: could not judge;
    2: refused. Nothing is written but a robust release, unless --write-anyway says so.

    Args:
        out: The release folder to make.
        hierarchy: A QI's hierarchy file, for methods that generalize: age=age.csv.
        format: Format of the tables; sav is that of SPSS, dta that of Stata.
        private: Folder for what must stay inside (default OUT-private). cells, or cells:FOLDER,
            keeps who is in which group by cell, not by row.
        force: Replace existing folders.
        write_anyway: Write a release that is not shown to be robust too.
        alone: Write it beside a release of the same people that it does not follow: only one of
            them will be published, or they are other people.
    """
    if "k" in asked and "k" in {one.name for one in parameters_of(method)}:
        tuned |= {"k": asked.pop("k")}
    spec = asked.make_spec()
    record, inside = _private(private, out)
    o.refuse_existing(out, inside, force=force, what="folder")
    check_reports(reports, table=table, replaced=(out, inside))

    from shoal.api.anonymize import anonymize as run
    from shoal.auditing.adversaries.adversary import USUAL
    from shoal.cli.beside import earlier_releases
    from shoal.data.storage import refuse_overlap
    from shoal.release.facts import Repeat, release_facts
    from shoal.report.public import command_line

    for folder in (out, inside):
        refuse_overlap(folder, table)
    hierarchies = o.read_hierarchies(hierarchy, qi=spec.qi)
    parameters = tuned | ({"hierarchies": hierarchies} if hierarchies else {})
    with helped(), progress_bar(quiet=json) as progress:
        release = run(
            table,
            spec,
            engine=o.make_engine(engine, **reading),
            method=method,
            model=model,
            adversary=adversary or USUAL,
            after=after,
            ledger=ledger,
            key=key,
            beside=() if alone else earlier_releases(out, inside),
            seed=seed,
            progress=progress,
            **parameters,
        )
    audit = release.made.audit
    written, facts = release.robust is True or write_anyway, None
    if written:
        repeat = Repeat(command_line(sys.argv[1:]), seed)
        measured = json or bool(reports)
        facts = release_facts(release, release.made.table, repeat=repeat, queries=measured)
        with placed_together(render_reports(facts, reports)):
            release.save(
                out,
                format=format,
                force=force,
                private=inside,
                record=record,
                facts=facts,
                alone=alone,
            )
    if json:
        errors = None if facts is None or facts.queries is None else facts.queries.lines
        emit_json(_figures(release, audit) | {"errors": plain(errors), "written": written})
    else:
        _show(release, audit, facts)
        if release.ledger is not None and after is not None:
            typer.echo(release.ledger.words)
        if written:
            typer.echo(f"Release: {out}   to keep inside: {inside}")
            if seed is not None:
                typer.echo(seed_words(seed))
    if release.robust is not True:
        where = str(out) if written else None
        typer.echo(written_words(release.robust, where, remedy(audit.checks)), err=json)
    raise typer.Exit(EXIT_CODES[release.robust])


def _private(given: str | None, out: Path) -> tuple[Literal["cells"] | None, Path]:
    """By what the private record is kept, if that is said, and in which folder."""
    kind, _, folder = (given or "").partition(":")
    if kind != "cells":
        kind, folder = "", given or ""
    inside = Path(folder) if folder else out.with_name(out.name + "-private")
    return ("cells" if kind else None), inside


def _figures(release: Release, audit: Audit) -> dict[str, Any]:
    """What was found, and what became of the table; nothing of one person."""
    certificate = release.certificate
    rows, groups, method = certificate["rows"], certificate["groups"], certificate["method"]
    found = audit.to_dict()
    del found["worst"], found["worst_by_event"]
    return {
        "method": method["name"],
        **found,
        "suppressed_with_event": rows["suppressed_with_event"],
        "values_changed": rows["values_changed"],
        "groups_with_event": groups["with_event"],
        "mean_size_with_event": groups["mean_with_event"],
        "pooled": groups["pooled"],
        "pooled_people": release.pooled_people,
        "weights": certificate.get("weights"),
        "events": [
            {key: event[key] for key in ("label", "r", "worst_posterior")}
            for event in certificate["events"]
        ],
        "claims": method["claims"],
        "seconds": release.made.seconds,
    }


def _why_readable(readable: int, method: dict[str, Any]) -> str:
    """Why ART publishes people so."""
    if not readable or method["name"] != "art":
        return ""
    if method["parameters"]["condition"] == "bound":
        return " The paper's own variant publishes people without a protected value alone."
    if method["parameters"]["smallest_group"] == 1:
        return " --smallest-group 1 publishes people without a protected value alone."
    return " No similar people with another value were left to share a group with."


def _show(release: Release, audit: Audit, facts: Facts | None) -> None:
    say, certificate = typer.echo, release.certificate
    rows, groups, method = certificate["rows"], certificate["groups"], certificate["method"]
    limits = [(event["label"], event["r"]) for event in certificate["events"]]
    r = common_r(limits)
    say(headline(audit, limits))
    if r is None:
        for event in certificate["events"]:
            given = event["label"], event["r"], audit.limit, event["worst_posterior"]
            say(own_limit(*given, least=audit.undecided > 0))
    show_checks(audit, _why_readable(audit.readable, method))
    limit, together = "their event's limit" if r is None else "1/r", audit.together_before
    told = known_words(audit.known_before, limit, together=together, most=audit.most_before)
    say(told.replace("\u00a0", " "))
    for line in audit.assumed.sentences:
        say(line)
    say(
        f"The best guess is right in {percent(audit.guess_rate.worst)} of the groups (measured, "
        "not guaranteed)."
    )
    say(
        f"{audit.published:,} of {audit.rows:,} {lines_of(certificate)} published in "
        f"{groups['count']:,} groups; "
        f"{groups['with_event']:,} have a protected value, {groups['mean_with_event']:.1f} people "
        f"each on average; {audit.suppressed:,} left out ({rows['suppressed_with_event']:,} with a "
        "protected value)."
    )
    if groups["pooled"]:
        say(pooled_words(groups["pooled"], release.pooled_people))
    if "weights" in certificate:
        say(weights_words(certificate["weights"]["people"]))
    if rows["values_changed"]:
        say(f"The method changed {rows['values_changed']:,} values: they are no longer true.")
    if audit.robust is not True:
        say(f"{method['name']} promises only: {method['claims'].get('guarantee')}.")
    if facts is None:
        say("The error of counts is measured once the release is written (--write-anyway).")
    elif facts.queries is None:
        say("The error of counts is measured for a report (--report FILE).")
    else:
        from shoal.report.measured import errors_in_short

        say(errors_in_short(facts.queries))
    say(
        "Time: "
        + ", ".join(f"{name} {value:.2f} s" for name, value in release.made.seconds.items())
    )
