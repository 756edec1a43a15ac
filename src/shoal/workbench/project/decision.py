"""A person's decision on a run: whether its release may be published, and why."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

from shoal.data.spec.toml_text import read_toml
from shoal.errors import InputError
from shoal.file_names import CERTIFICATE
from shoal.workbench.project.files import HASHES, file_hash, now, read_json, write_json

DECISION_FILE = "decision.json"
DECISIONS = ("approved", "refused")


def read_decision(run: Path) -> dict[str, Any] | None:
    """The decision that is kept with a run; None if there is none, or it cannot be read."""
    told = read_json(run / DECISION_FILE)
    return told if told is not None and _is_decision(told) else None


def is_damaged(run: Path) -> bool:
    """Whether a run's decision is there and cannot be read."""
    return (run / DECISION_FILE).exists() and read_decision(run) is None


def keep_decision(
    run: Path, decision: str, *, name: str, reason: str, review: str | date | None, despite: str
) -> None:
    """Keeps a decision with a run, with the hash of the certificate that it is about and of what is
    kept of the run's files; what was decided earlier is kept too. `despite` says why a release that
    is not robust may be published all the same. The same decision once more, of a form that is sent
    twice, changes nothing."""
    if decision not in DECISIONS:
        raise InputError(
            "decision-word", f'"{decision}" is no decision.', "Say approved or refused."
        )
    for what, text in (("name", name), ("reason", reason)):
        if not text.strip():
            raise InputError(
                "decision-missing", f"The decision has no {what}.", "Say who decides, and why."
            )
    earlier = read_decision(run) or {}
    told = {
        "decision": decision,
        "name": name.strip(),
        "reason": reason.strip(),
        "despite": despite.strip() or None,
        "review": _date(review).isoformat() if review else None,
        "stated": stated_now(run),
        "certificate": certificate_hash(run),
        "hashes": file_hash(run / HASHES),
    }
    if told.items() <= earlier.items():
        return
    before = [*earlier.pop("earlier", []), *([earlier] if earlier else [])]
    write_json(run / DECISION_FILE, {**told, "date": now(), "earlier": before})


def stated_now(run: Path) -> dict[str, Any]:
    """What a person states of the releases of a run's project: purpose, recipient and so on."""
    try:
        told = read_toml(run.parent.parent / "project.toml").get("statement", {})
    except (InputError, OSError):
        return {}
    return {n: _plain(one) for n, one in told.items()} if isinstance(told, dict) else {}


def _plain(one: Any) -> Any:
    return one if isinstance(one, list | dict) else str(one)


def certificate_hash(run: Path) -> str | None:
    """The SHA-256 of the certificate of a run's release; None if the run made none."""
    return file_hash(run / "release" / CERTIFICATE)


def _is_decision(told: Mapping[str, Any]) -> bool:
    texts = [told.get(name) for name in ("name", "reason", "date")]
    earlier, review = told.get("earlier", []), told.get("review")
    try:
        datetime.fromisoformat(str(told.get("date")))
    except ValueError:
        return False
    return (
        told.get("decision") in DECISIONS
        and all(isinstance(text, str) for text in texts)
        and isinstance(review, str | None)
        and isinstance(earlier, list)
        and all(isinstance(one, dict) and _is_decision(one) for one in earlier)
    )


def _date(given: str | date) -> date:
    try:
        return date.fromisoformat(str(given))
    except ValueError:
        raise InputError(
            "decision-date", f'"{given}" is no date.', "Write it as 2030-12-31."
        ) from None
