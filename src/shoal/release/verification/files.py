"""A release folder against its own certificate: hashes, schema, sizes and counts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.data.spec import OTHER
from shoal.engines import Runs
from shoal.errors import InputError
from shoal.file_names import CERTIFICATE, SIGNATURES
from shoal.plain import plain
from shoal.release import GID, Release
from shoal.release.certificate import contradiction
from shoal.release.codes import pooled_line
from shoal.release.folder import FORMATS, README, TABLES
from shoal.release.forms import fits_form
from shoal.release.pair import is_part, parts_among, sha256, without_gaps
from shoal.release.typed import PACKAGE
from shoal.release.utility.published import same_groups

ROUNDING = 1e-9
OTHER_COLUMNS = {"members": ["event", "value", "count"], "ranges": ["attribute", "label", "value"]}
UNSAID = "an older certificate does not say"


@dataclass(frozen=True)
class Claim:
    """Something that a release says of itself, and whether it holds."""

    name: str
    passed: bool
    detail: str = ""

    @classmethod
    def of(cls, name: str, passed: bool, wrong: str) -> Claim:
        """With what is wrong, where it does not hold."""
        return cls(name, passed, "" if passed else wrong)


def same_figure(name: str, figure: Any, claimed: Any) -> Claim:
    """A check that two figures agree."""
    return Claim.of(name, bool(figure == claimed), f"{figure}, claimed {claimed}")


def same_figures(name: str, figures: Mapping[str, Any], claimed: Mapping[str, Any]) -> Claim:
    """A check that several figures agree, by their names; older certificates say less."""
    wrong = [
        f"{key.replace('_', ' ')} {figure}, claimed {claimed[key]}"
        for key, figure in figures.items()
        if figure != claimed.get(key, figure)
    ]
    return Claim(name, not wrong, "; ".join(wrong))


def check_files(folder: Path, certificate: dict[str, Any]) -> list[Claim]:
    checks = []
    for name, claimed in certificate["files"].items():
        if Path(name).name != name and not is_part(name):
            checks.append(Claim(f"file {name}", False, "the name leads out of the folder"))
            continue
        file = folder / name
        if not file.is_file():
            checks.append(Claim(f"file {name}", False, "it is missing"))
            continue
        if file.is_symlink() or (is_part(name) and file.parent.is_symlink()):
            checks.append(Claim(f"file {name}", False, "it is a link to somewhere else"))
            continue
        same = sha256(file) == claimed["sha256"] and file.stat().st_size == claimed["bytes"]
        checks.append(Claim.of(f"file {name}", same, "its SHA-256 or size differs"))
    return [*checks, _check_folder(folder, set(certificate["files"]))]


def _check_folder(folder: Path, named: set[str]) -> Claim:
    """Nothing but the files of a release, each once, and plain files all of them."""
    parted = parts_among(named)
    for kind in FORMATS:
        usual = {PACKAGE, README, *(f"{table}.{kind}" for table in TABLES)}
        usual -= {f"{table}.{kind}" for table in parted}
        usual |= {part for part in named if is_part(part) and part.endswith(f".{kind}")}
        if named <= usual and all(without_gaps(parts) for parts in parted.values()):
            break
    else:
        return Claim("folder", False, "the certificate names other files than those of a release")
    folders = {f"{table}.{kind}" for table in parted}
    inside = (path for name in folders for path in (folder / name).glob("*"))
    for path in sorted([*folder.iterdir(), *inside]):
        name = path.relative_to(folder).as_posix()
        if name not in (CERTIFICATE, SIGNATURES, *named, *folders):
            return Claim("folder", False, f'it holds "{name}", which the certificate does not name')
        if path.is_symlink() or not (path.is_dir() if name in folders else path.is_file()):
            return Claim("folder", False, f'"{name}" is no plain file')
    return Claim("folder", True)


def check_tables(release: Release) -> list[Claim]:
    spec, certificate = release.spec, release.certificate
    if not fits_form(release):
        return [Claim("form", False, f'the tables are not those of a "{release.form}" release')]
    values = [GID, *spec.sensitive_columns, "count"]
    weights = certificate.get("weights")
    qi_columns = [GID, *spec.qi, *([] if weights is None else [weights["column"]])]
    columns = {"qi": qi_columns, "sensitive": values, **OTHER_COLUMNS}
    held = {"qi": release.qi_held, "sensitive": release.sensitive_held, **release.small_frames}
    if any(frame.columns != columns[name] for name, frame in held.items()):
        return [Claim("columns", False, "the tables have other columns than they should have")]
    if release.ranges is not None and (strange := _strange_ranges(release)):
        return [Claim("ranges", False, strange)]
    qi, sensitive = release.qi_runs.in_order(), release.sensitive_runs.in_order()
    agree = _same_sizes(release)
    claimed = certificate["groups"]
    pooled = sensitive.copies[sensitive.holding(pooled_line(spec))].sum()
    checks = [
        Claim("columns", True),
        Claim.of("group sizes", agree, "people and values differ in number"),
        same_figure("published rows", qi.height, certificate["rows"]["published"]),
        same_figure("groups", int(qi.copies.sum()), claimed["count"]),
        same_figure("smallest group", int(qi.sizes.min(initial=qi.height)), claimed["smallest"]),
        same_figure("largest group", int(qi.sizes.max(initial=0)), claimed["largest"]),
        same_figure("pooled groups", int(pooled), claimed["pooled"]),
        _check_readable(release, sensitive),
        _check_members(release),
        _check_masks(release, sensitive),
        _check_holding(release, sensitive),
    ]
    fault = contradiction(certificate, spec)
    checks.append(Claim("certificate", not fault, fault))
    if certificate["audit"]["robust"] and spec.limit == "absolute":
        checks.append(_check_shares(release, sensitive))
    return checks


def _same_sizes(release: Release) -> bool:
    """Whether every group has as many people as values."""
    try:
        qi, sensitive = same_groups(release)
    except InputError:
        return False
    count = sensitive.lines["count"]
    return bool((count > 0).all()) and np.array_equal(qi.sizes, sensitive.sums(count.to_numpy()))


def _strange_ranges(release: Release) -> str:
    """What in the table of ranges speaks of nothing that is published, or an empty text."""
    assert release.ranges is not None
    lines = release.qi_runs.lines
    shown = {(name, label) for name in release.spec.qi for label in lines[name].unique()}
    told = set(release.ranges.select("attribute", "label").iter_rows())
    if shown != told:
        return "they speak of other labels than those that are published"
    return ""


def _check_readable(release: Release, sensitive: Runs) -> Claim:
    """How many people are in a group that publishes one value, in some column; an older certificate
    says how many of them are alone."""
    claimed, columns = release.certificate["groups"], release.spec.sensitive_columns
    sizes = sensitive.sums(sensitive.lines["count"].to_numpy())
    lines = sensitive.lines.select(pl.col(columns).cast(pl.String)).with_columns(
        pl.Series(GID, sensitive.group)
    )
    told = lines.group_by(GID).agg(
        pl.any_horizontal((pl.col(columns).n_unique() == 1) & (pl.col(columns).first() != OTHER))
        .fill_null(True)
        .alias("told")
    )
    readable = told.sort(GID)["told"].to_numpy()
    if "readable" in claimed:
        found = int((sizes * sensitive.copies)[readable].sum())
        return same_figure("readable people", found, claimed["readable"])
    alone = int(sensitive.copies[readable & (sizes == 1)].sum())
    return same_figure("people published alone", alone, claimed["shown_openly"])


def check_lookup(release: Release) -> Claim:
    """How many people have a combination of QI values that few share."""
    name, claimed = "people with rare combinations", release.judged.lookup
    if claimed is None:
        return Claim(name, True, UNSAID)
    found = plain(release.lookup)
    figures = {key: found[key] for key in ("unique", "fewer_than")}
    return same_figures(name, figures, plain(claimed))


def _check_members(release: Release) -> Claim:
    published = published_totals(release)
    for label, total in release.members.group_by("event").agg(pl.col("count").sum()).iter_rows():
        if published.get(label, 0) != total and not release.certificate["rows"]["values_changed"]:
            return Claim("members", False, f'the members of "{label}" do not add up')
    pooled = (release.members["event"] == OTHER).any()
    return Claim("members", not pooled, "it shows values behind (other)" if pooled else "")


def _check_masks(release: Release, sensitive: Runs) -> Claim:
    """Of several sensitive columns, a group that hides something shows events only."""
    names = release.spec.sensitive_columns
    if len(names) == 1:
        return Claim("pooled values", True)
    hidden = sensitive.holding(pooled_line(release.spec))[sensitive.group]
    shown = sensitive.lines.filter(hidden).select(pl.col(names).cast(pl.String))
    for name in names:
        events = [one for one in release.certificate["events"] if name in one.get("columns", ())]
        allowed = [OTHER, *(text for one in events for text in (*one["values"], one["shown"]))]
        if not shown[name].is_in(allowed).all():
            return Claim("pooled values", False, f'a group that hides values shows "{name}"')
    return Claim("pooled values", True)


def published_totals(release: Release) -> dict[str, int]:
    """How often each value is published; of several columns under `column: value`."""
    names = release.spec.sensitive_columns
    totals: dict[str, int] = {}
    for name in names:
        counted = release.sensitive_runs.totals(pl.col(name).cast(pl.String), "count")
        front = f"{name}: " if len(names) > 1 else ""
        totals |= {f"{front}{value}": count for value, count in counted.iter_rows()}
    return totals


def _check_holding(release: Release, sensitive: Runs) -> Claim:
    """How many groups hold an event, and their mean size (where published values are true)."""
    if release.certificate["rows"]["values_changed"]:
        return Claim("groups with an event", True, "not compared: values were changed")
    holds = [_holds(release, event) for event in release.certificate["events"]]
    held = np.flatnonzero(sensitive.holding(pl.any_horizontal(holds)))
    groups = int(sensitive.copies[held].sum())
    sizes = sensitive.sums(sensitive.lines["count"].to_numpy())
    mean = int((sizes * sensitive.copies)[held].sum()) / groups if groups else 0.0
    claimed = release.certificate["groups"]
    same = groups == claimed["with_event"]
    same = same and math.isclose(mean, claimed["mean_with_event"], abs_tol=ROUNDING)
    detail = f"{groups} of mean size {mean:.4f}"
    return Claim.of("groups with an event", same, detail)


def _check_shares(release: Release, sensitive: Runs) -> Claim:
    """No event may fill more than 1/r of a group, whatever the adversary knows."""
    count = sensitive.lines["count"].to_numpy()
    sizes = sensitive.sums(count)
    for event in release.certificate["events"]:
        mine = sensitive.lines.select(_holds(release, event)).to_series().fill_null(False)
        held = sensitive.sums(count * mine.to_numpy())
        if (held * event["r"] > sizes * (1 + 1e-12)).any():
            return Claim("shares", False, f'"{event["label"]}" fills more than 1/r of a group')
    return Claim("shares", True)


def _holds(release: Release, event: dict[str, Any]) -> pl.Expr:
    """Whether a line of the sensitive table shows an event, in any of its columns."""
    spec = release.spec
    shown = [*event["values"], event.get("shown", event["label"])]
    names = event.get("columns", spec.sensitive_columns)
    return pl.any_horizontal(pl.col(name).cast(pl.String).is_in(shown) for name in names)
