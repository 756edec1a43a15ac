"""Are the published values those of the original table?

A method may say that it changed some values. Each changed row can put at most one value where the
table has none, so every excess over the table that is found here may be at most that number; where
values are said to be true, nothing may exceed the table at all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.release import Release
from shoal.release.tables import listed_members
from shoal.spec import OTHER
from shoal.table import IntArray, Table
from shoal.verification.files import Check, published_totals, same_figure


@dataclass(frozen=True, eq=False)
class Lines:
    """Both published tables in the codes of the original one, groups numbered in gid order."""

    ids: NDArray[np.int64]
    """The gid of each group."""
    group: IntArray
    """The group of each published person."""
    signature: IntArray
    """The signature of each published person."""
    value_group: IntArray
    """The group of each line of the sensitive table, sorted by group and value."""
    value_code: IntArray
    """Its value; `len(table.values)` stands for the pooled values outside every event."""
    value_count: NDArray[np.int64]

    def alone(self, codes: IntArray) -> Lines:
        """The same of one of several columns; `codes` are what each value is there."""
        width = int(codes.max()) + 1
        keys, place = np.unique(
            self.value_group * np.int64(width) + codes[self.value_code], return_inverse=True
        )
        return replace(
            self,
            value_group=(keys // width).astype(np.int32),
            value_code=(keys % width).astype(np.int32),
            value_count=np.bincount(place, self.value_count).astype(np.int64),
        )


def check_values(
    release: Release, table: Table, lines: Lines, rows: NDArray[np.int64] | None
) -> list[Check]:
    """All that can be said of published values; `rows` is the gid of every row of the table, from
    the publisher's own record, and -1 where a row is not published. Columns that are published
    apart are looked at one by one."""
    several, changed = table.several, int(release.certificate["rows"]["values_changed"])
    if several is None or not table.spec.publish_apart:
        checks = _check_lines(release, table, lines, rows)
        return checks if changed else [*checks, _check_suppressed(release, table, lines)]
    checks = []
    for codes, column in zip(several.codes.T, several.columns, strict=True):
        name = column.members.name
        found = _check_lines(release.alone(name), column, lines.alone(codes), rows)
        checks += [replace(one, name=f"{one.name}, {name}") for one in found]
    return [*checks, _check_suppressed_apart(release, table, lines, rows)]


def _check_lines(
    release: Release, table: Table, lines: Lines, rows: NDArray[np.int64] | None
) -> list[Check]:
    """All but who is missing."""
    changed = int(release.certificate["rows"]["values_changed"])
    checks = [
        _check_totals(table, lines, changed),
        _check_single(table, lines, changed),
        _check_alike(table, lines, changed),
        _check_members(release, table, rows, changed),
    ]
    if rows is not None:
        checks.append(_check_record(table, lines, rows, changed))
    return checks


def _check_totals(table: Table, lines: Lines, changed: int) -> Check:
    """No value may be published more often than it occurs, nor all values outside every event
    together, of which pooled ones are not told apart."""
    name, pooled = "values of the table", len(table.values)
    totals = np.bincount(lines.value_code, lines.value_count, pooled + 1).astype(np.int64)
    over = totals[:-1] - table.value_rows
    if table.several is not None:  # masks stand for people whose combinations have them
        whole, masks = table.several.combinations, table.several.masks
        by_mask = np.bincount(table.several.mask, totals, len(masks.values))
        none = table.several.mask[-1]
        over[whole:] = (by_mask - masks.value_rows)[table.several.mask[whole:-1]]
        over = np.append(over, by_mask[none] - masks.value_rows[none])
    if over.clip(0).sum() > changed:
        worst = (*table.values, OTHER)[int(over.argmax())]
        return Check(name, False, f'"{worst}" is published more often than it occurs in the table')
    outside = np.append(table.value_event, np.int32(-1)) < 0
    if totals[outside].sum() - table.value_rows[outside[:-1]].sum() > changed:
        return Check(name, False, "more people are published without an event than the table has")
    return Check(name, True)


def _check_single(table: Table, lines: Lines, changed: int) -> Check:
    """Where a group publishes one value, everybody in it has it: so many people with these
    attributes and this value (or, pooled, with one outside every event) must be in the table."""
    signatures = len(table.signatures)
    edge = np.searchsorted(lines.value_group, np.arange(len(lines.ids) + 1))
    code = lines.value_code[edge[:-1]]
    people = np.flatnonzero((code == lines.value_code[edge[1:] - 1])[lines.group])
    signature, value = lines.signature[people], code[lines.group[people]]
    over = _excess(table, signature, value, np.ones(len(people), np.int64))
    held_signature, held_value, held = table.cells
    outside = np.append(table.value_event, np.int32(-1)) < 0
    shown = np.bincount(signature[outside[value]], minlength=signatures)
    there = outside[held_value]
    free = np.bincount(held_signature[there], held[there], signatures).astype(np.int64)
    fits = max(over, int((shown - free).clip(0).sum())) <= changed
    detail = "groups of one value show people whom the table does not have with that value"
    return Check("groups of one value", fits, "" if fits else detail)


def _check_alike(table: Table, lines: Lines, changed: int) -> Check:
    """Where all people of a group have the same attributes, its values are theirs: so many people
    with these attributes and each value must be in the table."""
    first = np.zeros(len(lines.ids), np.int32)
    first[lines.group] = lines.signature
    alike = np.ones(len(lines.ids), bool)
    alike[lines.group[lines.signature != first[lines.group]]] = False
    told = np.flatnonzero(alike[lines.value_group])
    signature = first[lines.value_group[told]]
    over = _excess(table, signature, lines.value_code[told], lines.value_count[told])
    detail = "groups of people with the same attributes show values that such people do not have"
    return Check("groups of one kind of people", over <= changed, "" if over <= changed else detail)


def _excess(table: Table, signature: IntArray, value: IntArray, count: NDArray[np.int64]) -> int:
    """How many more people with these attributes and values are shown than the table has; where a
    value is hidden, it is not known."""
    whole = len(table.values) if table.several is None else table.several.combinations
    told, width = value < whole, len(table.values)
    keys, place = np.unique(
        signature[told].astype(np.int64) * width + value[told], return_inverse=True
    )
    shown = np.bincount(place, count[told], len(keys))
    held_signature, held_value, held = table.cells
    known = held_signature.astype(np.int64) * width + held_value
    at = np.searchsorted(known, keys).clip(max=len(known) - 1)
    return int((shown - np.where(known[at] == keys, held[at], 0)).clip(0).sum())


def _check_members(
    release: Release, table: Table, rows: NDArray[np.int64] | None, changed: int
) -> Check:
    """The members table: every value behind a label once, as often as it is published."""
    listed = {(event, value): members for event, value, members in listed_members(table)}
    given = {(event, value): count for event, value, count in release.members.iter_rows()}
    name = "members of the table"
    if len(given) != release.members.height or set(given) != set(listed):
        return Check(name, False, "it does not list every value of every set event once")
    kept = np.arange(table.rows) if rows is None else np.flatnonzero(rows >= 0)
    counts = np.bincount(table.row_member[kept], minlength=len(table.members))
    held = {pair: int(counts[members].sum()) for pair, members in listed.items()}
    for pair, count in given.items():
        if count > held[pair] or (rows is not None and count != held[pair]) or count < 0:
            return Check(name, False, f'"{pair[1]}" of "{pair[0]}" occurs {held[pair]} times')
    shown = published_totals(release)
    for label in {label for label, _ in listed}:
        total = sum(count for (event, _), count in given.items() if event == label)
        if abs(total - shown.get(label, 0)) > changed:
            return Check(name, False, f'the members of "{label}" do not add up to its total')
    return Check(name, True)


def _check_record(table: Table, lines: Lines, rows: NDArray[np.int64], changed: int) -> Check:
    """Row by row: every group must publish the people and the values that the record puts in it."""
    name, pooled = "private record", len(table.values)
    kept = np.flatnonzero(rows >= 0)
    group: NDArray[np.int64] = np.searchsorted(lines.ids, rows[kept]).clip(max=len(lines.ids) - 1)
    if len(kept) != len(lines.group) or (lines.ids[group] != rows[kept]).any():
        return Check(name, False, "it puts rows into other groups than those published")
    if _difference(
        group * np.int64(len(table.signatures)) + table.row_signature[kept],
        lines.group * np.int64(len(table.signatures)) + lines.signature,
    ):
        return Check(name, False, "a group publishes other people than the record puts in it")
    pools = np.zeros(len(lines.ids), bool)
    whole = pooled if table.several is None else table.several.combinations
    pools[lines.value_group[lines.value_code >= whole]] = True
    value = table.row_value[kept]
    value = np.where(pools[group], table.masked[value], value)
    published = lines.value_group * np.int64(pooled + 1) + lines.value_code
    recorded = group * np.int64(pooled + 1) + value
    differ = _difference(recorded, np.repeat(published, lines.value_count))
    detail = "a group publishes other values than the rows that the record puts in it have"
    return Check(name, differ <= changed, "" if differ <= changed else detail)


def _difference(one: NDArray[np.int64], other: NDArray[np.int64]) -> int:
    """How many of the first keys have no partner of their own among the second; the number is the
    same the other way round, as both are equally many."""
    keys, sign = np.unique(np.concatenate([one, other]), return_inverse=True)
    weight = np.concatenate([np.ones(len(one)), -np.ones(len(other))])
    return int(np.bincount(sign, weight, len(keys)).clip(0).sum())


def _check_suppressed(release: Release, table: Table, lines: Lines) -> Check:
    """Carriers of the table who are not among the published values."""
    event = np.append(table.value_event, np.int32(-1))[lines.value_code]
    lost = int(table.carriers - lines.value_count[event >= 0].sum())
    claimed = release.certificate["rows"]["suppressed_with_event"]
    detail = "" if lost == claimed else f"{lost}, claimed {claimed}"
    return Check("suppressed carriers", lost == claimed, detail)


def _check_suppressed_apart(
    release: Release, table: Table, lines: Lines, rows: NDArray[np.int64] | None
) -> Check:
    """The same of columns that are published apart. Somebody may carry an event in several of them,
    so that without the record there are bounds only."""
    name, claimed = "suppressed carriers", release.certificate["rows"]["suppressed_with_event"]
    assert table.several is not None
    if rows is not None:
        lost = int((table.value_event[table.row_value[rows < 0]] >= 0).sum())
        return same_figure(name, lost, claimed)
    gone = []
    for codes, column in zip(table.several.codes.T, table.several.columns, strict=True):
        mine = lines.alone(codes)
        held = np.append(column.value_event, np.int32(-1))[mine.value_code] >= 0
        gone.append(column.carriers - int(mine.value_count[held].sum()))
    fits = max(gone) <= claimed <= sum(gone)
    return Check(name, fits, "" if fits else f"{max(gone)} to {sum(gone)}, claimed {claimed}")
