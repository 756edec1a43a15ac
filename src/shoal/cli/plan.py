"""`shoal plan`: what is possible, before any run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from shoal.cli import options as o
from shoal.cli.show import emit_json
from shoal.methods.registry import parameters_of
from shoal.names import Model, Reading
from shoal.wording import EXIT_CODES, TRY, verdict_words
from shoal.wording import plain_percent as percent

if TYPE_CHECKING:
    from shoal.planning.plan import Plan, Ran


def plan(
    table: str,
    /,
    model: Model | None = None,
    engine: str | None = None,
    seconds: float = 20.0,
    *,
    asked: o.SpecOptions,
    reading: Reading,
    json: bool = False,
) -> None:
    """Say which r is impossible, which were found by running them, and what stands in the way. Exit
    code, as anonymize would end: 0: robust; 1: not robust; 2: refused; 3: not run to its end."""
    spec = asked.make_spec()
    from shoal.api.plan import plan as make_plan

    chosen = o.make_engine(engine, **reading)
    result = make_plan(table, spec, model=model, engine=chosen, seconds=seconds)
    if json:
        emit_json(result.to_dict())
        raise typer.Exit(result.exit_code)
    say = typer.echo
    say(
        f"{result.rows:,} people with {result.signatures:,} different combinations of QI values; "
        f"{result.views:,} views (sets of QIs that somebody may reason with)."
    )
    say(_reach(result))
    say(
        f"r of {result.largest_r:.2f} at most if nobody is left out (proven for groups of one case "
        "and the binary adversary, else a rule of thumb)."
    )
    if result.lost:
        usual = next(one.default for one in parameters_of("art") if one.name == "max_suppression")
        share = result.lost / result.carriers
        then = "refuses to lose so many" if share > usual else "would leave them out"
        say(
            f"At least {result.lost:,} of {result.carriers:,} people with a protected value "
            f"({percent(share)}) find no group at this r, which is proven for any groups that "
            f"withstand the binary adversary; `shoal anonymize` {then}."
        )
    if spec.limit == "prior":
        say("Computed with 1/r for everybody; the limit prior asks for less.")
    for event in sorted(result.events, key=lambda one: one.largest_r)[:8]:
        say(
            f'\n"{event.label}": {event.carriers:,} people, {percent(event.share)}; r = {event.r:g}'
        )
        say(f"  r of {event.largest_r:.2f} at most if none of them is left out")
        say(
            f"  at most {event.coverage_bound:,} of them can find a group at r = {event.r:g}; with "
            f"--limit prior at most {event.coverage_bound_prior:,}"
        )
        say(f"  about {event.expected_size:.0f} people or more in a group, on average")
        say(
            f"  {event.known_before:,} people for whom public statistics alone exceed "
            f"{percent(1 / event.r)}"
        )
        tight = event.limits[0]
        say(f"  what stands most in the way: {' and '.join(tight.view) or 'the whole table'}")
        for text, rows, share in tight.blocking:
            say(
                f"    {text}: {rows:,} people, who use up {percent(share)} of "
                "those available to hide others"
            )
    if len(result.events) > 8:
        say(f"\n... and {len(result.events) - 8} more events, all easier.")
    if result.advice:
        say("\nWhat would allow a larger r, not tried:")
        for one in result.advice[:6]:
            say(f"  {one.change}: {one.largest_r:.2f}")
        say(TRY)
    raise typer.Exit(result.exit_code)


def _reach(plan: Plan) -> str:
    """What is impossible, and what was found by running it."""
    above = plan.impossible_above
    said = "No r is proven impossible" if above is None else f"Impossible above r = {above:g}"
    if plan.found is not None:
        said += f"; found up to r = {plan.found:g}"
    ran: dict[str, list[str]] = {}
    for one in plan.tried:
        if not one.robust:
            ran.setdefault(_came(one), []).append(f"{one.r:g}")
    failed = "; ".join(f"{', '.join(several)} {came}" for came, several in ran.items())
    said += f" (run: {failed})." if failed else "."
    if plan.exit_code == EXIT_CODES[None] and all(one.stopped for one in plan.tried):
        takes = f", which takes about {plan.run_seconds:.0f} s" if plan.run_seconds > 1 else ""
        said += f" r = {plan.asked:g} was not run to its end{takes}: --seconds gives it longer."
    return said


def _came(one: Ran) -> str:
    if one.stopped:
        return "took too long"
    return verdict_words(one.robust) if one.refused is None else f"refused, {one.refused}"
