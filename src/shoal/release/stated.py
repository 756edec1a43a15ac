"""A certificate as it is read from a folder: whole, or refused with a sentence."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from shoal.data.spec import Spec
from shoal.data.storage import recover_folder
from shoal.errors import InputError
from shoal.file_names import CERTIFICATE
from shoal.memory import read_text

FORMAT = "shoal-certificate/4"
UNCHECKED = "shoal-certificate/3"
"""Certificates that list no checks."""
SHARES = "shoal-certificate/2"
"""Certificates with shares of a group's carriers (now weights), or totals by attribute."""
OLDEST = "shoal-certificate/1"
SCHEMA = "certificate.schema.json"
ONCE_USUAL = 100
"""The min_support that certificates left out, before it followed from the table's size."""
_UNSAID = (("audit", "counter"), ("audit", "absence"), ("groups", "shown_openly"))
"""What certificates of the oldest format may not say; it is None then."""
_WITH_CHECKS = {
    "audit": ("checks", "certain", "contradictory", "lookup", "readable", "unit"),
    "groups": ("readable", "readable_by_attributes"),
    "knowledge": ("assumed",),
}
"""What parts of certificates say since checks are listed."""
_COUNT = {"type": "integer", "minimum": 0, "maximum": 2**63 - 1}
_TOLD = {"type": "object", "additionalProperties": _COUNT}
_NO_TOTALS = {"told": {}, "linked_above": 0}
_ONLY_OLDER = {
    "totals": {
        "type": "object",
        "required": list(_NO_TOTALS),
        "additionalProperties": False,
        "properties": {"told": _TOLD, "linked_above": _COUNT},
    },
    "leanings": {
        "type": "object",
        "required": ["column", "told"],
        "additionalProperties": False,
        "properties": {"column": {"type": "string"}, "told": {**_TOLD, "minProperties": 1}},
    },
}
"""What only certificates of older formats say."""


def read_certificate(path: Path) -> dict[str, Any]:
    """The certificate of a release folder, or an InputError."""
    recover_folder(path)
    file = path / CERTIFICATE
    if not file.is_file():
        raise InputError(
            "release-not", f"{path} holds no {CERTIFICATE}.", "Name the folder of a release."
        )
    try:
        told = parse_plain(read_text(file))
    except (ValueError, RecursionError):
        raise _damaged(file, "it is no JSON") from None
    if not isinstance(told, dict):
        raise _damaged(file, "it is no object")
    if told.get("format") not in (FORMAT, UNCHECKED, SHARES, OLDEST):
        raise InputError(
            "certificate-format",
            f"{file} is of no format that this version of shoal reads ({OLDEST} to {FORMAT}).",
            "Get the release again, or a newer shoal.",
        )
    certificate = _upgraded(told) if told["format"] == OLDEST else told
    if fault := _fault(certificate):
        raise _damaged(file, fault)
    return certificate


def stated_spec(certificate: dict[str, Any], path: Path) -> Spec:
    """The spec that a certificate of a folder states."""
    file = path / CERTIFICATE
    try:
        told = {"min_support": ONCE_USUAL, **certificate["spec"]}
        if before_bands(certificate):
            told["rare_unknown"] = told["qi"]
        return Spec.from_mapping(told, source=str(file))
    except (TypeError, ValueError, KeyError, AttributeError):
        raise _damaged(file, "its spec is none") from None


def before_bands(certificate: Mapping[str, Any]) -> bool:
    """Whether it is of a version that judged no quantile bands, and that told what pooled groups
    hold together: later ones always say whose rare values are unknown."""
    return "rare_unknown" not in certificate["spec"]


def schema_text() -> str:
    """The JSON Schema of certificates, as it is published."""
    return files("shoal.release").joinpath(SCHEMA).read_text(encoding="utf-8")


@cache
def schema() -> dict[str, Any]:
    """The same as plain data."""
    return json.loads(schema_text())  # type: ignore[no-any-return]


def _damaged(file: Path, fault: str) -> InputError:
    return InputError(
        "certificate-damaged",
        f"{file} is no certificate that shoal can read: {fault}.",
        "Get the release again.",
    )


def parse_plain(text: str) -> Any:
    """Plain data from JSON; a ValueError for what two readers could read as two things, and for
    what no UTF-8 holds."""
    told = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    json.dumps(told, ensure_ascii=False).encode("utf-8")
    return told


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; no name in it may stand twice, for readers would take one or the other."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _no_number(_: str) -> float:
    raise ValueError


def _fault(told: dict[str, Any]) -> str:
    """What of the schema a certificate does not meet, or an empty text."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    asked = schema() if told["format"] == FORMAT else _older_schema(told["format"])
    found = best_match(Draft202012Validator(asked).iter_errors(told))
    if found is None:
        return ""
    place = " > ".join(str(step) for step in found.absolute_path)
    what = {"required": "something is missing", "additionalProperties": "something is unknown"}
    told_of = what.get(str(found.validator), "a value is of another kind")
    return f"{told_of} in {place}" if place else told_of


@cache
def _older_schema(format: str) -> dict[str, Any]:
    """The same of an older format: without checks, and before the third without fits."""
    asked = copy.deepcopy(schema())
    asked["properties"]["format"] = {"const": format}
    for part, names in _WITH_CHECKS.items():
        for name in names:
            del asked["properties"][part]["properties"][name]
            asked["properties"][part]["required"].remove(name)
    asked["properties"]["groups"]["properties"]["shown_openly"] = _COUNT
    asked["properties"]["groups"]["required"].append("shown_openly")
    if format == UNCHECKED:
        return asked
    asked["properties"] |= _ONLY_OLDER
    del asked["properties"]["weights"]
    asked["required"].append("totals")
    judges = asked["properties"]["audit"]["properties"]["adversaries"]["items"]["properties"]
    del judges["residual"], judges["missing"]
    for part, name in _UNSAID if format == OLDEST else ():
        of_part = asked["properties"][part]["properties"]
        of_part[name] = {"anyOf": [{"type": "null"}, of_part[name]]}
    return asked


def _upgraded(told: dict[str, Any]) -> dict[str, Any]:
    """A certificate of the oldest format in the words of the next."""
    told = {"limit": "absolute", "totals": _NO_TOTALS, **told}
    for part in ("audit", "groups"):
        said = told.get(part)
        if isinstance(said, dict):
            told[part] = {**{name: None for of, name in _UNSAID if of == part}, **said}
    audit = told.get("audit")
    if isinstance(audit, dict) and "adversary" in audit:
        figures = ("robust", "worst_posterior", "problematic", "undecided")
        one = {"name": audit.pop("adversary"), **{key: audit.get(key) for key in figures}}
        audit["adversaries"] = [one]
    seed = told.get("seed")
    if seed is None or isinstance(seed, int):
        told["seed"] = {"given": False} if seed is None else {"given": True, "value": seed}
    return told


def as_json(data: Any) -> str:
    """Plain data as text, the same bytes for the same data."""
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
