"""`shoal audit --releases`: what several releases of the same people tell together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import typer

from shoal.cli import options as o
from shoal.cli.show import echo_table, emit_json
from shoal.errors import InputError
from shoal.names import Model, Reading
from shoal.wording import verdict_words


def judge_together(
    table: str,
    releases: Sequence[str],
    asked: o.SpecOptions,
    *,
    key: str | None,
    adversary: Sequence[str] | None,
    model: Model | None,
    seed: int,
    reading: Reading,
    json: bool,
    unused: Mapping[str, Any],
) -> int:
    """Shows the verdict, and gives the exit code; an InputError for options that say nothing
    here."""
    given = [name for name, value in unused.items() if value]
    if given:
        raise InputError(
            "releases-option",
            f"{given[0]} says nothing where releases are judged together.",
            "Leave it out, or judge one release.",
        )
    from shoal.api.inputs import described
    from shoal.api.released import is_own
    from shoal.api.releases import audit_releases
    from shoal.auditing.adversaries.adversary import BOTH
    from shoal.data.sources import read_table

    own = [one for one in releases if is_own(one)]
    frame = read_table(table, **reading)
    # Without any option, the spec of the last folder with the QIs of all.
    spec = None if own and not asked else asked.make_spec(own[-1] if own else None)
    found = audit_releases(
        frame,
        [one if one in own else read_table(one, **reading) for one in releases],
        None if spec is None else described(spec, table, **reading),
        key=key,
        model=model,
        adversary=adversary or BOTH,
        seed=seed,
    )
    if json:
        emit_json(found.to_dict())
        return found.exit_code
    typer.echo(f"{verdict_words(found.robust).upper()}: {found.words}.")
    figures = [
        ("People in any release", f"{found.people:,}"),
        ("Certain to have a protected value", f"{found.certain:,}"),
        ("Above their limit", f"{found.above:,}"),
        ("Not decided", f"{found.undecided:,}"),
        ("Groups that overlap with no other", f"{found.groups_alone:,}, judged as in one release"),
        ("Overlapping groups, exactly", f"{found.groups_exact:,}"),
        ("Overlapping groups, by bounds", f"{found.groups_bounded:,}"),
    ]
    echo_table(figures)
    return found.exit_code
