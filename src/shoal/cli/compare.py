"""`shoal compare`: several methods on one table, side by side."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import typer

from shoal.cli import options as o
from shoal.cli.audit import common_r
from shoal.cli.show import echo_table, emit_json, progress_bar
from shoal.errors import InputError
from shoal.methods.registry import PAPER_METHODS
from shoal.names import Reading
from shoal.wording import limit_named, limit_words
from shoal.wording import plain_percent as percent

if TYPE_CHECKING:
    from shoal.attacks import Finding
    from shoal.data.spec import Spec
    from shoal.planning.comparison import Comparison, MethodLine

WIDTH = 100
"""Columns of a terminal that everything fits into."""


def compare(
    table: str,
    /,
    methods: str = ",".join(PAPER_METHODS),
    repeat: int = 1,
    released: list[str] | None = None,
    key: str | None = None,
    max_suppression: float | None = None,
    queries: int = 10_000,
    qd: int | None = None,
    s: float = 0.05,
    contiguous: bool = False,
    hierarchy: list[str] | None = None,
    seed: int = 0,
    attack: bool = False,
    *,
    asked: o.SpecOptions,
    reading: Reading,
    json: bool = False,
) -> None:
    """Compare methods: time, error, risk and loss. One that fails is a line with its reason.

    Args:
        methods: Methods to compare: a,b,c.
        released: A file of another tool: name=file.csv.
        max_suppression: Largest share of cases that ART may leave out.
        queries: Number of queries.
        qd: QIs that a query restricts (all).
        s: Expected share of rows of a query.
        contiguous: Ranges for numeric QIs, not scattered values.
    """
    spec = asked.make_spec()
    names = [name.strip() for name in methods.split(",") if name.strip()]
    trees = o.read_hierarchies(hierarchy, qi=spec.qi)
    others = o.files_by_name(released, "--released")
    if key is not None and not others:
        raise InputError("key-alone", "--key has nothing to align.", "Use it with --released.")
    parameters: dict[str, dict[str, Any]] = {}
    if max_suppression is not None:
        parameters["art"] = {"max_suppression": max_suppression}

    from shoal.api.compare import compare as measure
    from shoal.api.inputs import described
    from shoal.data.sources import read_table
    from shoal.release.utility import Workload

    workload = Workload(
        queries=queries, dimensions=qd, selectivity=s, contiguous=contiguous, seed=seed
    )
    frame = read_table(table, **reading)
    files = {name: read_table(file, **reading) for name, file in others.items()}
    with progress_bar(quiet=json) as progress:
        result = measure(
            frame,
            described(spec, table, **reading),
            methods=names,
            parameters=parameters,
            hierarchies=trees,
            released=files,
            key=key,
            workload=workload,
            repeat=repeat,
            seed=seed,
            attack=attack,
            progress=progress,
        )
    if json:
        emit_json(result.to_dict())
    else:
        _show(result, spec)


LEGEND = """
error: how far count queries are off, on average; on event: those that ask for a protected value
worst stratum: the same for counts of cases, at worst in a stratum of 100 cases or more
above limit: people linked above their limit, in percent of the people with a protected value
not decided: people of whom neither safety nor a breach could be shown, likewise
worst: the chance nearest to its limit, or farthest above it, as the verdict names it
guess: how often the likeliest person of a group is the case
counting: people with a protected value whom counting links above the limit, likewise
spread: how far the chances of a group's people lie apart by public statistics, on average
event spread: the same in groups with an event; allowed: what the paper's Theorem 1 allows there
"""


def _show(result: Comparison, spec: Spec) -> None:
    columns: list[tuple[str, Any]] = [
        ("seconds", lambda m: _number(m["seconds"], "{:.2f}")),
        ("error", lambda m: _number(m["relative_error"], "{:.4f}")),
        ("on event", lambda m: _number(m["relative_error_protected"], "{:.4f}")),
        ("worst stratum", lambda m: _share(m["class_error_worst"])),
        ("above limit", lambda m: _share(m["problematic_share"])),
        ("not decided", _undecided),
        ("worst", lambda m: _share(m["nearest_link"])),
        ("guess", lambda m: _share(m["guess_rate"])),
        ("counting", lambda m: _share(m["counter_share"])),
        ("spread", lambda m: _number(m["average_delta"], "{:.4f}")),
        ("event spread", lambda m: _number(m["average_delta_carrying"], "{:.4f}")),
        ("allowed", lambda m: _number(m["theoretical_bound"], "{:.4f}")),
        ("suppressed", lambda m: _number(m["suppressed"], "{:,.0f}")),
        ("pooled", lambda m: _number(m["pooled"], "{:,.0f}")),
        ("changed", lambda m: _number(m["changed"], "{:,.0f}")),
    ]
    say = typer.echo
    _wrapped(
        f"{result.rows:,} rows, {_limits(spec)}; "
        f"knowledge: {result.knowledge}; {result.workload.queries:,} queries."
    )
    made = [line for line in result.lines if line.failed is None]
    cells = {line.method: [cell(line.measures) for _, cell in columns] for line in made}
    _side_by_side([name for name, _ in columns], cells)
    say(LEGEND.rstrip())
    _show_attacks(result)
    for line in result.lines:
        _explain(line)
    machine = ", ".join(f"{name} {value}" for name, value in result.machine.items())
    seeds = sorted({seed for line in result.lines for seed in line.seeds})
    say("")
    _wrapped(f"Seeds {', '.join(map(str, seeds)) or 'none'}. {machine}.")


def _side_by_side(
    names: Sequence[str], cells: Mapping[str, Sequence[str]], *, corner: str = ""
) -> None:
    """A line per name and a column per method: so many side by side as the page is wide."""
    room = WIDTH - max(map(len, (corner, *names)))
    left = list(cells)
    while left:
        widths = [2 + max(len(text) for text in (one, *cells[one])) for one in left]
        fit = max(1, sum(total <= room for total in accumulate(widths)))
        block, left = left[:fit], left[fit:]
        rows = list(zip(names, *(cells[one] for one in block), strict=True))
        echo_table(rows, headers=(corner, *block), right=range(1, len(block) + 1))
        if left:
            typer.echo("")


def _wrapped(text: str) -> None:
    for line in textwrap.wrap(text, WIDTH):
        typer.echo(line)


def _show_attacks(result: Comparison) -> None:
    """A line per attacker: how often each method's carriers are named."""
    attacked = [line for line in result.lines if line.attack is not None]
    if not attacked:
        return
    found = {
        line.method: {one.attacker: one for one in line.attack.findings}
        for line in attacked
        if line.attack is not None
    }
    names = list(dict.fromkeys(name for some in found.values() for name in some))
    typer.echo("")
    rates = {one: [_named(some.get(name)) for name in names] for one, some in found.items()}
    _side_by_side(names, rates, corner="attacker")
    typer.echo(
        "attacker: how often the people named are cases (in brackets: of those not known above 1/r "
        "beforehand);\n! where that is above the limit beyond chance. `shoal attack` has more."
    )


