"""Published weights: well formed, within limits, and never nothing for who has an event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from shoal.arrays import Floats, Ints
from shoal.auditing.adversaries.judging import Case
from shoal.auditing.counting import count_missing
from shoal.data.table import Table, code_column, factorize
from shoal.engines import Runs
from shoal.errors import InputError
from shoal.groups.lookup import Population
from shoal.groups.ragged import Ragged
from shoal.knowledge import Knowledge
from shoal.knowledge.entropy import all_counts, most_counted
from shoal.release import Release
from shoal.release.record import Record
from shoal.release.utility.published import event_numbers, same_groups
from shoal.release.verification.files import Claim, same_figures
from shoal.release.verification.values import PublishedLines
from shoal.release.weights import (
    DIGITS,
    ROUNDING,
    TOLERANCE,
    line_weights,
    rounded_down,
    weight_column,
)
from shoal.wording import REFERENCE

NAME, NAME_OF_TABLE = "weights", "weights of the table"


class _Weighed(NamedTuple):
    """The lines of a QI table, their weights, and what their groups hold."""

    qi: Runs
    weight: Floats
    cases: Floats
    """Of each group."""
    held: Floats
    """groups x events: how many of each."""

    @classmethod
    def of(cls, release: Release) -> _Weighed:
        qi, sensitive = same_groups(release)
        shown, value = code_column(sensitive.lines[release.spec.sensitive_columns[0]])
        event = event_numbers(release.spec, shown.labels)[value]
        count = sensitive.lines["count"].to_numpy() * sensitive.times
        held = np.zeros((len(qi.copies), len(release.spec.protect or shown.labels)))
        mine = np.flatnonzero(event >= 0)
        np.add.at(held, (sensitive.group[mine], event[mine]), count[mine])
        weight = line_weights(qi, str(release.weight))
        return cls(qi, weight, held.sum(axis=1), held)

    def above(self, most: Floats) -> int:
        """How many people's chance of an event is above `most` (lines x events)."""
        part = self.held / np.maximum(self.cases, 1.0)[:, None]
        chance = self.weight[:, None] * part[self.qi.group]
        return int(self.qi.weight[(chance > most * (1.0 + TOLERANCE)).any(axis=1)].sum())


def check_weights(release: Release) -> Claim:
    """By the release alone: weights are of whole groups with an event, alike for people who are
    alike or nothing, as many as the certificate says, and their group's cases."""
    stated = release.certificate.get("weights")
    if stated is None:
        return Claim(NAME, True)
    if len(release.spec.sensitive_columns) > 1:
        return Claim(NAME, False, "a release of several sensitive columns has none")
    if (stated["column"], stated["digits"]) != (weight_column(release.spec), DIGITS):
        return Claim(NAME, False, "their column or their digits are others than shoal's")
    try:
        found = _Weighed.of(release)
    except InputError as unreadable:
        return Claim(NAME, False, str(unreadable))
    fault = _wrong(found, stated["people"]) or _strange(release, found)
    return Claim(NAME, not fault, fault)


def _wrong(found: _Weighed, people: int) -> str:
    """What of the weights does not fit the groups."""
    qi, told = found.qi, ~np.isnan(found.weight)
    if int(qi.weight[told].sum()) != people:
        return "more or fewer people have one than the certificate says"
    some, group = np.bincount(qi.group, told, len(qi.copies)), qi.group
    whole = some == qi.lengths
    if (~whole & (some > 0)).any() or (whole & (found.cases == 0)).any():
        return "some people of a group have none, or a group without an event has some"
    total = np.bincount(group, qi.times * np.nan_to_num(found.weight), len(qi.copies))
    low, high = found.cases * (1.0 - ROUNDING), found.cases * (1.0 + TOLERANCE)
    if (whole & ((total < low) | (total > high))).any():
        return "those of a group are not its people with an event"
    if not np.array_equal(rounded_down(found.weight), found.weight, equal_nan=True):
        return f"some have more than {DIGITS} digits"
    return ""


def _strange(release: Release, found: _Weighed) -> str:
    """Whether people of a group who are alike have different weights, other than none at all."""
    if release.form == "generalized":
        return ""
    some = np.flatnonzero(found.weight > 0)
    lines = found.qi.lines[some].select(release.spec.qi)
    coded = [code_column(lines[name]) for name in release.spec.qi]
    columns, sizes = [one for _, one in coded], [len(one) for one, _ in coded]
    group = found.qi.group[some].astype(np.int32)
    who, kinds = factorize([group, *columns], [len(found.qi.copies), *sizes])
    lowest, highest = np.full(len(kinds), np.inf), np.zeros(len(kinds))
    np.minimum.at(lowest, who, found.weight[some])
    np.maximum.at(highest, who, found.weight[some])
    return "" if (lowest == highest).all() else "people of a group who are alike count differently"


