"""`shoal verify`: is a release what its certificate says it is?"""

from __future__ import annotations

from pathlib import Path

import typer

from shoal.auditing.check_words import lines
from shoal.cli import options as o
from shoal.cli.show import emit_json
from shoal.wording import EXIT_CODES, adversaries_words, limit_named, verdict_words


def verify(
    release: Path,
    /,
    table: str | None = None,
    private: Path | None = None,
    chain: list[str] | None = None,
    knowledge: str | None = None,
    hierarchy: list[str] | None = None,
    expect: Path | None = None,
    key: Path | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    engine: str | None = None,
    json: bool = False,
) -> None:
    """Check hashes, schema and counts, and with --table the certificate. Exit code 0: confirmed,
    and robust; 1: refuted, or confirmed as not robust; 3: confirmed that nobody could judge;
    2: no release that can be read.

    Args:
        release: The folder of a release.
        table: The original table: recompute every posterior from it.
        expect: A spec file: the release must be what it asks for.
    """
    from shoal.api.verify import verify as check
    from shoal.data.spec import Spec

    result = check(
        release,
        table,
        spec=None if expect is None else Spec.from_toml(expect),
        private=private,
        chain=chain,
        knowledge=knowledge,
        hierarchies=o.files_by_name(hierarchy),
        key=key,
        engine=o.make_engine(engine, separator=separator, encoding=encoding),
    )
    if json:
        emit_json(result.to_dict())
    else:
        for one in result.checks:
            detail = f": {one.detail}" if one.detail else ""
            typer.echo(f"{'ok    ' if one.passed else 'WRONG '} {one.name}{detail}")
        how = "posteriors recomputed" if result.recomputed else "from the release alone"
        says = verdict_words(result.robust).upper()
        typer.echo(f"{'CONFIRMED' if result.confirmed else 'REFUTED'} ({how}).")
        typer.echo(
            f"The certificate says: {says} to the {adversaries_words(result.adversaries)}"
            f"{limit_named(result.limit)}."
        )
        for line in lines(result.verdict):
            typer.echo(line)
        typer.echo(f"Judged: {result.judged_words()}.")
        if result.on_trust:
            typer.echo(f"Taken on trust: {', '.join(result.on_trust)}.")
        typer.echo(result.signed)
        if result.confirmed and not result.recomputed:
            typer.echo("Give --table ORIGINAL to recompute the adversary's posteriors too.")
    raise typer.Exit(EXIT_CODES[result.confirmed and result.robust])
