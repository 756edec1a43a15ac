"""The scene of an attack: a release as attackers see it, and the truth that scores guesses."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from shoal.arrays import Bools, Floats, Ints
from shoal.attacks.counting import believed
from shoal.attacks.lineup import ROUNDING, Lineup
from shoal.auditing.releases import Constraints, Shown
from shoal.data.spec import Limit
from shoal.data.table import Table
from shoal.groups import Grouping
from shoal.groups.suppressed import left_out, missing_people
from shoal.knowledge import Knowledge, View, event_chances
from shoal.knowledge.entropy import Strata, all_counts

Remake = Callable[[Table, int], Grouping]
"""Makes a release of a table in the same way, from a seed."""
MOST_CASES, WIDEST = 4_000, 1_000
"""Whoever compares everybody in a group with everybody looks at so many groups, of so many kinds of
people at most."""


@dataclass(frozen=True, eq=False)
class Scene:
    """What is published of a table, and what is known beforehand."""

    table: Table
    """The people; whoever attacks knows their QIs."""
    grouping: Grouping
    knowledge: Knowledge
    limit: Limit = "absolute"
    readers: tuple[str, ...] = ("joint", "binary")
    """Whom the release answers."""
    exact: bool = True
    """Whether records show people's QIs as they are, and not only those of their group."""
    remake: Remake | None = None
    """How the release was made, where that is known."""
    shown: tuple[Shown, ...] = ()
    """The release, and others of the same people, by the rows of the table."""
    seed: int = 0
    until: float = field(default=float("inf"), repr=False)
    """When time is up, by the monotonic clock."""

    def rng(self, name: str) -> np.random.Generator:
        """Random numbers of an attacker's own, whoever else takes part."""
        return np.random.default_rng([self.seed, zlib.crc32(name.encode())])

    @property
    def late(self) -> bool:
        """Whether time is up."""
        return time.monotonic() > self.until

    @cached_property
    def lineup(self) -> Lineup:
        """All groups that hold an event."""
        return Lineup.of(self.table, self.grouping, self.knowledge, limit=self.limit)

    @cached_property
    def releases(self) -> Constraints:
        """What all releases publish."""
        return Constraints.of(self.table, self.shown)

    @cached_property
    def sample(self) -> Lineup:
        """As many of the groups as can be looked at closely."""
        rng = self.rng("sample")
        return self.lineup.sample(MOST_CASES, widest=WIDEST, rng=rng)

    @cached_property
    def missing(self) -> Lineup:
        """Whoever is not published."""
        gone = missing_people(self.table, left_out(self.table, self.grouping))
        return Lineup.of_missing(self.table, gone, self.knowledge, limit=self.limit)

    @cached_property
    def carriers(self) -> Ints:
        """signatures x events: the truth."""
        signature, value, rows = self.table.cells
        held = np.zeros((len(self.table.signatures), len(self.table.events)), np.int64)
        event = self.table.value_event[value]
        mine = event >= 0
        np.add.at(held, (signature[mine], event[mine]), rows[mine])
        return held

    @cached_property
    def counted_views(self) -> tuple[View, ...]:
        """The views whose people were counted in the table itself."""
        return Strata.of(self.table, self.knowledge).views

    @cached_property
    def by_counts(self) -> Floats:
        """signatures x events: everybody's chance before anything is published, by all counts
        together; by a view that nobody counted, such as a model's, if that says more."""
        shape = len(self.table.signatures), len(self.table.events)
        found = np.broadcast_to(self.table.event_rows / self.table.rows, shape)
        if self.counted_views:
            found = all_counts(self.table, self.knowledge).chance
        for view in set(self.knowledge.views) - set(self.counted_views):
            found = np.maximum(found, event_chances(view, self.table)[view.index])
        return found

    @cached_property
    def believed(self) -> tuple[Floats, Floats]:
        """What all counts together say of each suspect, in groups and among the missing, once these
        are published."""
        return believed(self.lineup, self.missing, self.counted_views)

    @cached_property
    def known(self) -> Bools:
        """signatures x events: of whom more than 1/r is known before anything is published."""
        return np.asarray(self.by_counts * self.table.event_r > 1 + ROUNDING)
