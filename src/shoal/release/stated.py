"""A certificate as it is read from a folder: whole, or refused with a sentence."""

from __future__ import annotations

import copy
import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from shoal.data.spec import Spec
from shoal.data.storage import recover_folder
from shoal.errors import InputError
from shoal.file_names import CERTIFICATE
from shoal.memory import read_text
from shoal.plain import once

FORMAT = "shoal-certificate/4"
UNCHECKED = "shoal-certificate/3"
"""Certificates that list no checks: those of one version before are read."""
SCHEMA = "certificate.schema.json"
ONCE_USUAL = 100
"""The min_support that certificates left out, before it followed from the table's size."""
_WITH_CHECKS = {
    "audit": ("checks", "certain", "contradictory", "lookup", "readable", "unit"),
    "groups": ("readable", "readable_by_attributes"),
    "knowledge": ("assumed",),
}
"""What parts of certificates say since checks are listed."""


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
    if told.get("format") not in (FORMAT, UNCHECKED):
        raise InputError(
            "certificate-format",
            f"{file} is of no format that this version of shoal reads ({UNCHECKED}, {FORMAT}).",
            "Make the release again, or get the version of shoal that wrote it.",
        )
    if fault := _fault(told):
        raise _damaged(file, fault)
    return told


def stated_spec(certificate: dict[str, Any], path: Path) -> Spec:
    """The spec that a certificate of a folder states."""
    file = path / CERTIFICATE
    try:
        told = {"min_support": ONCE_USUAL, **certificate["spec"]}
        return Spec.from_mapping(told, source=str(file))
    except (TypeError, ValueError, KeyError, AttributeError):
        raise _damaged(file, "its spec is none") from None


def schema_text() -> str:
    """The JSON Schema of certificates, as it is published."""
    return files("shoal.release").joinpath(SCHEMA).read_text(encoding="utf-8")


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of certificates as plain data."""
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
    told = json.loads(text, object_pairs_hook=once, parse_constant=_no_number)
    json.dumps(told, ensure_ascii=False).encode("utf-8")
    return told


def _no_number(_: str) -> float:
    raise ValueError


def _fault(told: dict[str, Any]) -> str:
    """What of the schema a certificate does not meet, or an empty text."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    asked = schema() if told["format"] == FORMAT else _unchecked_schema()
    found = best_match(Draft202012Validator(asked).iter_errors(told))
    if found is None:
        return ""
    place = " > ".join(str(step) for step in found.absolute_path)
    what = {"required": "something is missing", "additionalProperties": "something is unknown"}
    told_of = what.get(str(found.validator), "a value is of another type")
    return f"{told_of} in {place}" if place else told_of


@cache
def _unchecked_schema() -> dict[str, Any]:
    """That of certificates without checks."""
    asked = copy.deepcopy(schema())
    asked["properties"]["format"] = {"const": UNCHECKED}
    for part, names in _WITH_CHECKS.items():
        for name in names:
            del asked["properties"][part]["properties"][name]
            asked["properties"][part]["required"].remove(name)
    asked["properties"]["groups"]["properties"]["shown_openly"] = {"$ref": "#/$defs/count"}
    asked["properties"]["groups"]["required"].append("shown_openly")
    return asked


def as_json(data: Any) -> str:
    """Plain data as text, the same bytes for the same data."""
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
