"""What a release tells of how people lean: well formed, within limits, and better than nothing."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.grouping.pairs import starts
from shoal.knowledge import Knowledge
from shoal.release import Release
from shoal.release.certificate import told_by_event
from shoal.release.kernels import carriers_held
from shoal.release.leanings import LARGEST, SCHEMA, TOLD, TOLERANCE, Groups, fault, limits
from shoal.table import Table
from shoal.utility.leaning import linked_above, members_of, people_weights
from shoal.verification.files import Check
from shoal.verification.values import Lines

NAME, NAME_OF_TABLE = "leanings", "leanings of the table"


def check_leanings(release: Release) -> Check:
    """By the release alone: the lines that the certificate names, and nobody above 1/r by them."""
    leanings, certificate = release.leanings, release.certificate
    if told_by_event(leanings) != certificate.get("leanings", {"told": {}})["told"]:
        return Check(NAME, False, "they tell of other classes than the certificate says")
    if not leanings.height:
        return Check(NAME, True)
    several = len(release.spec.sensitive_columns) > 1
    if several or release.form != "bucketized" or release.totals.height:
        return Check(NAME, False, "a release like this one has none")
    if strange := _strange(release):
        return Check(NAME, False, strange)
    if release.spec.limit == "absolute" and (above := linked_above(release)):
        return Check(NAME, False, f"they link {above:,} people above 1/r")
    return Check(NAME, True)


def _strange(release: Release) -> str:
    """What of the lines means nothing."""
    leanings = release.leanings
    if dict(leanings.schema) != SCHEMA:
        return "a column of theirs is of another kind"
    labels = [event["label"] for event in release.certificate["events"]]
    order = {name: number for number, name in enumerate(release.spec.qi)}

    def place(column: str) -> pl.Expr:
        return pl.col(column).replace_strict(order, default=-1, return_dtype=pl.Int64)

    known = pl.col("attribute").is_in(release.spec.qi) & pl.col("value").is_not_null()
    second = pl.col("attribute_2").is_null() & pl.col("value_2").is_null()
    second |= (
        pl.col("attribute_2").is_in(release.spec.qi)
        & pl.col("value_2").is_not_null()
        & (place("attribute_2") > place("attribute"))
    )
    logarithm = pl.col("factor").log().abs() <= LARGEST * (1 + TOLERANCE)
    whole = leanings.filter(known & second & logarithm & pl.col("event").is_in(labels))
    if whole.height < leanings.height or leanings.drop("factor").is_duplicated().any():
        return "a line of them tells of nothing, or twice of the same"
    return ""


def check_leanings_of(release: Release, table: Table, known: Knowledge, lines: Lines) -> Check:
    """By the table: nobody is above their limit, and classes are counted better than equally."""
    weights = people_weights(release.leanings, table.qi, list(table.signatures.T))
    people = starts(lines.group, len(lines.copies))
    values = starts(lines.value_group, len(lines.copies))
    kind = np.append(table.value_event, -1).astype(np.int64)
    labels = [event.label for event in table.events]
    for event, weight in weights.items():
        number = labels.index(event)
        held = carriers_held(values, lines.value_code, lines.value_count, kind, number)
        groups = Groups(people, lines.signature, lines.people, lines.copies, *held)
        if above := groups.above(weight, limits(table, known, number)):
            return Check(NAME_OF_TABLE, False, f"they link {above:,} people above their limit")
        off, equally = (
            groups.errors(table, known.class_views, number, one) for one in (weight, None)
        )
        if worse := fault(off, equally):
            return Check(NAME_OF_TABLE, False, worse)
    if not _known_classes(release, table, known):
        return Check(NAME_OF_TABLE, False, "they tell of a class that is not known, or too small")
    return Check(NAME_OF_TABLE, True)


def _known_classes(release: Release, table: Table, known: Knowledge) -> bool:
    """Whether each line is about a class that a view knows, with enough carriers, give or take."""
    views = {frozenset(view.attributes): view for view in known.class_views}
    signature, value, rows = table.cells
    numbers = {event.label: number for number, event in enumerate(table.events)}
    carriers = {
        label: np.bincount(
            signature, rows * (table.value_event[value] == number), len(table.signatures)
        )
        for label, number in numbers.items()
        if label in release.leanings["event"]
    }
    codes = list(table.signatures.T)
    for event, *asked, _ in release.leanings.iter_rows():
        members = members_of(asked, table.qi, codes)
        view = views.get(frozenset(name for name in asked[::2] if name is not None))
        if view is None or not (view.index[members] > 0).all():
            return False
        if carriers[event][members].sum() < TOLD / 2:
            return False
    return True
