"""Do a run's release, its private records and the decision on it still fit together?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.auditing.findings import Judged
from shoal.errors import InputError
from shoal.file_names import CERTIFICATE
from shoal.release.facts import Facts, certificate_digest, load_facts
from shoal.release.pair import belong_together
from shoal.release.stated import read_certificate
from shoal.workbench.project import Run
from shoal.workbench.project.decision import DECISION_FILE, certificate_hash, is_damaged, stated_now
from shoal.workbench.project.files import HASHES, changed_files, file_hash


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
        found = file_hash(release / name)
        checks.append(FileCheck(name, found, found == told["sha256"]))
    return checks


def unfitting(run: Run) -> list[str]:
    """What does not fit together of a run that made a release, in sentences."""
    release, private = run.folder / "release", run.folder / "private"
    try:
        certificate, facts = read_certificate(release), load_facts(private)
    except InputError as error:
        return [str(error)]
    return differences(run, certificate, facts, check_files(release, certificate))


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
    if is_damaged(run.folder):
        wrong.append(f"{DECISION_FILE} of the run cannot be read as a decision.")
    decision = run.decision
    if decision is not None and decision.get("certificate") != certificate_hash(run.folder):
        wrong.append("The decision below was made on another certificate than the one here now.")
    stated = None if decision is None else decision.get("stated")
    if stated is not None and stated != stated_now(run.folder):
        now = stated_now(run.folder)
        other = sorted(n for n in {*stated, *now} if stated.get(n) != now.get(n))
        wrong.append(
            "The decision below was made when something else was stated: "
            + "; ".join(f"{n.replace('_', ' ')}: {stated.get(n, 'nothing')}" for n in other)
            + "."
        )
    if decision is not None and decision.get("hashes") != file_hash(run.folder / HASHES):
        wrong.append("The decision below was made on other files of the run than those here now.")
    verified = run.result("verify")
    if verified is not None and not verified["confirmed"]:
        wrong.append("shoal verify refuted the release when the run was made.")
    return [*wrong, *_contradictions(certificate, facts, verified), *_changes(run)]


def _contradictions(
    certificate: Mapping[str, Any], facts: Facts, verified: Mapping[str, Any] | None
) -> list[str]:
    """Where the figures shown are not those of the certificate, or of the check of it."""
    found, told = facts.verdict, Judged.of(certificate["audit"])
    wrong = [
        f"The private records say otherwise than the certificate on: {name.replace('_', ' ')}."
        for name in ("robust", "checks", "problematic", "undecided", "known_before")
        if getattr(found, name) != getattr(told, name)
    ]
    if (found.r, found.limit) != (certificate["r"], certificate["limit"]):
        wrong.append("The private records name another limit than the certificate.")
    if verified is not None and verified["robust"] != found.robust:
        wrong.append("shoal verify read another verdict than the one of the private records.")
    return wrong


def _changes(run: Run) -> list[str]:
    """The files that are not as the run left them."""
    changed = changed_files(run.folder)
    if changed is None:
        return [f"{HASHES} of the run is missing: whether a file was changed since is not known."]
    return [f"{name} is not as the run left it (SHA-256)." for name in changed]
