"""Who signed a release, and whether it is who was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from shoal.errors import InputError
from shoal.release.signing import fingerprint, fits, public_key, read_signatures
from shoal.release.verification.files import Claim


class Signers(NamedTuple):
    """Who vouches for a release."""

    checks: list[Claim]
    words: str


def check_signers(folder: Path, key: str | Path | None) -> Signers:
    """Every signature must be one of this certificate; with a public `key`, one must be its."""
    signatures, asked = read_signatures(folder), None if key is None else public_key(key)
    if not signatures:
        missing = [Claim("signature", False, "the release is not signed")]
        return Signers([] if asked is None else missing, "Not signed: nobody vouches for it.")
    try:
        false = [one.fingerprint for one in signatures if not fits(folder, one)]
    except InputError as missing_library:
        return Signers([], f"Signed, which was not checked: {missing_library.problem}")
    names = ", ".join(one.fingerprint for one in signatures)
    if false:
        detail = f"that of {false[0]} is not of this certificate"
        return Signers([Claim("signature", False, detail)], f"Signatures of {names}.")
    if asked is None:
        keys = "a key" if len(signatures) == 1 else "keys"
        words = f"Signed with {names}, {keys} that you did not name: give --key to know whose."
        return Signers([Claim("signature", True)], words)
    found = asked in [one.key for one in signatures]
    detail = "" if found else f"{fingerprint(asked)} did not sign"
    words = f"Signed with the key that you named, {fingerprint(asked)}."
    return Signers([Claim("signature", found, detail)], words if found else f"Signed with {names}.")