def _named(found: Finding | None) -> str:
    if found is None or not found.everybody.tries:
        return "-"
    quiet = f" ({percent(found.unknown.rate)})" if found.unknown.tries else ""
    return f"{percent(found.everybody.rate)}{quiet}{' !' if found.beats else ''}"


def _limits(spec: Spec) -> str:
    limits = [(event.label, event.r or spec.r) for event in spec.protect or ()]
    r = common_r(limits) if limits else spec.r
    if r is not None:
        above = limit_words(percent(1 / r), spec.limit)
        return f"r = {r:g}{limit_named(spec.limit)}: nobody above {above}"
    own = [f'"{label}" {percent(1 / one)} (r = {one:g})' for label, one in limits]
    above = limit_words("the event's limit", spec.limit)
    return f"nobody above {above}: {', '.join(own)}"


def _undecided(measures: dict[str, Any]) -> str:
    """The share of carriers not decided: those that may be problematic less those that are."""
    possible, sure = measures["problematic_share_possible"], measures["problematic_share"]
    return "-" if possible is None or sure is None else percent(round(possible - sure, 9))


def _explain(line: MethodLine) -> None:
    if line.failed is not None:
        typer.echo(f"{line.method}: no release. {line.failed}")
    if line.unjudged is not None:
        typer.echo(f"{line.method}: not judged. {line.unjudged}")


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)


def _share(value: float | None) -> str:
    return "-" if value is None else percent(value)
