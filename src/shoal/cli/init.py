"""`shoal init`: propose a spec, with a reason for every guess."""

from __future__ import annotations

from pathlib import Path

import typer

from shoal.cli import options as o
from shoal.data.storage.location import PIPED
from shoal.names import Reading


def init(
    table: str,
    /,
    out: Path | None = None,
    force: bool = False,
    *,
    reading: Reading,
) -> None:
    """Propose a spec for a table, as a commented TOML file to read and change.

    Args:
        out: Write the TOML here (default, and -: print it).
        force: Replace an existing file.
    """
    out = None if str(out) == PIPED else out
    o.refuse_existing(out, force=force)
    from shoal.data.sources import read_codebook, read_table
    from shoal.data.storage import replace_file
    from shoal.planning.propose import propose_spec

    proposal = propose_spec(read_table(table, **reading), read_codebook(table, **reading))
    text = proposal.to_toml()
    if out is None:
        typer.echo(text, nl=False)
        return
    with replace_file(out) as new:
        new.write_text(text, encoding="utf-8")
    typer.echo(f"Wrote {out}: read every guess in it before you use it.")
    for one in proposal.decide:
        typer.echo(f"A person must decide: {one}")
