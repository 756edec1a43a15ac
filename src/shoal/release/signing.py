"""Who vouches for a release: signatures of its certificate with Ed25519 (RFC 8032).

The certificate holds the hash of every other file, so that whoever signs it signs the release.
Signatures stand in a file of their own beside it. Keys are files: PEM, or those of OpenSSH.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.data.storage import replace_file
from shoal.errors import InputError, missing_extra
from shoal.file_names import CERTIFICATE, SIGNATURES
from shoal.release.stated import parse_plain

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

FORMAT = "shoal-signatures/1"
_CONTEXT = b"shoal certificate signature 1\0"
"""Stands before what is signed: a signature of something else never fits a certificate."""
Passphrase = Callable[[], str]


@dataclass(frozen=True)
class Signature:
    """One signature of a certificate."""

    key: bytes
    """The public key that it says it was made with."""
    signature: bytes

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.key)

    def to_mapping(self) -> dict[str, str]:
        return {
            "algorithm": "Ed25519",
            "key": base64.b64encode(self.key).decode(),
            "signature": base64.b64encode(self.signature).decode(),
        }


def fingerprint(key: bytes) -> str:
    """A key as people compare it: the first half of its SHA-256, in groups of four digits."""
    digits = hashlib.sha256(key).hexdigest()[:32]
    return ":".join(digits[place : place + 4] for place in range(0, len(digits), 4))


def new_key(path: str | Path, *, passphrase: str | None = None) -> str:
    """Writes a new private key to `path`, for its owner's eyes only, and the public key beside it
    (`.pub`); returns its fingerprint. Nothing is overwritten."""
    serialization = _cryptography().serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    target, shown = Path(path), Path(f"{path}.pub")
    for file in (target, shown):
        if file.exists():
            raise InputError("key-exists", f'"{file}" exists already.', "Name another file.")
    key = Ed25519PrivateKey.generate()
    locked: Any = serialization.NoEncryption()
    if passphrase:
        locked = serialization.BestAvailableEncryption(passphrase.encode())
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, locked)
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    try:
        with os.fdopen(
            os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
        ) as locked_file:
            locked_file.write(pem)
        shown.write_bytes(public)
    except OSError as error:
        raise InputError(
            "key-write", f'"{path}" cannot be written: {error.strerror}.', "Name another file."
        ) from None
    return fingerprint(key.public_key().public_bytes_raw())


def sign(folder: str | Path, key: str | Path, *, passphrase: Passphrase | None = None) -> Signature:
    """Adds the signature of a private key to a release folder."""
    release = Path(folder)
    private = _private_key(Path(key), passphrase)
    made = Signature(private.public_key().public_bytes_raw(), private.sign(_signed_bytes(release)))
    others = [one for one in read_signatures(release) if one.key != made.key]
    told = {"format": FORMAT, "signatures": [one.to_mapping() for one in (*others, made)]}
    with replace_file(release / SIGNATURES) as new:
        new.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    return made


def read_signatures(folder: Path) -> list[Signature]:
    """The signatures of a release folder; none if nobody signed it."""
    file = folder / SIGNATURES
    if not file.is_file():
        return []
    try:
        told = parse_plain(file.read_text(encoding="utf-8"))
        listed = [
            Signature(
                base64.b64decode(one["key"], validate=True),
                base64.b64decode(one["signature"], validate=True),
            )
            for one in told["signatures"]
        ]
        plain = {"format": FORMAT, "signatures": [one.to_mapping() for one in listed]}
        fits = told == plain and len({one.key for one in listed}) == len(listed) > 0
    except (ValueError, KeyError, TypeError, RecursionError, binascii.Error):
        fits = False
    if not fits:
        raise InputError(
            "signatures-damaged", f'"{file}" cannot be read.', "Get the release again."
        )
    return listed


def fits(folder: Path, signature: Signature) -> bool:
    """Whether a signature is one of this certificate, with the key that it names."""
    _cryptography()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = Ed25519PublicKey.from_public_bytes(signature.key)
        key.verify(signature.signature, _signed_bytes(folder))
    except (InvalidSignature, ValueError):
        return False
    return True


def public_key(path: str | Path) -> bytes:
    """The public key in a file."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    serialization, content = _cryptography().serialization, _read_key(Path(path))
    found: Ed25519PublicKey | None = None
    for load in (serialization.load_pem_public_key, serialization.load_ssh_public_key):
        try:
            given = load(content)
        except Exception:  # whatever a hostile file makes the library raise
            continue
        found = given if isinstance(given, Ed25519PublicKey) else None
    if found is None:
        raise InputError(
            "key-public",
            f'"{path}" is no public Ed25519 key.',
            "Give the .pub file that `shoal new-key` wrote, or one of OpenSSH.",
        )
    return found.public_bytes_raw()


def _signed_bytes(folder: Path) -> bytes:
    return _CONTEXT + (folder / CERTIFICATE).read_bytes()


def _private_key(path: Path, passphrase: Passphrase | None) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    serialization, content = _cryptography().serialization, _read_key(path)
    wrong = InputError(
        "key-private",
        f'"{path}" is no private Ed25519 key, or its passphrase is another.',
        "Make one with `shoal new-key`.",
    )
    ssh = b"OPENSSH PRIVATE KEY" in content
    load = serialization.load_ssh_private_key if ssh else serialization.load_pem_private_key
    try:
        given = load(content, password=None)
    except TypeError:  # it is encrypted
        if passphrase is None:
            raise InputError("key-locked", f'"{path}" needs its passphrase.', "Give it.") from None
        try:
            given = load(content, password=passphrase().encode())
        except Exception:
            raise wrong from None
    except Exception:
        raise wrong from None
    if not isinstance(given, Ed25519PrivateKey):
        raise wrong
    return given


def _read_key(path: Path) -> bytes:
    _cryptography()
    try:
        with path.open("rb") as file:
            return file.read(1 << 16)
    except OSError as error:
        raise InputError(
            "key-read", f'"{path}" cannot be read: {error.strerror}.', "Name a key file."
        ) from None


def _cryptography() -> Any:
    """The library's primitives, or an InputError where it is not installed."""
    try:
        from cryptography.hazmat import primitives
        from cryptography.hazmat.primitives import serialization  # noqa: F401
    except ImportError:
        raise missing_extra("A signature", "cryptography") from None
    return primitives
