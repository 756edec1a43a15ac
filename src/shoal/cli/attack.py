"""`shoal attack`: let the red team loose on a release, or on what any tool made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from shoal.cli import options as o
from shoal.cli.report import check_reports, placed_together, render_reports
from shoal.cli.show import echo_table, emit_json, progress_bar
from shoal.errors import InputError
from shoal.names import OutputFormat, Reading
from shoal.wording import EXIT_CODES
from shoal.wording import plain_percent as percent

if TYPE_CHECKING:
    from shoal.attacks import Attack, Finding, Rate
    from shoal.auditing.attacked import SurestRate
    from shoal.release.facts import Facts


def attack(
    release: str,
    /,
    table: str | None = None,
    private: Path | None = None,
    hierarchy: list[str] | None = None,
    groups: str | None = None,
    released: str | None = None,
    with_: list[str] | None = None,
    key: str | None = None,
    attacker: list[str] | None = None,
    seed: int = 0,
    budget: float | None = None,
    column: str | None = None,
    *,
    asked: o.SpecOptions,
    reading: Reading,
    reports: dict[str, Path],
    engine: str | None = None,
    json: bool = False,
    output_format: OutputFormat | None = None,
) -> None:
    """Say how often attackers name cases rightly. Exit code 0: nobody beats the limit, 1:
    somebody does, 3: there were too few tries to judge, or nobody could try; 2: refused.

    Args:
        release: The folder of a release; or a table, with --released or --groups.
        table: The original table of the release.
    """
    foreign = groups is not None or released is not None
    from shoal.api.attack import attack as attack_
    from shoal.api.attack import refuse_idle
    from shoal.cli.outcomes import CommandRun, chosen_format, of_attack

    machine = chosen_format(output_format, json=json)
    refuse_idle(
        spec=None,
        table=table,
        private=private,
        hierarchies=hierarchy or None,
        groups=groups,
        released=released,
        key=key,
        engine=engine,
    )
    if not foreign and asked.keys() - {"knowledge"}:
        raise InputError(
            "attack-spec",
            "A release has its spec in its certificate.",
            "Give --table only, or a table with --released or --groups.",
        )
    if not foreign and table is None:
        raise InputError(
            "attack-table",
            "Without the original table nobody knows who is right.",
            "Add --table TABLE; or name a table with --released FILE or --groups COLUMN.",
        )
    if (foreign or with_) and reports:
        raise InputError(
            "attack-report",
            "A report with an attack is one of one release of shoal.",
            "Name the folder of a release with --table and no others, or leave the report out.",
        )
    check_reports(reports, table=table)
    spec = asked.make_spec(released) if foreign else None

    from shoal.api.inputs import described
    from shoal.api.released import is_own
    from shoal.auditing.attacked import AttackResult
    from shoal.data.sources import read_table
    from shoal.data.storage import recover_folder
    from shoal.release.facts import keep_facts
    from shoal.release.folder import private_folder
    from shoal.release.pair import CELL_GROUPS

    if not foreign:
        recover_folder(release)
    inside = private_folder(Path(release), private)
    facts = None if foreign or with_ else _facts(inside, needed=bool(reports))

    counted = not foreign and (engine is not None or (inside / CELL_GROUPS).is_file())
    counting = None
    if counted:
        counting = o.make_engine(engine, **reading)

    def read(path: str | None) -> object:
        if path is None or is_own(path) or counted:
            return path
        return read_table(path, **reading)

    original, other = read(release if foreign else table), read(released)
    with progress_bar(quiet=machine is not None) as progress:
        result = attack_(
            original if foreign else release,
            None if spec is None else described(spec, release, **reading),
            table=None if foreign else original,
            private=private,
            groups=groups,
            released=other,
            others=[one if is_own(one) else read_table(one, **reading) for one in with_ or ()],
            key=key,
            knowledge=None if foreign else asked.get("knowledge"),
            hierarchies=o.files_by_name(hierarchy) or None,
            attackers=attacker,
            seed=seed,
            budget=budget,
            column=column,
            engine=counting,
            progress=progress,
        )
    if facts is not None:
        earlier = facts.attack if isinstance(facts.attack, AttackResult) else None
        facts = replace(facts, attack=result.result.beside(earlier))
        with placed_together(render_reports(facts, reports)):
            keep_facts(facts, inside)
    if json:
        emit_json(result.to_dict())
    elif machine is not None:
        outcomes, code = of_attack(result), EXIT_CODES[result.withstood]
        CommandRun("attack", released or release, _headline(result), outcomes, code).emit(machine)
    else:
        _show(result)
    raise typer.Exit(EXIT_CODES[result.withstood])


def _facts(inside: Path, *, needed: bool) -> Facts | None:
    """What the release's report says so far; an InputError only if a report is asked for."""
    from shoal.release.facts import load_facts

    try:
        return load_facts(inside)
    except InputError:
        if needed:
            raise
        return None


