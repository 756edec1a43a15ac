"""The line-up: everybody in a group that holds an event, as somebody sees them who has only the
release and the public knowledge; and the truth, apart, to score guesses by.

A *case* is one event in one group that holds it; its *suspects* are the group's members, one after
another in random order. What they are known by is in columns, one for each view and reader.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.insider.odds import Floats, Ints, suspect_odds
from shoal.grouping import Grouping
from shoal.grouping.partition import ragged
from shoal.knowledge import Knowledge
from shoal.table import Table

Bools = NDArray[np.bool_]
Limit = Literal["absolute", "prior"]
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Lineup:
    """All cases of a release, one after another."""

    table: Table
    grouping: Grouping
    knowledge: Knowledge
    limit: Limit
    """absolute: nobody was to be linked with more than 1/r; prior: or than was known before."""
    start: Ints
    """Where the suspects of each case begin, and where the last end."""
    event: Ints
    """The event of each case."""
    signature: Ints
    """Of each suspect."""
    shown: Ints
    """The value that each suspect's row is published as: public as the group's multiset only."""
    carries: Bools
    """The truth: who of the suspects carries the event."""
    chance: Floats
    """suspects x views: the event's probability for each suspect, before anything is published."""
    odds: Floats
    """suspects x columns: the joint reader's in every view, then the binary reader's."""

    @classmethod
    def of(
        cls,
        table: Table,
        grouping: Grouping,
        knowledge: Knowledge,
        *,
        limit: Limit = "absolute",
        rng: np.random.Generator,
    ) -> Lineup:
        """Each copy of a group is a case of its own. `rng` puts suspects in order: it must have
        nothing to do with what the release was made with, since of equals the first is named."""
        source, event = _cases(table, grouping)
        lines = np.searchsorted(grouping.group, np.arange(len(grouping.copies) + 1))
        owner, line = ragged(lines, source)
        rows = grouping.rows[line]
        case, line = np.repeat(owner, rows), np.repeat(line, rows)
        order = rng.permutation(len(case))
        line = line[order[np.argsort(case[order], kind="stable")]]
        start = np.concatenate([[0], np.cumsum(grouping.sizes[source])]).astype(np.int64)
        signature = grouping.signature[line].astype(np.int64)
        shown = grouping.published_values(table)[line].astype(np.int64)
        chance, odds = suspect_odds(table, knowledge, start, event, signature, shown)
        return cls(
            table=table,
            grouping=grouping,
            knowledge=knowledge,
            limit=limit,
            start=start,
            event=event,
            signature=signature,
            shown=shown,
            carries=np.asarray(table.value_event[grouping.value[line]] == event[case]),
            chance=chance,
            odds=odds,
        )

    @property
    def cases(self) -> int:
        return len(self.event)

    @cached_property
    def size(self) -> Ints:
        """How many suspects each case has."""
        return np.diff(self.start)

    @cached_property
    def case(self) -> Ints:
        """The case of each suspect."""
        return np.repeat(np.arange(self.cases), self.size)

    @cached_property
    def r(self) -> Floats:
        """The r of each case's event."""
        return self.table.event_r[self.event]

    @cached_property
    def carriers(self) -> Ints:
        """How many suspects of each case carry its event: that much is published."""
        return np.add.reduceat(self.carries.astype(np.int64), self.start[:-1])

    @cached_property
    def prior(self) -> Floats:
        """What the best view says of each suspect before anything is published."""
        return np.asarray(self.chance.max(axis=1))

    @cached_property
    def unknown(self) -> Bools:
        """The cases all of whose carriers are beforehand at 1/r at most, in every view."""
        known = self.carries & (self.prior * self.r[self.case] > 1 + ROUNDING)
        return np.asarray(~np.logical_or.reduceat(known, self.start[:-1]))

    @cached_property
    def log_odds(self) -> Floats:
        return np.log(self.odds)

    def total(self, numbers: Floats) -> Floats:
        """For each suspect, the sum over all suspects of the case."""
        return np.asarray(np.add.reduceat(numbers, self.start[:-1])[self.case])

    def right(self, scores: Floats) -> Bools:
        """Whether the suspect of each case with the largest score carries; of equals, the first."""
        order = np.lexsort((np.arange(len(scores)), -scores, self.case))
        return self.carries[order[self.start[:-1]]]

    def by_size(self) -> list[Ints]:
        """The suspects of all cases of one size (cases x size), for each size."""
        starts = self.start[:-1]
        sizes = np.unique(self.size)
        return [starts[self.size == size][:, None] + np.arange(size) for size in sizes]


def _cases(table: Table, grouping: Grouping) -> tuple[Ints, Ints]:
    """The group and the event of each case, in order, once for every copy of the group."""
    event = table.value_event[grouping.value].astype(np.int64)
    held = event >= 0
    events = max(1, len(table.events))
    keys = np.unique(grouping.group[held] * events + event[held])
    keys = np.repeat(keys, grouping.copies[keys // events])
    return keys // events, keys % events