def check_weights_of(
    release: Release,
    table: Table,
    known: Knowledge,
    lines: PublishedLines,
    record: Record | None,
    told: Ints | None,
) -> Claim:
    """By the table: nobody's weight is above its limit (`most_counted`), and nobody with an event
    has none; as far as it is known who has which weight. Those in groups that earlier releases
    `told`, by their gids, have the weights of then."""
    found = _Weighed.of(release)
    bucketized = release.form == "bucketized"
    changed = release.certificate["rows"]["values_changed"]
    if bucketized:
        most = most_counted(table, all_counts(table, known).chance)[lines.signature]
        if told is not None:
            copies = Ragged.of_lengths(lines.copies)
            gid = copies.spread(lines.ids) + copies.nth
            most[~copies.any(~np.isin(gid, told))[lines.group]] = 1.0
        if above := found.above(most):
            return Claim(NAME_OF_TABLE, False, f"they put {above:,} people above their limit")
    if bucketized and not changed and _cases_without(table, found, lines):
        return Claim(NAME_OF_TABLE, False, "more people have an event than have a weight")
    if record is None:
        return Claim(NAME_OF_TABLE, True)
    if not _as_recorded(release, record, lines if bucketized else None):
        return Claim(NAME_OF_TABLE, False, "the private record has others")
    cases = (table.value_event[record.value] >= 0) & (record.weight == 0.0)
    if not changed and cases.any():
        number = int(record.people[cases].sum())
        return Claim(NAME_OF_TABLE, False, f"{number:,} people with an event count as nothing")
    return Claim(NAME_OF_TABLE, True)


def _cases_without(table: Table, found: _Weighed, lines: PublishedLines) -> bool:
    """Whether, of some signature, more people have an event than are left out or may have it."""
    signatures = len(table.signatures)
    may = (found.weight != 0.0) & (found.cases > 0)[found.qi.group]
    everybody = lines.everybody.astype(np.float64)
    possible = np.bincount(lines.signature, everybody * may, signatures)
    missing = table.signature_rows - np.bincount(lines.signature, everybody, signatures)
    signature, value, rows = table.cells
    cases = np.bincount(signature, rows * (table.value_event[value] >= 0), signatures)
    return bool((cases > possible + missing).any())


def _as_recorded(release: Release, record: Record, lines: PublishedLines | None) -> bool:
    """Whether the private record has as many people of each group, weight and signature (where that
    is shown) as the release."""
    qi, _ = same_groups(release, apart=True)
    weight = line_weights(qi, str(release.weight))
    own = np.full(len(record.gid), np.nan) if record.weight is None else record.weight
    _, code = np.unique(np.append(weight, own), return_inverse=True)
    shown, hidden = np.zeros(len(weight), np.int64), np.zeros(len(own), np.int64)
    if lines is not None:
        shown = _split(lines, qi)
        hidden = record.signature.astype(np.int64)
    keys = pl.DataFrame(
        {
            "gid": np.append(qi.first[qi.group], record.gid),
            "signature": np.append(shown, hidden),
            "weight": code,
            "people": np.append(qi.times, -record.people),
        }
    )
    left = keys.group_by("gid", "signature", "weight").agg(pl.col("people").sum())
    return bool((left["people"] == 0).all())


def _split(lines: PublishedLines, qi: Runs) -> Ints:
    """The signature on each line of the QI table, its copies apart."""
    group = np.searchsorted(lines.ids, qi.first, side="right") - 1
    people = Ragged.of_owners(lines.group, len(lines.ids)).entries(group)[1]
    return lines.signature[people].astype(np.int64)


# What the missing people of a release tell, counted again.

NOT_RECOMPUTED = "not recomputed: who is missing is in the private folder"


def check_absence(
    case: Case, known: Knowledge, certificate: Mapping[str, Any], record: Record | None
) -> Claim:
    """With the publisher's own record class by class.
    Without it, it is known only how many people are missing and how many of them carry what."""
    claimed, counts = certificate["audit"]["absence"], certificate["rows"]
    if record is not None:
        mine = count_missing(case, known, record.missing(case.table))
        return same_figures("absence", {"kept": mine.kept, "carriers": mine.carriers}, claimed)
    told = "" if counts["values_changed"] or not claimed["kept"] else _told_by_all(case)
    if told or not counts["suppressed"]:
        return Claim("absence", not told, told)
    return Claim("absence", True, NOT_RECOMPUTED)


def _told_by_all(case: Case) -> str:
    """The event that too many of all missing people carry, or an empty text."""
    table, part = case.table, case.partition
    missing = table.rows - part.published
    for number, r in enumerate(case.event_r):
        carriers = int(table.event_rows[number])
        often = part.values.times(part.copies)
        gone = carriers - int(often[table.holds(number)[part.values.code]].sum())
        above = gone * r > missing
        if case.limit == "prior":
            above &= gone * table.rows > carriers * missing
        if above:
            return f'of {missing:,} missing people {gone:,} have "{table.events[number].label}"'
    return ""


# How many people who are alone in a release are so in the population.


def check_population(release: Release, table: Table, lines: PublishedLines) -> list[Claim]:
    """How many who are alone are so in the population, where survey weights tell it. A reference
    table is the publisher's."""
    looked = release.judged.lookup
    claimed = None if looked is None else looked.population
    if looked is None or (claimed is not None and claimed.by == REFERENCE):
        return []
    people = np.bincount(lines.signature, lines.everybody, len(table.signatures)).astype(np.int64)
    found = None if release.form == "generalized" else Population.of(table, people)
    same = found == claimed
    return [Claim.of("alone in the population", same, f"it is {found}")]
