"""The tables of a release, made so that nothing in them links a person to a value but the group.

Groups are numbered by a hash of what they publish, lines are sorted by what they show. Everything
here is reckoned from published rows and texts alone: a code or an order that also counted what is
suppressed would tell of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from shoal.arrays import IntArray, Ints
from shoal.data.spec import OTHER
from shoal.data.table import Table
from shoal.engines import GID, Dealt, Runs
from shoal.errors import InputError
from shoal.groups import Grouping, Recoding
from shoal.groups.ragged import Counts
from shoal.groups.suppressed import lost_members
from shoal.release.forms import form_named
from shoal.release.numbering import as_enum, hashed_values, mix, places
from shoal.release.weights import as_published

Tables = tuple[Runs, Runs, pl.DataFrame, pl.DataFrame | None]


def check_names(table: Table) -> None:
    """An InputError for columns and values with names that the published tables need."""
    for name in (*table.spec.qi, *table.spec.sensitive_columns):
        if name in (GID, "count"):
            raise InputError(
                "column-name",
                f'The column "{name}" has a name that the published tables need themselves.',
                "Rename it.",
            )
    for one in (table,) if table.several is None else table.several.columns:
        if OTHER in (*one.values, *one.members.labels):
            raise InputError(
                "value-name",
                f'The sensitive column holds "{OTHER}", which is how pooled values are published.',
                "Rename that value.",
            )


def build_tables(
    table: Table, grouping: Grouping, dealt: Dealt | None = None, *, seed: int = 0
) -> Tables:
    """QI table, sensitive table, members and ranges of a grouping whose groups are numbered as
    `canonical` does it; gid is the group's number + 1. Without rows, which members of a set event
    the suppressed have is drawn."""
    check_names(table)
    if not grouping.published:
        raise InputError("nothing-published", "No row is in a group.", "Publish at least one row.")
    qi, ranges = form_named(grouping.form).tables(table, grouping)
    members = _members(table, _published_members(table, grouping, dealt, seed))
    held = _sensitive(table, grouping)
    if table.spec.publish_apart:
        held = Runs.of(permuted(held.frame(), table.spec.sensitive_columns, seed))
    return qi, held, members, ranges


def permuted(held: pl.DataFrame, columns: Sequence[str], seed: int) -> pl.DataFrame:
    """The same values in the same groups, each column in an order of its own, by chance. It starts
    from values in alphabetical order, so that whoever knows the seed does not know who goes with
    whom either."""
    random = np.random.default_rng(seed)
    people = held.select(pl.exclude("count").repeat_by("count")).explode(held.columns[:-1])
    shuffled = [
        people.select(GID, pl.col(name).alias(name))
        .sort(GID, pl.col(name).cast(pl.String))
        .with_columns(pl.Series("place", random.random(people.height)))
        .sort(GID, "place")[name]
        for name in columns
    ]
    return (
        pl.DataFrame([people[GID].sort(), *shuffled])
        .group_by(GID, *columns)
        .agg(pl.len().cast(pl.Int64).alias("count"))
        .sort(GID, *(pl.col(name).cast(pl.String) for name in columns))
    )


def _sensitive(table: Table, grouping: Grouping) -> Runs:
    """gid, value (of each sensitive column), count, in this order."""
    parts = shown_parts(table)
    order = np.array(sorted(range(len(parts)), key=parts.__getitem__))
    rank = np.empty(len(parts), np.int32)
    rank[order] = np.arange(len(parts))
    shown = rank[grouping.published_values(table)]
    held = Counts.of_lines(grouping.group, shown, grouping.rows, len(grouping.copies))
    columns = {
        name: as_enum(pl.Series([parts[code][c] for code in order])).gather(held.code)
        for c, name in enumerate(table.spec.sensitive_columns)
    }
    lines = pl.DataFrame({**columns, "count": held.count})
    return Runs.numbered(held.owner, grouping.copies, np.ones_like(held.count), lines)


def shown_parts(table: Table) -> Sequence[tuple[str, ...]]:
    """Of each published value, and last of the pooled one: what each sensitive column shows."""
    if table.several is not None:
        return table.several.parts
    return [(text,) for text in (*table.values, OTHER)]


def canonical(table: Table, grouping: Grouping) -> Grouping:
    """The same groups, numbered as they are published, with weights rounded likewise."""
    return numbered(table, as_published(table, grouping))[0]


def numbered(table: Table, grouping: Grouping) -> tuple[Grouping, IntArray]:
    """The same groups in the order of a hash of what each publishes, and the number that each has
    now: the numbers say nothing that the groups' content does not say."""
    shown = grouping.published_values(table)
    parts = [_text_ranks(texts, shown)[shown] for texts in _read_together(table)]
    total = hashed_values(parts, grouping.group, grouping.rows, len(grouping.copies))
    total = form_named(grouping.form).hashed(total, grouping, _signature_ranks(table, grouping))
    order = np.argsort(mix(total), kind="stable")
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order))
    by_number = np.argsort(number[grouping.group], kind="stable")
    made = replace(
        grouping,
        group=number[grouping.group][by_number],
        signature=grouping.signature[by_number],
        value=grouping.value[by_number],
        rows=grouping.rows[by_number],
        weight=None if grouping.weight is None else grouping.weight[by_number],
        shown=None if grouping.shown is None else grouping.shown[by_number],
        copies=grouping.copies[order],
        recodings=tuple(
            Recoding(one.labels, one.members, one.node[order]) for one in grouping.recodings
        ),
        pooled=None if grouping.pooled is None else grouping.pooled[order],
    )
    return made, number


