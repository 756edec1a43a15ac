"""`shoal plan`: what is possible, before any run."""

from __future__ import annotations

import typer

from shoal.cli import options as o
from shoal.cli.show import emit_json
from shoal.wording import plain_percent as percent


@o.with_spec_options
def plan(
    table: o.TableArgument,
    model: o.ModelOption = None,
    *,
    asked: o.SpecOptions,
    separator: o.SeparatorOption = None,
    encoding: o.EncodingOption = None,
    json: o.JsonOption = False,
) -> None:
    """Say which r is possible and what stands in the way. Exit code 0: the asked r is not ruled
    out for anybody, 1: some carriers cannot be protected at it."""
    spec = asked.make_spec()
    from shoal.api.plan import plan as make_plan
    from shoal.sources import read_table

    frame = read_table(table, separator=separator, encoding=encoding)
    result = make_plan(frame, spec, model=model)
    if json:
        emit_json(result.to_dict())
        raise typer.Exit(0 if result.feasible else 1)
    say = typer.echo
    say(
        f"{result.rows:,} rows, {result.signatures:,} signatures, {result.views:,} views. "
        f"Largest r within reach without suppression: {result.largest_r:.2f} "
        "(a bound for groups of one carrier against the binary adversary, a yardstick otherwise)."
    )
    if spec.limit == "prior":
        say("Reckoned with 1/r for everybody; the limit prior asks for less.")
    for event in sorted(result.events, key=lambda one: one.largest_r)[:8]:
        say(f'\n"{event.label}": {event.carriers:,} rows, {percent(event.share)}; r = {event.r:g}')
        kept = f"the linear program keeps {event.coverage_bound:,} of them"
        say(f"  largest r {event.largest_r:.2f}; {kept}")
        say(f"  with --limit prior it keeps {event.coverage_bound_prior:,} of them")
        say(f"  groups of about {event.expected_size:.0f} people or more on average")
        say(f"  {event.known_before:,} people are known above {percent(1 / event.r)} beforehand")
        tight = event.limits[0]
        say(f"  tightest view: {' and '.join(tight.view) or 'the whole table'}")
        for text, rows, share in tight.blocking:
            say(f"    {text}: {rows:,} people, {percent(share)} of what is used up")
    if len(result.events) > 8:
        say(f"\n... and {len(result.events) - 8} more events, all easier.")
    if result.advice:
        say("\nWhat would help:")
        for one in result.advice[:6]:
            say(f"  {one.change}: r up to {one.largest_r:.2f}")
    raise typer.Exit(0 if result.feasible else 1)
