"""Who signed a release; and what of a certificate verify cannot see for itself, and takes on trust.

With the publisher's private folder the certificate has to be the one that was written with it, byte
for byte, so that no word of it is left. A signature says whose words they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from shoal.errors import InputError
from shoal.release.signing import fingerprint, fits, public_key, read_signatures
from shoal.release.verification.files import Claim
from shoal.release.verification.texts import same_software, same_words
from shoal.wording import REFERENCE


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
    words = f"Signed with the key that you named, {fingerprint(asked)}."
    signed = Claim.of("signature", found, f"{fingerprint(asked)} did not sign")
    return Signers([signed], words if found else f"Signed with {names}.")


ON_TRUST: dict[str, str] = {
    "method.name": "the method's name",
    "method.parameters": "the method's parameters",
    "method.claims": "what the method claims",
    "software": "the software",
    "seed": "the seed",
    "knowledge.models": "models and all that they say, for their views were not judged",
}
"""Parts that the tables do not tell. What the method claims to answer is held against the verdicts,
but not how it went about it."""

BY_THE_TABLE: dict[str, str] = {
    "events": "the largest link of each event",
    "knowledge": "the views",
    "audit": "every figure of the audit",
    "rows": "the rows of the table",
    "groups.readable_by_attributes": "who can be read by attributes",
}
"""Parts that need the original table: without it, it is only seen that they fit together."""


def taken_on_trust(
    certificate: Mapping[str, Any], *, recomputed: bool, recorded: bool, by_row: bool
) -> tuple[str, ...]:
    """What was not seen, in words; `recorded`: the private folder was there, and `by_row`: it says
    which row is in which group."""
    words = [] if recomputed else ["that people and values are the table's", *BY_THE_TABLE.values()]
    if "any_row" in certificate.get("person", {}) and not (recomputed and by_row):
        words.append("what all rows of a person reveal together")
    if recorded:
        return tuple(words)
    models = "models" in certificate["knowledge"]
    words += [told for part, told in ON_TRUST.items() if models or part != "knowledge.models"]
    words.append("who is in which group")
    if "ledger" in certificate:
        words.append("the hash of the ledger")
    if "weights" in certificate:
        words.append("how weights were made, within limits")
    lookup = certificate["audit"].get("lookup") or {}
    if lookup.get("population", {}).get("by") == REFERENCE:
        words.append("how many are alone in the population, by a reference table")
    if certificate["form"] == "generalized":
        words.append("what ranges cover")
    if certificate["spec"].get("publish_apart"):
        words.append("that columns were permuted")
    if recomputed and certificate["rows"]["suppressed"]:
        words.append("who is missing")
    if recomputed and certificate["rows"]["values_changed"]:
        words.append("which values were changed")
    if not same_software(dict(certificate)):
        words.append(
            "README.txt, datapackage.json, order and spelling, which are another version's"
        )
    elif not same_words(dict(certificate)):
        words.append("README.txt, which other code wrote")
    return tuple(words)
