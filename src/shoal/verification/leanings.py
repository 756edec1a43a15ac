"""What a release tells of how people lean: well formed, within limits, and better than nothing."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.engines import Runs
from shoal.errors import InputError
from shoal.grouping.pairs import starts
from shoal.knowledge import OWN, Knowledge
from shoal.release import Release
from shoal.release.kernels import carriers_held
from shoal.release.leanings import DIGITS, Groups, classes_told_of, fault, limits, share_column
from shoal.table import Table, code_column, factorize
from shoal.table.frames import free_name
from shoal.utility.leaning import told_shares
from shoal.utility.published import event_numbers, same_groups
from shoal.verification.files import Check
from shoal.verification.values import Lines
from shoal.verification.weights import Weights

Floats = NDArray[np.float64]
NAME, NAME_OF_TABLE = "leanings", "leanings of the table"


def check_leanings(release: Release) -> Check:
    """By the release alone: told of whole groups that hold one event, as many people as the
    certificate says, alike of those who are alike; carriers come out, and nobody is above 1/r."""
    if release.share is None:
        return Check(NAME, True)
    certificate = release.certificate
    if (
        len(release.spec.sensitive_columns) > 1
        or release.form != "bucketized"
        or release.totals.height
        or certificate["rows"]["values_changed"]
        or not certificate["knowledge"]["source"].startswith(OWN)
    ):
        return Check(NAME, False, "a release like this one has none")
    if release.share != share_column(release.spec):
        return Check(NAME, False, "their column is called something else")
    try:
        qi, sensitive = same_groups(release)
        share = told_shares(release, qi)
    except InputError as unreadable:
        return Check(NAME, False, str(unreadable))
    found = _strange(release, qi, share) or _wrong(release, qi, sensitive, share)
    return Check(NAME, not found, found)


def _strange(release: Release, qi: Runs, share: Floats) -> str:
    """Whether people of a group who are alike count as different parts of its carriers, or shares
    have more digits than shoal writes."""
    scale = 10.0 ** (DIGITS - 1 - np.floor(np.log10(share)))
    if not np.array_equal(np.round(share * scale) / scale, share, equal_nan=True):
        return f"some have more than {DIGITS} digits"
    names = [free_name(name, qi.lines.columns) for name in ("group", "share")]
    lines = qi.lines.select(
        *release.spec.qi, pl.Series(names[0], qi.group), pl.Series(names[1], share)
    )
    alike = lines.select(pl.struct(pl.exclude(names[1])).n_unique()).item()
    same = lines.select(pl.struct(pl.all()).n_unique()).item() == alike
    return "" if same else "people of a group who are alike count as different parts"


def _wrong(release: Release, qi: Runs, sensitive: Runs, share: Floats) -> str:
    """What of the shares does not fit the groups."""
    shown, value = code_column(sensitive.lines[release.spec.sensitive_columns[0]])
    kind, labels, strengths = event_numbers(release.spec, shown.labels)
    number = sensitive.lines["count"].to_numpy().astype(np.int64) * sensitive.times
    coded = [code_column(qi.lines[name]) for name in release.spec.qi]
    who, kinds = factorize([codes for _, codes in coded], [len(column) for column, _ in coded])
    said, told = release.certificate["leanings"]["told"], np.zeros(qi.lines.height, bool)
    if list(said) != [label for label in labels if label in said]:
        return "they tell of other events, or in another order"
    for event, claimed in said.items():
        one = list(labels).index(event)
        held = carriers_held(sensitive.start, value, number, kind.astype(np.int64), one)
        groups = Groups(qi.start, who, qi.times, qi.copies, *held)
        mine = np.repeat(groups.carriers > 0, np.diff(qi.start))
        if int(qi.weight[mine].sum()) != claimed:
            return "they tell of more or fewer people than the certificate says"
        if groups.uneven(share):
            return "the shares of a group are not its carriers, or one of them is nearly nothing"
        limit = np.full(len(kinds), 1.0 / strengths[one])
        if release.spec.limit == "absolute" and (above := groups.above(share, limit)):
            return f"they link {above:,} people above 1/r"
        if wrong := Weights.of(groups, share, limit).wrong:
            return f"{wrong:,} of them are not by weight as the others are"
        told |= mine
    if not np.array_equal(told, ~np.isnan(share)):
        return "they tell of other groups than those that hold one event"
    return ""


def check_leanings_of(release: Release, table: Table, known: Knowledge, lines: Lines) -> Check:
    """By the table: nobody is above their limit, and classes are counted better than equally."""
    share = told_shares(release, same_groups(release)[0])
    people = starts(lines.group, len(lines.copies))
    values = starts(lines.value_group, len(lines.copies))
    kind = np.append(table.value_event, -1).astype(np.int64)
    labels = [event.label for event in table.events]
    divisions = classes_told_of(table, known.class_views)
    for event in release.certificate["leanings"]["told"]:
        number = labels.index(event)
        held = carriers_held(values, lines.value_code, lines.value_count, kind, number)
        groups = Groups(people, lines.signature, lines.people, lines.copies, *held)
        limit = limits(table, known, number)
        if above := groups.above(share, limit):
            return Check(NAME_OF_TABLE, False, f"they link {above:,} people above their limit")
        off, equally = (
            groups.errors(table, known.class_views, number, one) for one in (share, None)
        )
        if worse := fault(off, equally):
            return Check(NAME_OF_TABLE, False, worse)
        carriers = np.bincount(
            table.cells.signature,
            table.cells.rows * (table.value_event[table.cells.value] == number),
            len(table.signatures),
        )
        weights = Weights.of(groups, share, limit)
        if weights.wrong or weights.strange(divisions, carriers):
            return Check(NAME_OF_TABLE, False, "weights are not those of known classes")
    return Check(NAME_OF_TABLE, True)
