"""`shoal plan`: what is possible, before any run."""

from __future__ import annotations

import typer

from shoal.anonymizers.registry import parameters_of
from shoal.cli import options as o
from shoal.cli.show import emit_json
from shoal.wording import plain_percent as percent


@o.with_spec_options
def plan(
    table: o.TableArgument,
    model: o.ModelOption = None,
    engine: o.EngineOption = None,
    *,
    asked: o.SpecOptions,
    separator: o.SeparatorOption = None,
    encoding: o.EncodingOption = None,
    json: o.JsonOption = False,
) -> None:
    """Say which r is possible and what stands in the way. Exit code 0: the asked r is not ruled
    out for anybody, 1: some carriers cannot be protected at it (if too many, anonymize refuses); 2:
    refused."""
    spec = asked.make_spec()
    from shoal.api.plan import plan as make_plan

    chosen = o.make_engine(engine, separator=separator, encoding=encoding)
    result = make_plan(table, spec, model=model, engine=chosen)
    if json:
        emit_json(result.to_dict())
        raise typer.Exit(0 if result.feasible else 1)
    say = typer.echo
    say(
        f"{result.rows:,} rows with {result.signatures:,} different combinations of QI values; "
        f"{result.views:,} views (sets of QIs that somebody may reason with)."
    )
    say(
        f"Largest r within reach if nobody is left out: {result.largest_r:.2f} (proven for groups "
        "of one carrier and the binary adversary, a rule of thumb otherwise)."
    )
    if result.lost:
        usual = next(one.default for one in parameters_of("art") if one.name == "max_suppression")
        share = result.lost / result.carriers
        then = "refuses to lose so many" if share > usual else "would leave them out"
        say(
            f"At least {result.lost:,} of {result.carriers:,} people with an event "
            f"({percent(share)}) find no group at the asked r, which is proven for any groups that "
            f"withstand the binary adversary; `shoal anonymize` {then}."
        )
    if spec.limit == "prior":
        say("Reckoned with 1/r for everybody; the limit prior asks for less.")
    for event in sorted(result.events, key=lambda one: one.largest_r)[:8]:
        say(f'\n"{event.label}": {event.carriers:,} rows, {percent(event.share)}; r = {event.r:g}')
        say(f"  largest r {event.largest_r:.2f} if none of them is left out")
        say(
            f"  at r = {event.r:g} at most {event.coverage_bound:,} of them can find a group, with "
            f"--limit prior at most {event.coverage_bound_prior:,} (same bound)"
        )
        say(f"  groups of about {event.expected_size:.0f} people or more on average")
        say(f"  {event.known_before:,} people are known above {percent(1 / event.r)} beforehand")
        tight = event.limits[0]
        say(f"  what stands most in the way: {' and '.join(tight.view) or 'the whole table'}")
        for text, rows, share in tight.blocking:
            say(
                f"    {text}: {rows:,} people, whose carriers need {percent(share)} of the "
                "partners that all carriers need"
            )
    if len(result.events) > 8:
        say(f"\n... and {len(result.events) - 8} more events, all easier.")
    if result.advice:
        say("\nWhat would help:")
        for one in result.advice[:6]:
            say(f"  {one.change}: r up to {one.largest_r:.2f}")
    raise typer.Exit(0 if result.feasible else 1)
