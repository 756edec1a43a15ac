"""`shoal estimate`: how many people match, from a release alone, and how sure that is."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import typer

from shoal.cli.show import emit_json
from shoal.errors import InputError


def estimate(
    release: Path,
    /,
    where: list[str] | None = None,
    weighted: bool = False,
    json: bool = False,
) -> None:
    """Estimate how many people match, from a release alone, with its standard error: how far it may
    be off by chance. Exit code 0: estimated; 2: not.

    Args:
        release: The folder of a release.
        where: What people have to have: COLUMN=VALUE, or COLUMN=LOW..HIGH for numbers and dates;
            any of several values of a column. Values are named by label or by code.
        weighted: Count the people of the population for whom they stand, by survey weights.
    """
    from shoal.release import Release

    found = Release.load(release).count(_asked(where or []), weighted=weighted)
    low, high = found.interval
    if json:
        error = found.standard_error
        emit_json({"estimate": float(found), "standard_error": error, "interval": [low, high]})
        return
    typer.echo(f"{float(found):,.1f} people, standard error {found.standard_error:,.1f}")
    typer.echo(f"95 % interval: {low:,.1f} to {high:,.1f}")


def _asked(given: list[str]) -> dict[str, Any]:
    """Predicates as `Release.count` takes them."""
    from shoal.release.utility import Between

    asked: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        ends = [_end(end) for end in value.split("..")] if ".." in value else []
        ranged = len(ends) == 2 and None not in ends
        if not equals or (name in asked and (ranged or isinstance(asked[name], Between))):
            raise InputError(
                "where-form",
                f'"{text}" is no predicate, or one range too many.',
                "Write COLUMN=VALUE, as often as you like, or COLUMN=LOW..HIGH once.",
            )
        if ranged:
            asked[name] = Between(*ends)
        else:
            asked.setdefault(name, []).append(value)
    return asked


def _end(text: str) -> float | int | date | None:
    """One end of a range, or None for what is none."""
    for kind in (int, float, date.fromisoformat):
        try:
            return kind(text)
        except ValueError:
            continue
    return None
