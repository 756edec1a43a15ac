"""A certificate as it is read from a folder: whole, or refused with a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from shoal.errors import InputError

CERTIFICATE = "certificate.json"
QUALITY = ("auc", "expected", "carriers", "calibration")
FIGURES = ("worst_posterior", "problematic", "undecided")
COUNTED = (
    "kept",
    "classes",
    "certain_classes",
    "carriers_in_worst_view",
    "certain_in_worst_view",
)
_PARTS: dict[str, Any] = {
    "spec": dict,
    "form": str,
    "r": float | int,
    "events": list,
    "knowledge": dict,
    "audit": dict,
    "rows": dict,
    "groups": dict,
    "totals": dict,
    "files": dict,
}


def read_certificate(path: Path) -> dict[str, Any]:
    """The certificate of a release folder, or an InputError."""
    if not (path / CERTIFICATE).is_file():
        raise InputError(
            "release-not", f"{path} holds no {CERTIFICATE}.", "Name the folder of a release."
        )
    try:
        certificate = json.loads((path / CERTIFICATE).read_text(encoding="utf-8"))
        whole = all(isinstance(certificate[name], kind) for name, kind in _PARTS.items())
        whole = whole and _says_verdicts(certificate["audit"])
        whole = whole and isinstance(certificate["totals"]["told"], dict)
        whole = whole and type(certificate["totals"]["linked_above"]) is int
        whole = whole and isinstance(certificate.get("recoded", {}), dict)
        whole = whole and _describes_models(certificate["knowledge"])
        whole = whole and all(isinstance(file, dict) for file in certificate["files"].values())
    except (ValueError, KeyError, TypeError, AttributeError):
        whole = False
    if not whole:
        raise InputError(
            "certificate-damaged",
            f"{path / CERTIFICATE} is no certificate that shoal can read.",
            "Get the release again.",
        )
    return certificate  # type: ignore[no-any-return]


def _says_verdicts(audit: dict[str, Any]) -> bool:
    """Whether the audit's part names adversaries, each with its verdict and figures."""
    return (
        bool(audit["adversaries"])
        and all(
            isinstance(one.get("name", "audit"), str)
            and (one["robust"] is None or isinstance(one["robust"], bool))
            and all(type(one[key]) in (int, float) for key in FIGURES)
            for one in [audit, *audit["adversaries"]]
        )
        and all(isinstance(one["name"], str) for one in audit["adversaries"])
        and all(type(audit["counter"][key]) in (bool, int) for key in COUNTED)
        and all(type(audit["absence"][key]) in (bool, int) for key in ("kept", "carriers"))
    )


def _describes_models(knowledge: dict[str, Any]) -> bool:
    """Whether it says of every model which view it is, and which file goes with it."""
    models = knowledge.get("models", [])
    return isinstance(models, list) and all(
        all(isinstance(one[key], str) for key in ("view", "file", "sha256"))
        and type(one["folds"]) in (int, type(None))
        and all(_is_quality(of) for of in one["quality"])
        for one in models
    )


def _is_quality(of: dict[str, Any]) -> bool:
    return all(type(of[key]) in (int, float, type(None)) for key in QUALITY)
