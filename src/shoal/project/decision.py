"""A person's decision on a run: whether its release may be published, and why."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.project.files import now, read_json, write_json
from shoal.project.hashes import HASHES, file_hash
from shoal.release.stated import CERTIFICATE

DECISION_FILE = "decision.json"
DECISIONS = ("approved", "refused")


def read_decision(run: Path) -> dict[str, Any] | None:
    """The decision that is kept with a run."""
    return read_json(run / DECISION_FILE)


def keep_decision(
    run: Path, decision: str, *, name: str, reason: str, review: str | date | None
) -> None:
    """Keeps a decision with a run, with the hash of the certificate that it is about and of what is
    kept of the run's files; what was decided earlier is kept too."""
    if decision not in DECISIONS:
        raise InputError(
            "decision-word", f'"{decision}" is no decision.', "Say approved or refused."
        )
    for what, text in (("name", name), ("reason", reason)):
        if not text.strip():
            raise InputError(
                "decision-missing", f"The decision has no {what}.", "Say who decides, and why."
            )
    earlier = read_decision(run)
    told = {
        "decision": decision,
        "name": name.strip(),
        "reason": reason.strip(),
        "date": now(),
        "review": _date(review).isoformat() if review else None,
        "certificate": certificate_hash(run),
        "hashes": file_hash(run / HASHES),
        "earlier": [] if earlier is None else [*earlier.pop("earlier", []), earlier],
    }
    write_json(run / DECISION_FILE, told)


def certificate_hash(run: Path) -> str | None:
    """The SHA-256 of the certificate of a run's release; None if the run made none."""
    return file_hash(run / "release" / CERTIFICATE)


def _date(given: str | date) -> date:
    try:
        return date.fromisoformat(str(given))
    except ValueError:
        raise InputError(
            "decision-date", f'"{given}" is no date.', "Write it as 2030-12-31."
        ) from None