HEADERS = (
    "attacker",
    "tries",
    "right",
    "interval",
    "not known before",
    "limit",
    "allowed",
    "without",
    "control",
    "attributable",
    "certain",
    "",
)


def _show(result: Attack) -> None:
    """The verdict, a sentence for each attacker who beat the limit, and everybody's figures."""
    say = typer.echo
    say(_headline(result))
    for one in result.findings:
        if one.beats:
            through = f" (best: {one.through})" if one.through else ""
            say(f"{one.attacker}{through}: {one.sentence}")
    say("")
    if result.findings:
        echo_table([_line(one) for one in result.findings], headers=HEADERS, right=range(1, 11))
    say("\nright: how many of those named are cases; not known before: counts say 1/r at most.")
    say("allowed: 1/r or what counts say, if that is more, on average over everybody named.")
    say("without: the same attacker, no release; control: a release that reveals what it claims.")
    say("attributable: (right - control) / (1 - control). certain: named for sure, and rightly.\n")
    _show_surest(result)
    for left in result.not_run:
        say(f"{left.attacker}: not run. {left.reason}")


def _headline(result: Attack) -> str:
    """What came of it, in a sentence or two."""
    from shoal.attacks.rate import TOO_FEW

    few = ", ".join(result.undecided)
    if result.beaten:
        left = f" {TOO_FEW.capitalize()}: {few}." if few else ""
        return f"BEATEN: the limit falls to {', '.join(result.beaten)}.{left}"
    if few:
        return f"{TOO_FEW.upper()}: {few}. Nobody is right more often than allowed, beyond chance."
    if result.withstood is None:
        return "NOT TRIED: nobody named anybody to whom something is promised."
    return "NOT BEATEN: nobody is right more often than allowed, beyond chance."


def _show_surest(result: Attack) -> None:
    """How many carry of the people whom each attacker is surest of."""
    from shoal.attacks.surest import COUNTS

    told = {
        one.attacker: {(some.among, some.people): some.result for some in one.surest}
        for one in result.findings
        if one.surest
    }
    if not told:
        return
    heads = [f"surest {count}" for count in COUNTS]
    for among, corner in (("everybody", "attacker"), ("unknown", "not known before")):
        lines = [
            (name, *(_precision(some.get((among, count))) for count in COUNTS))
            for name, some in told.items()
        ]
        echo_table(lines, headers=(corner, *heads), right=range(1, len(COUNTS) + 1))
        typer.echo("")
    typer.echo(
        "surest: how many are cases of the people whom this attacker is surest of / of its surest"
    )
    typer.echo("without the release / by the control. --json has intervals.\n")


def _precision(told: SurestRate | None) -> str:
    if told is None:
        return "-"
    shares = (told.rate, told.without, told.control)
    return " / ".join(f"{100 * share:.0f}" for share in shares) + " %"


def _line(one: Finding) -> tuple[str, ...]:
    rate, quiet = one.everybody, one.unknown
    if not rate.tries:
        return (one.attacker, "0", *["-"] * 9, "")
    return (
        one.attacker,
        f"{rate.tries:,}",
        percent(rate.rate),
        _interval(rate),
        f"{percent(quiet.rate)} ({_interval(quiet)})" if quiet.tries else "-",
        "-" if one.promised is None else percent(one.promised),
        "-" if one.allowed is None else percent(one.allowed),
        "-" if one.baseline is None else percent(one.baseline),
        "-" if one.control is None else percent(one.control.rate),
        "-" if one.doing is None else percent(max(0.0, one.doing)),
        f"{one.certain.tries:,} / {one.certain.hits:,}",
        one.verdict.upper() if one.beats else one.verdict,
    )


def _interval(rate: Rate) -> str:
    low, high = rate.interval
    return f"{percent(low)} to {percent(high)}"
