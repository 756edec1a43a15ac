"""What of a certificate verify cannot see for itself, and takes on trust.

With the publisher's private folder the certificate has to be the one that was written with it, byte
for byte, so that no word of it is left. A signature says whose words they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.release.verification.texts import same_software
from shoal.wording import REFERENCE

ON_TRUST: dict[str, str] = {
    "method.name": "the method's name",
    "method.parameters": "its parameters",
    "method.claims": "what it claims of itself",
    "software": "the software",
    "seed": "the seed",
    "knowledge.models": "models and all that they tell, for their views were not judged",
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
        words.append("what all rows of a person tell together")
    if recorded:
        return tuple(words)
    models = "models" in certificate["knowledge"]
    words += [told for part, told in ON_TRUST.items() if models or part != "knowledge.models"]
    words.append("who is in which group")
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
        words.append("pages, order and spelling, which are another version's")
    return tuple(words)
