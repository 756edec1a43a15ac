"""`shoal explain`: what an error, or a check of the verdict, is about and what to do."""

from __future__ import annotations

import textwrap

import typer

from shoal.errors import InputError, nearest

WIDTH = 100


def explain(code: str | None = None, /) -> None:
    """Explain an error or a check of the verdict: its reason, and what to do.

    Args:
        code: The word in brackets behind an error, or a check; left out, all of them are listed.
    """
    from shoal.auditing.check_words import SAID
    from shoal.cli.explained import check_named, collect

    entries = {entry.code: entry for entry in collect()}
    if code is None:
        typer.echo("Checks of the verdict:\n")
        for name, said in SAID.items():
            typer.echo(f"  {name:<13} {said.title}")
        typer.echo(f"\nErrors:\n\n{_wrapped(', '.join(entries))}")
        return
    word = code.strip("[]").strip()
    check, error = check_named(word), entries.get(word.lower())
    if check is None and error is None:
        raise InputError(
            "explain-code",
            f'There is no error or check "{word}"{nearest(word, [*SAID, *entries])}.',
            "`shoal explain` lists them.",
        )
    if check is not None:
        typer.echo(f"{check.title}: a check of the verdict")
        _part("Why it is checked", [check.reason])
        _part("What to do if it is not kept", [check.remedy])
    if check is not None and error is not None:
        typer.echo("")
    if error is not None:
        typer.echo(f"{error.code}: an error; … stands for what is filled in")
        _part("What is wrong", error.problems)
        _part("What to do", error.remedies)


def _part(title: str, sentences: list[str]) -> None:
    typer.echo(f"\n{title}\n")
    for one in sentences:
        typer.echo(_wrapped(one))


def _wrapped(text: str) -> str:
    return textwrap.fill(
        text, WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
    )
