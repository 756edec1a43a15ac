"""`shoal new-key` and `shoal sign`: who vouches for a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def new_key(
    path: Annotated[
        Path, typer.Argument(help="The file of the private key; the public one is PATH.pub.")
    ],
    passphrase: Annotated[
        bool, typer.Option("--passphrase", help="Ask for a passphrase to lock the key with.")
    ] = False,
) -> None:
    """Make a pair of keys (Ed25519) to sign releases with."""
    from shoal.release.signing import new_key as make

    word = None
    if passphrase:
        word = typer.prompt("Passphrase", hide_input=True, confirmation_prompt=True)
    made = make(path, passphrase=word)
    typer.echo(f"{path} is the private key: keep it to yourself.")
    typer.echo(f"{path}.pub is the public key, {made}: give it to whoever is to verify.")


def sign(
    release: Annotated[Path, typer.Argument(help="The folder of a release.")],
    key: Annotated[Path, typer.Option("--key", help="Your private key (PEM or OpenSSH).")],
) -> None:
    """Sign a release's certificate, and by it every file of the release. Verify it first, with the
    table: a signature says that you vouch for it."""
    from shoal.api.sign import sign as add

    def ask() -> str:
        return str(typer.prompt(f"Passphrase of {key}", hide_input=True))

    made = add(release, key, passphrase=ask)
    typer.echo(f"Signed with the key {made.fingerprint}.")
