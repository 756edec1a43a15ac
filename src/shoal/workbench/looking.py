"""What there is to see of a release: its groups beside the people whom they hold, how each
attribute moves a link, what would be said about somebody, and counts beside the table's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from shoal.arrays import IntArray, Ints
from shoal.auditing.adversaries.joint import binary_posterior, joint_posterior
from shoal.data.spec import OTHER
from shoal.data.table import Column, Table
from shoal.errors import InputError
from shoal.groups.generalization import missing_code
from shoal.knowledge import Knowledge, View
from shoal.knowledge.knowledge import event_chances, value_chances
from shoal.release import Release
from shoal.release.utility.errors import Estimate

FEW_BINS, MOST_VALUES = 8, 20
"""So many bars at most, and so many values of which something is said."""


@dataclass(frozen=True)
class Group:
    """One published group."""

    gid: int
    people: list[tuple[tuple[str, ...], int, float | None]]
    """Attributes as published, how many people have them, and their weight if there is one."""
    values: list[tuple[str, int]]
    """The values that the group holds, and how many people have each."""

    @property
    def size(self) -> int:
        return sum(count for _, count in self.values)


@dataclass(frozen=True)
class Step:
    """What one more attribute does to a person's link: the chance without any release, and with
    this group."""

    attributes: str
    prior: float
    posterior: float


@dataclass(frozen=True)
class Moved:
    """How far an adversary gets with one of a group's people."""

    person: tuple[str, ...]
    event: str
    limit: float
    steps: list[Step]
    """From no attribute to all, one more in each step."""
    views: list[Step]
    """Every view, the one that links most surely first."""


@dataclass(frozen=True)
class ValueLine:
    """How many people a count is of, in the table and by the release."""

    label: str
    before: int | None
    after: Estimate
    share: float
    """The part of all people with these attributes, by the release."""


def group_of(release: Release, gid: int) -> Group | None:
    """The group of a number; None if there is none."""
    held, values = release.qi_runs, release.sensitive_runs
    place, other = _owner(held.first, held.copies, gid), _owner(values.first, values.copies, gid)
    if place is None or other is None:
        return None
    mine, theirs = held.stretch(place), values.stretch(other)
    lines = held.lines[mine]
    weights = lines[release.weight].to_list() if release.weight else [None] * len(lines)
    shown = lines.select(pl.col(*release.spec.qi).cast(pl.String).fill_null("(missing)"))
    names = list(release.spec.sensitive_columns)
    texts = values.lines[theirs].select(*names, "count")
    return Group(
        gid,
        [
            (line, int(times), weight)
            for line, times, weight in zip(shown.rows(), held.times[mine], weights, strict=True)
        ],
        [(" | ".join(map(str, value)), count) for *value, count in texts.rows()],
    )


def _owner(first: Any, copies: Any, gid: int) -> int | None:
    place = int(np.searchsorted(first, gid, side="right")) - 1
    return place if place >= 0 and gid < first[place] + copies[place] else None


def moved(table: Table, knowledge: Knowledge, group: Group, person: int) -> list[Moved]:
    """How each attribute moves the link of one of a group's people to the protected events that the
    group holds. Empty where people are not published with their exact attributes."""
    signatures = [_signature(table, shown) for shown, _, _ in group.people]
    if any(one is None for one in signatures):
        return []
    times = [count for _, count, _ in group.people]
    everybody = np.repeat(np.array(signatures, np.int32), times)
    mine = int(np.cumsum([0, *times])[person])
    code = {label: number for number, label in enumerate(table.values)} | {OTHER: len(table.values)}
    values = [code[label] for label, count in group.values for _ in range(count)]
    event_of = np.append(table.value_event, -1)[values]
    found = []
    for event in np.unique(event_of[event_of >= 0]).tolist():
        views = {
            one.attributes: _step(table, one, everybody, np.array(values, np.int32), event, mine)
            for one in knowledge.views
            if one.counted
        }
        start = Step(
            "",
            float(table.event_rows[event] / table.rows),
            float((event_of == event).mean()),
        )
        label, r = table.events[event].label, table.events[event].r or table.spec.r
        order = sorted(views.values(), key=lambda one: -one.posterior)
        known = {frozenset(_column(name, table) for name in a): views[a] for a in reversed(views)}
        chain = _chain(start, known)
        found.append(Moved(group.people[person][0], label, 1 / r, chain, order))
    return found


def _step(
    table: Table, view: View, people: IntArray, values: IntArray, event: int, mine: int
) -> Step:
    row = view.index[people]
    prior = event_chances(view, table)[row, event]
    held = np.append(table.value_event, -1)[values] == event
    try:
        codes, place = np.unique(values, return_inverse=True)
        chances = value_chances(view, table, codes.astype(np.int32))[row]
        cases = np.unique(place[held])
        posterior = joint_posterior(chances, place)[mine, cases].sum()
    except InputError:  # too large for an exact answer, or a world that is not possible
        posterior = binary_posterior(prior, int(held.sum()))[mine]
    return Step(view.name, float(prior[mine]), float(posterior))


