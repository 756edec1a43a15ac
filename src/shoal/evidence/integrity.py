"""Do a run's release, its private records and the decision on it still fit together?"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.facts import Facts, certificate_digest
from shoal.project import Run
from shoal.project.decision import certificate_hash
from shoal.release.pair import belong_together
from shoal.release.stated import CERTIFICATE


@dataclass(frozen=True)
class FileCheck:
    """A file of the release: its SHA-256 now, and whether the certificate says the same."""

    name: str
    sha256: str | None
    fits: bool


def check_files(release: Path, certificate: Mapping[str, Any]) -> list[FileCheck]:
    """The files that the certificate lists, as they are now."""
    checks = []
    for name, told in certificate["files"].items():
        found = _sha256(release / name)
        checks.append(FileCheck(name, found, found == told["sha256"]))
    return checks


def differences(
    run: Run, certificate: Mapping[str, Any], facts: Facts, files: Sequence[FileCheck]
) -> list[str]:
    """What does not fit together, in sentences; nothing if all is well."""
    release = run.folder / "release"
    wrong = []
    if facts.certificate != certificate_digest(certificate):
        wrong.append(
            f"{CERTIFICATE} is not the one that this run made: it says other things than the "
            "private records do. The figures below are those of the private records."
        )
    elif not belong_together(release, run.folder / "private"):
        wrong.append(
            f"{CERTIFICATE} was changed after the run: its hash is not the one that the private "
            "records name."
        )
    wrong += [
        f"{one.name} of the release "
        f"{'is missing' if one.sha256 is None else 'is not what the certificate says (SHA-256)'}."
        for one in files
        if not one.fits
    ]
    decision = run.decision
    if decision is not None and decision.get("certificate") != certificate_hash(run.folder):
        wrong.append("The decision below was made on another certificate than the one here now.")
    verified = run.result("verify")
    if verified is not None and not verified["confirmed"]:
        wrong.append("shoal verify refuted the release when the run was made.")
    return wrong


def _sha256(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