def _read_together(table: Table) -> list[list[str]]:
    """What published values show, and last the pooled one: as a whole, or, where columns are
    published apart, column by column, for nothing may be told of who goes with whom."""
    if table.spec.publish_apart:
        return [list(texts) for texts in zip(*shown_parts(table), strict=True)]
    return [[*table.values, OTHER]]


def _signature_ranks(table: Table, grouping: Grouping) -> IntArray:
    """Numbers of the signatures that are published, among these alone."""
    published = np.zeros(len(table.signatures), bool)
    published[grouping.signature] = True
    return np.cumsum(published).astype(np.int32)


def _text_ranks(texts: list[str], shown: IntArray) -> IntArray:
    """For each value the place of its text among those that are shown, from 1 on."""
    codes = np.unique(shown)
    place = np.zeros(len(texts), np.int32)
    place[codes] = places(pl.Series([texts[code] for code in codes], dtype=pl.String))
    return place


def _published_members(table: Table, grouping: Grouping, dealt: Dealt | None, seed: int) -> Ints:
    """How many published people have each sensitive value, as it stands in the table."""
    if dealt is not None:
        kept = np.flatnonzero(dealt.group >= 0)
        return np.bincount(table.row_member[kept], minlength=len(table.members))
    lost = lost_members(table, grouping, seed=seed)
    gone = np.bincount(table.member_cells.value, lost, len(table.members))
    return table.member_rows - gone.astype(np.int64)


def _members(table: Table, counts: Ints) -> pl.DataFrame:
    """Totals of the member values that labels stand for: the dataset based distribution. Nothing is
    told of what pooled groups hold: it would say which values their people have instead of an
    event."""
    lines = [
        (event, value, int(counts[members].sum()))
        for event, value, members in listed_members(table)
    ]
    schema = {"event": pl.String, "value": pl.String, "count": pl.Int64}
    return pl.DataFrame(lines, schema=schema, orient="row")


def listed_members(table: Table) -> list[tuple[str, str, Ints]]:
    """The values that labels stand for: the event (of several columns, with the column's name), the
    value, and which of the table's sensitive values it is."""
    if table.spec.publish_members:
        return []
    if table.several is None:
        code = {label: number for number, label in enumerate(table.members.labels)}
        return [
            (event.label, value, np.array([code[value]]))
            for event in table.events
            if event.is_set
            for value in event.values
        ]
    return [
        (f"{one.members.name}: {event}", value, np.flatnonzero(np.isin(codes, members)))
        for one, codes in zip(table.several.columns, table.several.member_codes.T, strict=True)
        for event, value, members in listed_members(one)
    ]
