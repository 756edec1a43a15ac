"""`shoal verify`: is a release what its certificate says it is?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from shoal.auditing.check_words import lines
from shoal.cli import options as o
from shoal.cli.show import emit_json
from shoal.names import OutputFormat, Reading
from shoal.wording import EXIT_CODES, adversaries_words, limit_named, verdict_words

if TYPE_CHECKING:
    from shoal.release.verification.verify import Verification


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
    engine: str | None = None,
    details: bool = False,
    json: bool = False,
    output_format: OutputFormat | None = None,
    *,
    reading: Reading,
) -> None:
    """Check hashes, schema and counts, and with --table the certificate. Exit code 0: confirmed,
    and robust; 1: refuted, or confirmed as not robust; 3: confirmed that nobody could judge;
    2: no release that can be read.

    Args:
        release: The folder of a release.
        table: The original table: recompute every posterior from it.
        expect: A spec file: the release must be what it asks for.
        details: Show every check that passed, too.
    """
    from shoal.api.verify import verify as check
    from shoal.cli.outcomes import CommandRun, chosen_format, of_checks, of_claims
    from shoal.data.spec import Spec

    machine = chosen_format(output_format, json=json)
    result = check(
        release,
        table,
        spec=None if expect is None else Spec.from_toml(expect),
        private=private,
        chain=chain,
        knowledge=knowledge,
        hierarchies=o.files_by_name(hierarchy),
        key=key,
        engine=o.make_engine(engine, **reading),
    )
    code = EXIT_CODES[result.confirmed and result.robust]
    if json:
        emit_json(result.to_dict())
    elif machine is not None:
        outcomes = [*of_claims(result.checks), *of_checks(result.verdict)]
        said = f"{_headline(result)} {_certified(result)}"
        CommandRun("verify", str(release), said, outcomes, code).emit(machine)
    else:
        _show(result, details=details)
    raise typer.Exit(code)


def _headline(result: Verification) -> str:
    """What came of it, with the number of checks."""
    how = "every probability recomputed" if result.recomputed else "from the release alone"
    word, tried = "CONFIRMED" if result.confirmed else "REFUTED", len(result.checks)
    wrong = sum(not one.passed for one in result.checks)
    said = f"{wrong:,} of {tried:,} checks failed" if wrong else f"all {tried:,} checks passed"
    return f"{word} ({how}): {said}."


def _certified(result: Verification) -> str:
    judges = adversaries_words(result.adversaries)
    says = f"{verdict_words(result.robust).upper()} to the {judges}{limit_named(result.limit)}"
    return f"The certificate says: {says}."


def _show(result: Verification, *, details: bool) -> None:
    say = typer.echo
    say(_headline(result))
    for one in result.checks:
        if details or not one.passed:
            detail = f": {one.detail}" if one.detail else ""
            say(f"{'ok    ' if one.passed else 'WRONG '} {one.name}{detail}")
    say(_certified(result))
    for line in lines(result.verdict):
        say(line)
    say(f"Judged: {result.judged_words()}.")
    if result.on_trust:
        say(f"Taken on trust: {', '.join(result.on_trust)}.")
    say(result.signed)
    if result.confirmed and not result.recomputed:
        say("With --table TABLE every probability is recomputed.")
