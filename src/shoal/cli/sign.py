"""`shoal new-key` and `shoal sign`: who vouches for a release."""

from __future__ import annotations

from pathlib import Path

import typer


def new_key(path: Path, /, passphrase: bool = False) -> None:
    """Make a pair of keys (Ed25519) to sign releases with.

    Args:
        path: The file of the private key; the public one is PATH.pub.
        passphrase: Ask for a passphrase to lock the key with.
    """
    from shoal.release.signing import new_key as make

    word = None
    if passphrase:
        word = typer.prompt("Passphrase", hide_input=True, confirmation_prompt=True)
    made = make(path, passphrase=word)
    typer.echo(f"{path} is the private key: keep it to yourself.")
    typer.echo(f"{path}.pub is the public key, {made}: give it to whoever is to verify.")


def sign(release: Path, /, key: Path) -> None:
    """Sign a release's certificate, and by it every file of the release. Verify it first, with the
    table: a signature says that you vouch for it.

    Args:
        release: The folder of a release.
    """
    from shoal.api.sign import sign as add

    def ask() -> str:
        return str(typer.prompt(f"Passphrase of {key}", hide_input=True))

    made = add(release, key, passphrase=ask)
    typer.echo(f"Signed with the key {made.fingerprint}.")
