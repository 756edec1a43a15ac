"""verify: is a release what its certificate says it is?

From the folder alone: hashes, schema, sizes and counts. With the original table: every posterior is
recomputed from the published tables by the auditor's own judge, which shares no code with ART.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.adversary.joint import JOINT_BUDGET
from shoal.certificate import contradiction
from shoal.errors import InputError
from shoal.judge import Case, judge_view
from shoal.knowledge import Knowledge
from shoal.partition import OTHER, Partition
from shoal.published import assign_groups, code_signatures
from shoal.release import GID, Release
from shoal.release_files import PACKAGE, load, read_certificate, sha256
from shoal.sources import read_table, recover_folder
from shoal.table import Table

AGREEMENT = 1e-9
"""How far a recomputed posterior may lie from the certificate's: rounding, nothing more."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    passed: bool
    detail: str = ""


@dataclass(frozen=True)
class Verification:
    """All checks of one release."""

    checks: tuple[Check, ...]
    recomputed: bool
    """Whether posteriors were recomputed from the original table."""

    @property
    def confirmed(self) -> bool:
        return all(check.passed for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        return {
            "confirmed": self.confirmed,
            "recomputed": self.recomputed,
            "checks": [vars(check) for check in self.checks],
        }


def verify(
    path: str | Path,
    *,
    table: Any = None,
    private: str | Path | None = None,
    knowledge: str | None = None,
) -> Verification:
    """Checks a release folder; with the original `table` (a frame) also its certificate.

    A generalized release whose ranges overlap needs the publisher's `private` folder to tell who is
    in which group; one judged against outside knowledge needs that `knowledge` file again.
    """
    folder = Path(path)
    recover_folder(folder)
    certificate = read_certificate(folder)
    files = _check_files(folder, certificate)
    if not all(check.passed for check in files):
        return Verification(tuple(files), recomputed=False)
    release = load(folder)
    checks = [*files, *_check_tables(release), *_check_package(folder, release)]
    if table is None or not all(check.passed for check in checks):
        return Verification(tuple(checks), recomputed=False)
    checks += _recompute(release, table, private, knowledge)
    return Verification(tuple(checks), recomputed=True)


def _check_files(folder: Path, certificate: dict[str, Any]) -> list[Check]:
    checks = []
    for name, claimed in certificate["files"].items():
        if Path(name).name != name:
            checks.append(Check(f"file {name}", False, "the name leads out of the folder"))
            continue
        file = folder / name
        if not file.is_file():
            checks.append(Check(f"file {name}", False, "it is missing"))
            continue
        same = sha256(file) == claimed.get("sha256")
        checks.append(Check(f"file {name}", same, "" if same else "its SHA-256 differs"))
    return checks


def _check_tables(release: Release) -> list[Check]:
    spec, certificate = release.spec, release.certificate
    qi, sensitive = release.qi, release.sensitive
    columns = qi.columns == [GID, *spec.qi] and sensitive.columns == [GID, spec.sensitive, "count"]
    if not columns:
        return [Check("columns", False, "the tables have other columns than the spec names")]
    sizes = qi.group_by(GID).len().sort(GID)
    totals = sensitive.group_by(GID).agg(pl.col("count").sum()).sort(GID)
    agree = sizes[GID].equals(totals[GID]) and bool(
        (sizes["len"].cast(pl.Int64) == totals["count"].cast(pl.Int64)).all()
    )
    claimed = certificate["groups"]
    pooled = sensitive.filter(pl.col(spec.sensitive) == OTHER)[GID].n_unique()
    checks = [
        Check("columns", True),
        Check("group sizes", agree, "" if agree else "people and values differ in number"),
        _same("published rows", qi.height, certificate["rows"]["published"]),
        _same("groups", sizes.height, claimed["count"]),
        _same("smallest group", int(sizes["len"].min() or 0), claimed["smallest"]),  # type: ignore[arg-type]
        _same("largest group", int(sizes["len"].max() or 0), claimed["largest"]),  # type: ignore[arg-type]
        _same("pooled groups", pooled, claimed["pooled"]),
        _check_members(release),
        _check_holding(release, sizes),
    ]
    fault = contradiction(certificate, spec)
    checks.append(Check("certificate", not fault, fault))
    if certificate["audit"]["robust"]:
        checks.append(_check_shares(release))
    return checks


def _check_members(release: Release) -> Check:
    published = dict(
        release.sensitive.group_by(release.spec.sensitive).agg(pl.col("count").sum()).iter_rows()
    )
    for label, total in release.members.group_by("event").agg(pl.col("count").sum()).iter_rows():
        if published.get(label, 0) != total and not release.certificate["rows"]["values_changed"]:
            return Check("members", False, f'the members of "{label}" do not add up')
    return Check("members", True)


def _check_holding(release: Release, sizes: pl.DataFrame) -> Check:
    """How many groups hold an event, and their mean size (where published values are true)."""
    if release.certificate["rows"]["values_changed"]:
        return Check("groups with an event", True, "not compared: values were changed")
    shown = list(_event_values(release))
    held = release.sensitive.filter(pl.col(release.spec.sensitive).is_in(shown))[GID].unique()
    held_sizes = sizes.filter(pl.col(GID).is_in(held.implode()))["len"].to_list()
    mean = sum(held_sizes) / len(held_sizes) if held_sizes else 0.0
    claimed = release.certificate["groups"]
    same = len(held_sizes) == claimed["with_event"]
    same = same and math.isclose(mean, claimed["mean_with_event"], abs_tol=AGREEMENT)
    detail = f"{len(held_sizes)} of mean size {mean:.4f}"
    return Check("groups with an event", same, "" if same else detail)


def _check_shares(release: Release) -> Check:
    """No event may fill more than 1/r of a group, whatever the adversary knows."""
    sizes = release.sensitive.group_by(GID).agg(pl.col("count").sum().alias("size"))
    for (label, strength), values in _by_event(_event_values(release)).items():
        held = (
            release.sensitive.filter(pl.col(release.spec.sensitive).is_in(values))
            .group_by(GID)
            .agg(pl.col("count").sum())
            .join(sizes, on=GID)
        )
        if held.filter(pl.col("count") * strength > pl.col("size") * (1 + 1e-12)).height:
            return Check("shares", False, f'"{label}" fills more than 1/r of a group')
    return Check("shares", True)


def _event_values(release: Release) -> dict[str, tuple[str, float]]:
    """Published values that belong to an event, with its label and r."""
    found: dict[str, tuple[str, float]] = {}
    for event in release.certificate["events"]:
        single = release.spec.publish_members or len(event["values"]) == 1
        shown = event["values"] if single else [event["label"]]
        found |= dict.fromkeys(shown, (event["label"], event["r"]))
    return found


def _by_event(r: dict[str, tuple[str, float]]) -> dict[tuple[str, float], list[str]]:
    events: dict[tuple[str, float], list[str]] = {}
    for value, key in r.items():
        events.setdefault(key, []).append(value)
    return events


def _check_package(folder: Path, release: Release) -> list[Check]:
    try:
        described = json.loads((folder / PACKAGE).read_text(encoding="utf-8"))
        fields = {
            resource["name"]: [field["name"] for field in resource["schema"]["fields"]]
            for resource in described["resources"]
        }
    except (OSError, ValueError, KeyError, TypeError):
        return [Check(PACKAGE, False, "it cannot be read")]
    same = fields.get("qi") == release.qi.columns
    same = same and fields.get("sensitive") == release.sensitive.columns
    return [Check(PACKAGE, same, "" if same else "its schema differs from the tables")]


def _recompute(
    release: Release, frame: Any, private: str | Path | None, knowledge: str | None
) -> list[Check]:
    certificate = release.certificate
    spec = release.spec if knowledge is None else release.spec.with_(knowledge=knowledge)
    table = Table.from_frame(frame, spec)
    known = Knowledge.of(table)
    claimed = certificate["knowledge"]
    views = [list(view.attributes) for view in known.views]
    if knowledge is None and not claimed["source"].startswith("the table itself"):
        raise InputError(
            "verify-knowledge",
            f"The release was judged against {claimed['source']}.",
            "Give that file again with --knowledge.",
        )
    checks = [
        _same("rows of the table", table.rows, certificate["rows"]["table"]),
        Check("views", views == claimed["views"], "" if views == claimed["views"] else "differ"),
    ]
    partition, problem = _published(release, table, private)
    if partition is None:
        return [*checks, Check("people", False, problem)]
    checks += [Check("people", True), *_check_suppressed(table, partition, certificate)]
    case = Case(
        table=table,
        partition=partition,
        event_r=table.event_r,
        known=np.zeros((len(table.signatures), len(table.events)), bool),
        joint=certificate["audit"]["adversary"] == "joint",
        budget=JOINT_BUDGET,
        seed=certificate["seed"],
    )
    return checks + _compare(case, known, certificate)


def _check_suppressed(
    table: Table, partition: Partition, certificate: dict[str, Any]
) -> list[Check]:
    """Carriers of the table who are not among the published values (where these are true)."""
    if certificate["rows"]["values_changed"]:
        return []
    event = np.append(table.value_event, np.int32(-1))[partition.value_code]
    lost = int((table.row_event >= 0).sum() - partition.value_count[event >= 0].sum())
    return [_same("suppressed carriers", lost, certificate["rows"]["suppressed_with_event"])]


def _compare(case: Case, known: Knowledge, certificate: dict[str, Any]) -> list[Check]:
    worst = np.zeros(len(case.table.events))
    breach, undecided, exact = False, False, True
    for number, view in enumerate(known.views):
        judged = judge_view(case, view, number)
        breach |= bool(judged.breach.any())
        undecided |= bool(judged.undecided.any()) or len(judged.contradictory) > 0
        exact &= judged.counted[2] == 0
        np.maximum(worst, judged.event_worst, out=worst)
    robust = None if undecided and not breach else not breach
    claimed = certificate["audit"]["robust"]
    checks = [
        Check(
            "verdict",
            robust == claimed,
            "" if robust == claimed else f"recomputed {_word(robust)}, claimed {_word(claimed)}",
        )
    ]
    for event, found in zip(certificate["events"], worst, strict=True):
        stated = event["worst_posterior"]
        near = math.isclose(found, stated, rel_tol=0, abs_tol=AGREEMENT) or not exact
        detail = f"{found:.6f}" + ("" if near else f", claimed {stated:.6f}")
        checks.append(Check(f"worst posterior of {event['label']}", near, detail))
    return checks


def _published(
    release: Release, table: Table, private: str | Path | None
) -> tuple[Partition | None, str]:
    """The release as the adversary sees it, or what contradicts the original table."""
    known = {label: code for code, label in enumerate(table.values)} | {OTHER: len(table.values)}
    labels = release.sensitive[release.spec.sensitive].cast(pl.String).to_list()
    strange = next((label for label in labels if label not in known), None)
    if strange is not None:
        return None, f'the value "{strange}" never occurs in the table'
    if release.form == "bucketized":
        signature, problem = code_signatures(release.qi, table)
        gid = release.qi[GID].to_numpy()
    else:
        rows = None if private is None else _row_groups(Path(private), table)
        gid_of_row, problem = assign_groups(release, table, rows)
        kept = np.flatnonzero(gid_of_row >= 0) if gid_of_row is not None else np.zeros(0, int)
        signature = table.row_signature[kept]
        gid = gid_of_row[kept] if gid_of_row is not None else signature
    if problem:
        return None, problem
    counts = np.bincount(signature, minlength=len(table.signatures))
    if (counts > table.signature_rows).any():
        return None, "more people share some attributes than in the table"
    ids = np.unique(release.sensitive[GID].to_numpy())
    value_group = np.searchsorted(ids, release.sensitive[GID].to_numpy())
    code = np.array([known[label] for label in labels], np.int32)
    count = release.sensitive["count"].to_numpy().astype(np.int64)
    order = np.lexsort((code, value_group))
    line_group = np.searchsorted(ids, gid).astype(np.int32)
    held = np.bincount(value_group, weights=count, minlength=len(ids))
    if not np.array_equal(np.bincount(line_group, minlength=len(ids)), held):
        return None, "the groups of the table's rows have other sizes than those published"
    return (
        Partition.from_published(
            table,
            line_group,
            signature.astype(np.int32),
            value_group[order].astype(np.int32),
            code[order],
            count[order],
        ),
        "",
    )


def _row_groups(private: Path, table: Table) -> Any:
    groups = read_table(private / "row_groups.parquet")[GID].to_numpy()
    if len(groups) != table.rows:
        raise InputError(
            "private-rows",
            f"{private} speaks of {len(groups):,} rows, the table has {table.rows:,}.",
            "Give the private folder of this table's run.",
        )
    return groups


def _same(name: str, found: Any, claimed: Any) -> Check:
    return Check(name, found == claimed, "" if found == claimed else f"{found}, claimed {claimed}")


def _word(robust: bool | None) -> str:
    return {True: "robust", False: "not robust", None: "undecided"}[robust]
