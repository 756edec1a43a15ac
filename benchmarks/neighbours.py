"""Neighbouring tables: two that differ in one person's value, each released with fresh seeds.

Somebody who knows every row but one, and sees a release, asks which of the two tables it was made
of. A carrier is always in a group that holds an event, so that being in none tells that somebody
does not carry: that much is published by design. The question is what the change of one value tells
beyond it: of the others who are like the changed person, and of a person without an event who gets
another value without an event.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from benchmarks.stages import Say
from shoal.arrays import IntArray, Ints
from shoal.attacks import Rate
from shoal.data import datasets
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.groups import Grouping
from shoal.knowledge import Knowledge
from shoal.methods.art import Art
from shoal.plain import plain

PAIRS, RELEASES = 20, 8
ROWS, R, MIN_SUPPORT = 5_000, 3.0, 100
STREAM = 7002


@dataclass
class Standing:
    """Where somebody was found, over several releases."""

    inside: list[bool] = field(default_factory=list)
    """Whether the group held an event."""
    size: list[int] = field(default_factory=list)

    def facts(self) -> dict[str, Any]:
        rate = Rate(len(self.inside), sum(self.inside))
        return plain(rate.result) | {"mean_size": round(float(np.mean(self.size)), 3)}


def measure_neighbours(
    say: Say, *, pairs: int = PAIRS, releases: int = RELEASES, rows: int = ROWS
) -> list[dict[str, Any]]:
    """One line for carriers who become filler, one for filler that becomes other filler: how often
    the changed person's group, and the groups of others of its class, hold an event."""
    changes = ("a case loses the event", "another value changes")
    who = ("changed", "others")
    found = {
        (change, one, table): Standing()
        for change in changes
        for one in who
        for table in ("before", "after")
    }
    for pair, rng in enumerate(np.random.default_rng(STREAM).spawn(pairs)):
        table = _table(datasets.hospital(rows, seed=pair))
        knowledge, event = Knowledge.of(table), table.everybody.event
        carrier = int(rng.choice(np.flatnonzero(event >= 0)))
        filler = int(rng.choice(lookalikes(table, knowledge, carrier)))
        groupings = [_release(table, rng) for _ in range(releases)]
        for change, person in zip(changes, (carrier, filler), strict=True):
            others = lookalikes(table, knowledge, person)
            other_table = changed(table, person, others, rng)
            again = [_release(other_table, rng) for _ in range(releases)]
            for side, one, made in (("before", table, groupings), ("after", other_table, again)):
                for grouping in made:
                    _note(found[change, "changed", side], one, grouping, np.array([person]), rng)
                    _note(found[change, "others", side], one, grouping, others, rng)
        say(f"  pair {pair + 1} of {pairs}")
    lines = []
    for change in changes:
        line: dict[str, Any] = {"change": change, "rows": rows, "r": R, "min_support": MIN_SUPPORT}
        line |= {"pairs": pairs, "releases": releases}
        for one in who:
            line[one] = {side: found[change, one, side].facts() for side in ("before", "after")}
            say(f"  {change}, {one}: {line[one]}")
        lines.append(line)
    return lines


def lookalikes(table: Table, knowledge: Knowledge, person: int) -> Ints:
    """The other people without an event in the person's smallest known class."""
    signature = table.everybody.signature
    smallest = np.arange(table.rows)
    for view in knowledge.views:
        mine = view.index[signature[person]]
        members = np.flatnonzero(view.index[signature] == mine)
        if mine > 0 and len(members) < len(smallest):
            smallest = members
    without = table.everybody.event[smallest] < 0
    return smallest[without & (smallest != person)]


def changed(table: Table, person: int, others: Ints, rng: np.random.Generator) -> Table:
    """The same table, but that the person has the value of one of the others who has another."""
    value = table.everybody.value
    drawn = table.values[value[rng.choice(others[value[others] != value[person]])]]
    name, here = table.spec.sensitive, pl.int_range(pl.len()) == person
    one_changed = pl.when(here).then(pl.lit(drawn)).otherwise(name).alias(name)
    return _table(table.native.with_columns(one_changed))


def seats(table: Table, grouping: Grouping, people: Ints, rng: np.random.Generator) -> Ints:
    """The group of each of these people, -1 for whoever is missing. Who of those who are alike is
    where, is chance, and drawn for each alone."""
    everybody = _kinds(table, table.everybody.signature, table.everybody.value)
    lines = _kinds(table, grouping.signature, grouping.value)
    order, kind = np.argsort(lines, kind="stable"), everybody[people]
    ends = np.concatenate([[0], np.cumsum(grouping.people[order])])
    first, last = (ends[np.searchsorted(lines[order], kind, side)] for side in ("left", "right"))
    alike = np.sort(everybody)
    number = np.searchsorted(alike, kind, "right") - np.searchsorted(alike, kind, "left")
    drawn = first + rng.integers(number)
    group = np.append(grouping.group[order], -1)[np.searchsorted(ends, drawn, "right") - 1]
    return np.where(drawn < last, group, -1)


def _kinds(table: Table, signature: IntArray, value: IntArray) -> Ints:
    """People of one kind are alike in all that is known and published of them."""
    return signature.astype(np.int64) * len(table.values) + value


def _note(
    standing: Standing, table: Table, grouping: Grouping, people: Ints, rng: np.random.Generator
) -> None:
    """Whoever is missing is in a group of nobody."""
    group = seats(table, grouping, people, rng)
    holds, sizes = np.append(grouping.holding(table), False), np.append(grouping.sizes, 0)
    standing.inside += holds[group].tolist()
    standing.size += sizes[group].tolist()


def _release(table: Table, rng: np.random.Generator) -> Grouping:
    return Art().anonymize(table, seed=int(rng.integers(2**31)))


def _table(frame: pl.DataFrame) -> Table:
    spec = Spec(
        qi=datasets.HOSPITAL_QI,
        sensitive=datasets.HOSPITAL_SENSITIVE,
        protect=(datasets.HOSPITAL_EVENT,),  # type: ignore[arg-type]
        identifiers=("patient",),
        r=R,
        min_support=MIN_SUPPORT,
    )
    return Table.from_frame(frame, spec)
