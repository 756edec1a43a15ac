"""Are the published values those of the original table?

A method may say that it changed some values. Each changed row can put at most one value where the
table has none, so every excess over the table that is found here may be at most that number; where
values are said to be true, nothing may exceed the table at all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import IntArray, Ints
from shoal.data.spec import OTHER
from shoal.data.table import Table
from shoal.groups.partition import Partition
from shoal.groups.ragged import Counts, Ragged
from shoal.groups.suppressed import cell_key, cell_keys
from shoal.release import Release
from shoal.release.record import Record
from shoal.release.tables import listed_members
from shoal.release.verification.files import Claim, published_totals, same_figure


@dataclass(frozen=True, eq=False)
class PublishedLines:
    """Both published tables in the codes of the original one, groups numbered in gid order."""

    ids: Ints
    """The gid of each group, of the first where there are copies."""
    copies: Ints
    group: Ints
    """The group of some people who are alike."""
    signature: IntArray
    """Their signature."""
    people: Ints
    """How many they are in each copy."""
    values: Counts
    """The values of each copy of a group; `len(table.values)` stands for the pooled ones outside
    every event."""

    @property
    def everybody(self) -> Ints:
        """How many people each line stands for, in all copies."""
        return self.people * self.copies[self.group]

    @property
    def often(self) -> Ints:
        """How often each of the values is there, in all copies."""
        return self.values.times(self.copies)

    def partition(self, table: Table) -> Partition:
        """The release as the adversary sees it."""
        lines = self.copies, self.group, self.signature, self.people, self.values
        return Partition.from_published(table, *lines)

    def alone(self, codes: IntArray) -> PublishedLines:
        """The lines of one of several columns; `codes` are what each value is there."""
        held = self.values
        alone = Counts.of_lines(held.owner, codes[held.code], held.count, held.owners)
        return replace(self, values=alone)


def check_values(
    release: Release, table: Table, lines: PublishedLines, record: Record | None
) -> list[Claim]:
    """All that can be said of published values, with the publisher's own record or without. Columns
    that are published apart are looked at one by one."""
    several, changed = table.several, int(release.certificate["rows"]["values_changed"])
    if several is None or not table.spec.publish_apart:
        checks = _check_lines(release, table, lines, record)
        return checks if changed else [*checks, _check_suppressed(release, table, lines)]
    checks = []
    for place, (codes, column) in enumerate(zip(several.codes.T, several.columns, strict=True)):
        name, mine = column.members.name, None
        if record is not None:
            mine = record.alone(codes, several.member_codes[:, place], len(column.members))
        found = _check_lines(release.alone(name), column, lines.alone(codes), mine)
        checks += [replace(one, name=f"{one.name}, {name}") for one in found]
    return [*checks, _check_suppressed_apart(release, table, lines, record)]


def _check_lines(
    release: Release, table: Table, lines: PublishedLines, record: Record | None
) -> list[Claim]:
    """All but who is missing."""
    changed = int(release.certificate["rows"]["values_changed"])
    checks = [
        _check_totals(table, lines, changed),
        _check_single(table, lines, changed),
        _check_alike(table, lines, changed),
        _check_members(release, table, record, changed),
    ]
    if record is not None:
        checks.append(_check_record(table, lines, record, changed))
    return checks


def _check_totals(table: Table, lines: PublishedLines, changed: int) -> Claim:
    """No value may be published more often than it occurs, nor all values outside every event
    together, of which pooled ones are not told apart."""
    name, pooled = "values of the table", len(table.values)
    totals = np.bincount(lines.values.code, lines.often, pooled + 1).astype(np.int64)
    over = totals[:-1] - table.value_rows
    if table.several is not None:  # masks stand for people whose combinations have them
        whole, masks = table.several.combinations, table.several.masks
        by_mask = np.bincount(table.several.mask, totals, len(masks.values))
        none = table.several.mask[-1]
        over[whole:] = (by_mask - masks.value_rows)[table.several.mask[whole:-1]]
        over = np.append(over, by_mask[none] - masks.value_rows[none])
    if over.clip(0).sum() > changed:
        worst = (*table.values, OTHER)[int(over.argmax())]
        return Claim(name, False, f'"{worst}" is published more often than it occurs in the table')
    outside = table.shown_event < 0
    if totals[outside].sum() - table.value_rows[outside[:-1]].sum() > changed:
        return Claim(name, False, "more people are published without an event than the table has")
    return Claim(name, True)


def _check_single(table: Table, lines: PublishedLines, changed: int) -> Claim:
    """Where a group publishes one value, everybody in it has it: so many people with these
    attributes and this value (or, pooled, with one outside every event) must be in the table."""
    signatures = len(table.signatures)
    code = lines.values.code[lines.values.start[:-1]]
    people = np.flatnonzero((lines.values.lengths == 1)[lines.group])
    signature, value = lines.signature[people], code[lines.group[people]]
    everybody = lines.everybody[people]
    over = _excess(table, signature, value, everybody)
    held_signature, held_value, held = table.cells
    outside = table.shown_event < 0
    mine = outside[value]
    shown = np.bincount(signature[mine], everybody[mine], signatures).astype(np.int64)
    there = outside[held_value]
    free = np.bincount(held_signature[there], held[there], signatures).astype(np.int64)
    fits = max(over, int((shown - free).clip(0).sum())) <= changed
    detail = "groups of one value show people whom the table does not have with that value"
    return Claim.of("groups of one value", fits, detail)


def _check_alike(table: Table, lines: PublishedLines, changed: int) -> Claim:
    """Where all people of a group have the same attributes, its values are theirs: so many people
    with these attributes and each value must be in the table."""
    first = np.zeros(len(lines.ids), np.int32)
    first[lines.group] = lines.signature
    alike = np.ones(len(lines.ids), bool)
    alike[lines.group[lines.signature != first[lines.group]]] = False
    told = np.flatnonzero(lines.values.spread(alike))
    signature = lines.values.spread(first)[told]
    over = _excess(table, signature, lines.values.code[told], lines.often[told])
    detail = "groups of people with the same attributes show values that such people do not have"
    return Claim.of("groups of one signature", over <= changed, detail)


def _excess(table: Table, signature: IntArray, value: IntArray, count: Ints) -> int:
    """How many more people with these attributes and values are shown than the table has; where a
    value is hidden, it is not known."""
    whole = len(table.values) if table.several is None else table.several.combinations
    told = value < whole
    mine = cell_key(table, signature[told], value[told])
    keys, place = np.unique(mine, return_inverse=True)
    shown = np.bincount(place, count[told], len(keys))
    known, held = cell_keys(table), table.cells.rows
    at = np.searchsorted(known, keys).clip(max=len(known) - 1)
    return int((shown - np.where(known[at] == keys, held[at], 0)).clip(0).sum())


def _check_members(release: Release, table: Table, record: Record | None, changed: int) -> Claim:
    """The members table: every value behind a label once, as often as it is published."""
    listed = {(event, value): members for event, value, members in listed_members(table)}
    lines = release.members
    given = {(event, value): count for event, value, count in lines.iter_rows()}
    name = "members of the table"
    if len(given) != lines.height or set(given) != set(listed):
        return Claim(name, False, "it does not list every value of every set event once")
    told = None if record is None else record.members
    counts = table.member_rows if told is None else told
    held = {pair: int(counts[members].sum()) for pair, members in listed.items()}
    for pair, count in given.items():
        if count > held[pair] or (told is not None and count != held[pair]) or count < 0:
            return Claim(name, False, f'"{pair[1]}" of "{pair[0]}" occurs {held[pair]} times')
    shown = published_totals(release)
    for label in {label for label, _ in listed}:
        total = sum(count for (event, _), count in given.items() if event == label)
        if abs(total - shown.get(label, 0)) > changed:
            return Claim(name, False, f'the members of "{label}" do not add up to its total')
    return Claim(name, True)


def _check_record(table: Table, lines: PublishedLines, record: Record, changed: int) -> Claim:
    """Group by group: each must publish the people and the values that the record puts in it."""
    name, pooled = "private record", len(table.values)
    copy = np.searchsorted(lines.ids, record.gid, side="right") - 1
    inside = (copy >= 0) & (record.gid < (lines.ids + lines.copies)[copy])
    if not inside.all() or record.people.sum() != lines.everybody.sum():
        return Claim(name, False, "it puts rows into other groups than those published")
    signatures = np.int64(len(table.signatures))
    if _difference(
        (record.gid * signatures + record.signature, record.people),
        _spread(lines, signatures, lines.group, lines.signature, lines.people),
    ):
        return Claim(name, False, "a group publishes other people than the record puts in it")
    whole = pooled if table.several is None else table.several.combinations
    pools = lines.values.any(lines.values.code >= whole)
    value = np.where(pools[copy], table.masked[record.value], record.value)
    width, held = np.int64(pooled + 1), lines.values
    differ = _difference(
        (record.gid * width + value, record.people),
        _spread(lines, width, held.owner, held.code, held.count),
    )
    detail = "a group publishes other values than the rows that the record puts in it have"
    return Claim.of(name, differ <= changed, detail)


def _spread(
    lines: PublishedLines, width: np.int64, group: Ints, code: IntArray, count: Ints
) -> tuple[Ints, Ints]:
    """Lines of groups, once for each copy: the gid with one of so many codes, and the count."""
    copies = Ragged.of_lengths(lines.copies[group])
    gid = copies.spread(lines.ids[group]) + copies.nth
    return gid * width + copies.spread(code), copies.spread(count)


def _difference(one: tuple[Ints, Ints], other: tuple[Ints, Ints]) -> int:
    """How many of the first keys, each so often, have no partner of their own among the second; the
    number is the same the other way round, as both are equally many."""
    keys, place = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
    weight = np.concatenate([one[1], -other[1]])
    return int(np.bincount(place, weight, len(keys)).clip(0).sum())


def _check_suppressed(release: Release, table: Table, lines: PublishedLines) -> Claim:
    """Carriers of the table who are not among the published values."""
    event = table.shown_event[lines.values.code]
    lost = int(table.carriers - lines.often[event >= 0].sum())
    claimed = release.certificate["rows"]["suppressed_with_event"]
    return same_figure("suppressed cases", lost, claimed)


def _check_suppressed_apart(
    release: Release, table: Table, lines: PublishedLines, record: Record | None
) -> Claim:
    """The check of who is missing, of columns that are published apart. Somebody may carry an event
    in several of them, so that without the record there are bounds only."""
    name, claimed = "suppressed cases", release.certificate["rows"]["suppressed_with_event"]
    assert table.several is not None
    if record is not None:
        _, value, rows = record.missing(table)
        return same_figure(name, int(rows[table.value_event[value] >= 0].sum()), claimed)
    gone = []
    for codes, column in zip(table.several.codes.T, table.several.columns, strict=True):
        mine = lines.alone(codes)
        held = column.shown_event[mine.values.code] >= 0
        gone.append(column.carriers - int(mine.often[held].sum()))
    fits = max(gone) <= claimed <= sum(gone)
    return Claim.of(name, fits, f"{max(gone)} to {sum(gone)}, claimed {claimed}")