def _column(name: str, table: Table) -> str:
    """The column of an attribute, which a band such as age/10 is of too."""
    names = [one.name for one in table.qi]
    return (
        name
        if name in names
        else max((one for one in names if name.startswith(f"{one}/")), key=len, default=name)
    )


def _chain(start: Step, views: Mapping[frozenset[str], Step]) -> list[Step]:
    """From no attribute to all: each step takes in the one that moves the link farthest."""
    chain, known = [start], frozenset[str]()
    while True:
        more = {
            attributes: step
            for attributes, step in views.items()
            if known < attributes and len(attributes) == len(known) + 1
        }
        if not more:
            return chain
        last = chain[-1].posterior
        known = max(more, key=lambda one: (abs(more[one].posterior - last), sorted(one)))
        chain.append(more[known])


def _signature(table: Table, shown: Sequence[str]) -> int | None:
    """The signature of somebody with published attributes; None if nobody has just these."""
    codes = [column.code_of(text) for column, text in zip(table.qi, shown, strict=True)]
    found = np.flatnonzero((table.signatures == np.array(codes)).all(axis=1))
    return int(found[0]) if len(found) else None


def like(
    release: Release, table: Table | None, where: Mapping[str, str], column: str
) -> tuple[ValueLine, list[ValueLine]]:
    """What would be said about somebody with some attributes: how many such people there are, and
    which values they have, by the release alone and as the table has it."""
    allowed = {name: _read(release, name, text) for name, text in where.items()}
    whole = release.count(allowed)
    true = None if table is None else _true_counts(table, where)
    lines = release.sensitive_runs.totals(pl.col(column), "count").sort("count", descending=True)
    found = []
    for value in lines[column].to_list()[:MOST_VALUES]:
        count = release.count({**allowed, column: value})
        before = None if true is None else true.get(str(value))
        found.append(ValueLine(str(value), before, count, _share(count, whole)))
    found.sort(key=lambda one: -one.share)
    return ValueLine("", None if true is None else sum(true.values()), whole, 1.0), found


def _share(part: float, whole: float) -> float:
    return min(1.0, part / whole) if whole else 0.0


def _read(release: Release, name: str, text: str) -> Any:
    """A value as its column has it."""
    column = next(one for one in release.coded.columns if one.name == name)
    code = column.code_of(text)
    if code < 0:
        raise InputError(
            "look-value", f'Nobody in the release has "{text}" as {name}.', "Choose another."
        )
    return [column.values[code]]


def _true_counts(table: Table, where: Mapping[str, str]) -> dict[str, int]:
    """How many people with some attributes have each value, in the table."""
    signature, value, rows = table.cells
    mine = np.ones(len(table.signatures), bool)
    for place, column in enumerate(table.qi):
        if column.name in where:
            mine &= table.signatures[:, place] == column.code_of(where[column.name])
    counts = np.bincount(value, rows * mine[signature], len(table.values))
    return {label: int(count) for label, count in zip(table.values, counts, strict=True)}


def crossed(
    release: Release, table: Table, by: Sequence[str], column: str, value: str
) -> list[ValueLine]:
    """How many people have a value, by ranges of one attribute or of several together: the table's
    count, and the release's with its error."""
    names = [one.name for one in table.qi]
    bins = [_bins(table.qi[place], table.qi_rows(place)) for place in map(names.index, by)]
    signature, code, count = table.cells
    wanted = code == table.values.index(value)
    held = table.signatures[signature[wanted]]
    found = []
    for cell in product(*bins):
        mine, where = np.ones(len(held), bool), {}
        for name, (_, codes) in zip(by, cell, strict=True):
            place = names.index(name)
            mine &= np.isin(held[:, place], codes)
            where[name] = [table.qi[place].values[int(one)] for one in codes]
        estimate = release.count({**where, column: value})
        label = ", ".join(label for label, _ in cell)
        share = _share(estimate, release.count(where))
        found.append(ValueLine(label, int(count[wanted][mine].sum()), estimate, share))
    return found


def _bins(column: Column, rows: Ints) -> list[tuple[str, IntArray]]:
    """Few enough for bars: each value; or the commonest and all others; or, of numbers, ranges of
    about as many people, and the missing."""
    codes = np.flatnonzero(rows > 0)
    if len(codes) <= FEW_BINS:
        return [(column.labels[one], np.array([one])) for one in codes.tolist()]
    if not column.values.dtype.is_numeric():
        order = codes[np.argsort(-rows[codes], kind="stable")]
        few = [(column.labels[one], np.array([one])) for one in order[: FEW_BINS - 1].tolist()]
        return [*few, ("(all others)", order[FEW_BINS - 1 :])]
    missing = missing_code(column)
    order = codes[codes < missing]  # sorted, as a column's values are
    part = np.minimum(
        (np.cumsum(rows[order]) - 1) * FEW_BINS // rows[order].sum(), FEW_BINS - 1
    ).astype(int)
    pieces = [order[part == number] for number in range(FEW_BINS)]
    pieces.append(codes[codes >= missing])
    return [(_range(column, piece), piece) for piece in pieces if len(piece)]


def _range(column: Column, codes: IntArray) -> str:
    """What values from the first to the last are called."""
    first, last = (column.labels[code] for code in (codes[0], codes[-1]))
    return first if first == last else f"{first} to {last}"
