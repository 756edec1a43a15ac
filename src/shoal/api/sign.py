"""sign: a release under somebody's name."""

from __future__ import annotations

from pathlib import Path

from shoal.errors import InputError
from shoal.release.signing import Passphrase, Signature
from shoal.release.signing import sign as add_signature
from shoal.release.verification.verify import verify as verify_folder


def sign(path: str | Path, key: str | Path, *, passphrase: Passphrase | None = None) -> Signature:
    """Signs the certificate of a release, and by it every file of the release.

    The folder must be what its certificate says, as far as it shows by itself. Whether the
    certificate is right is seen with the table: verify before you sign.

    Args:
        path: The folder of the release.
        key: Your private Ed25519 key (a PEM file, or one of OpenSSH).
        passphrase: Asked for the word that unlocks the key, if it is locked.

    Returns:
        The signature that was added.

    Raises:
        InputError: The folder is not what its certificate says, or the key cannot be used.

    >>> import shoal
    >>> from shoal.release.signing import new_key
    >>> hospital = shoal.datasets.hospital(2000, seed=0)
    >>> spec = shoal.Spec(qi=["sex"], sensitive="diagnosis", protect=["HIV"], r=5)
    >>> shoal.anonymize(hospital, spec).save("release")
    >>> fingerprint = new_key("steward.key")
    >>> shoal.sign("release", "steward.key").fingerprint == fingerprint
    True
    >>> shoal.verify("release", hospital, key="steward.key.pub").confirmed
    True
    """
    found = verify_folder(path)
    if not found.confirmed:
        wrong = next(check for check in found.checks if not check.passed)
        raise InputError(
            "sign-refuted",
            f"{path} is not what its certificate says ({wrong.name}), so nothing was signed.",
            "`shoal verify` says what is wrong with a release.",
        )
    return add_signature(path, key, passphrase=passphrase)
