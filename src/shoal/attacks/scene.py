"""The scene of an attack: a release as attackers see it, and the truth that scores guesses."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from shoal.attacks.lineup import Lineup
from shoal.attacks.odds import Floats, Ints
from shoal.auditing.counting import missing_people
from shoal.grouping import Grouping
from shoal.knowledge import Knowledge, event_chances
from shoal.spec import Limit
from shoal.table import Table

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
    def sample(self) -> Lineup:
        """As many of the groups as can be looked at closely."""
        rng = self.rng("sample")
        return self.lineup.sample(MOST_CASES, widest=WIDEST, rng=rng)

    @cached_property
    def missing(self) -> Lineup:
        """Whoever is not published."""
        gone = missing_people(self.table, self.grouping)
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
    def before(self) -> Floats:
        """signatures x events: what all views together say before anything is published, as the
        mean of their chances."""
        total = np.zeros((len(self.table.signatures), len(self.table.events)))
        for view in self.knowledge.views:
            total += event_chances(view, self.table)[view.index]
        return total / len(self.knowledge.views)
