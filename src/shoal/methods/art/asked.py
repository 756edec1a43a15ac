"""What is asked of ART's groups: whom they must answer, and how far a link may go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from shoal.arrays import Bools, Floats, Whole
from shoal.data.table import Table
from shoal.groups import Grouping
from shoal.knowledge import Knowledge, Reader, event_chances, value_chances
from shoal.knowledge.entropy import all_counts, most_counted
from shoal.methods.art.classes import Counts, class_counts
from shoal.methods.art.limits import strengths
from shoal.methods.art.masks import Masks

LEAST, MOST = 1e-9, 1.0 - 1e-4
"""Chances that a search goes by: nobody is impossible or certain to it."""
COMMON = 0.05
"""Where other releases follow, cases draw values that are as common: of a rarer one, a stratum that
is known later may have nobody, and then its case is known."""
KEPT = 1 << 22
"""Columns of more numbers than that are made anew when they are asked for again."""


class OddsColumn(NamedTuple):
    """One reader's odds of a value against another in one view."""

    view: int
    """Its number."""
    at: Whole
    """Of each signature: its distribution."""
    odds: Floats
    """Of each distribution."""
    strength: Floats
    """Of each distribution: one over the limit."""
    known: Floats
    """distributions x (event, x, y): probabilities. Where they are equal, no reader of a group of x
    and y tells people apart."""
    again: bool = False
    """Whether a reader before has the same odds in the same view."""


class Promise(NamedTuple):
    """What is promised of one event."""

    r: float
    holds: Bools
    """Which of the table's values hold it."""
    chances: list[Floats]
    """Its probability by view that has classes, and distribution."""


@dataclass(frozen=True, eq=False)
class Asked:
    """Every posterior of every reader in every view stays within its limit: 1/r, or, under the
    honest limit, what the view says of the person beforehand if that is more."""

    table: Table
    """The table; of several sensitive columns that of their masks."""
    knowledge: Knowledge
    readers: tuple[Reader, ...]
    given: Table | None = None
    """The table of several columns."""
    told: Grouping | None = None
    """Groups that are published already, and stay as they are."""
    judged: Table | None = None
    """Where other releases may follow: the table with the limits that groups are judged by."""

    @classmethod
    def of(
        cls,
        table: Table,
        knowledge: Knowledge,
        readers: tuple[Reader, ...],
        told: Grouping | None = None,
        judged: Table | None = None,
    ) -> Asked:
        if table.several is None:
            return cls(table, knowledge, readers, told=told, judged=judged)
        return cls(table.several.masks, knowledge, readers, table)

    @property
    def rows(self) -> int:
        """How many people are in no group yet."""
        return self.whole.rows - (0 if self.told is None else self.told.published)

    @property
    def carriers(self) -> int:
        """How many of these carry an event."""
        told = 0 if self.told is None else self.told.carriers(self.whole)
        return self.whole.carriers - told

    @property
    def whole(self) -> Table:
        """The table as it was given."""
        return self.given or self.table

    @property
    def prior(self) -> bool:
        """Whether the limit is the honest one."""
        return self.whole.spec.limit == "prior"

    @property
    def width(self) -> int:
        """The number of columns: views times readers."""
        return len(self.knowledge.views) * len(self.readers)

    @cached_property
    def refused(self) -> Counter[int]:
        """How many groups failed in each column so far: where others are likely to fail."""
        return Counter()

    @cached_property
    def _kept(self) -> dict[tuple[int, int], list[OddsColumn]]:
        """The columns of the pairs of values that were asked for last."""
        return {}

    @cached_property
    def promises(self) -> list[Promise]:
        """What is promised, event by event."""
        whole, several = self.whole, self.whole.several
        classes = [n for n, view in enumerate(self.knowledge.views) if view.counted]
        return [
            Promise(
                float(whole.event_r[event]),
                whole.holds(event)[:-1] if several is None else several.mask_carries[:, event],
                [self._chances[number][:, event] for number in classes],
            )
            for event in range(len(whole.events))
        ]

    @cached_property
    def _chances(self) -> list[Floats]:
        """By view: distributions x events of the table as it was given."""
        return [event_chances(view, self.whole) for view in self.knowledge.views]

    def columns(self, x: int, y: int) -> list[OddsColumn]:
        """Every reader's odds of the event value x against the value y, view by view. Those of the
        values that were asked for last are kept: they are asked for again and again."""
        if (x, y) not in self._kept:
            self._kept[x, y] = list(self._columns(x, y))
            while len(self._kept) > 1 and sum(map(_numbers, self._kept.values())) > KEPT:
                del self._kept[next(iter(self._kept))]
        return self._kept[x, y]

    def _columns(self, x: int, y: int) -> Iterator[OddsColumn]:
        if self.masks is not None:
            for block in self.masks.blocks(x):
                everybody = np.arange(len(block.odds), dtype=np.int32)
                for w in range(block.odds.shape[1]):
                    odds, strength = (one[:, w].copy() for one in (block.odds, block.strength))
                    chances = [one[:, w] for one in (block.chance, *block.values)]
                    yield OddsColumn(w, everybody, odds, strength, np.column_stack(chances))
            return
        event, seen = int(self.table.value_event[x]), [list[Floats]() for _ in self.knowledge.views]
        r = float(self.table.event_r[event])
        for reader in self.readers:
            for number, view in enumerate(self.knowledge.views):
                odds = reader.odds(view, self.table, x, np.array([y], np.int32))[:, 0].copy()
                chance = self._chances[number][:, event]
                values = value_chances(view, self.table, np.array([x, y], np.int32))
                strength = strengths(r, chance, prior=self.prior)
                known = np.column_stack([chance, values])
                again = any(np.array_equal(odds, other) for other in seen[number])
                seen[number].append(odds)
                yield OddsColumn(number, view.index, odds, strength, known, again)

    @cached_property
    def people(self) -> Counts:
        """How many people each class has."""
        return class_counts(self.knowledge, self.table.signature_rows)

    @cached_property
    def rarest(self) -> Floats:
        """signatures x values: the smallest probability over views of what cases may draw."""
        least = np.full((len(self.table.signatures), len(self.table.values)), np.inf)
        for view in self.knowledge.views:
            np.minimum(least, view.distributions[view.index], out=least)
        least[:, self.table.value_event >= 0] = 0.0
        if self.judged is not None:
            least[least < COMMON] = 0.0
        return least

    @cached_property
    def _counts(self) -> Floats:
        """signatures x events: everybody's chance by all public counts together; by how common an
        event is, where nothing was counted."""
        return all_counts(self.whole, self.knowledge).chance

    def possible(self, event: int) -> Bools:
        """Whether somebody of each signature may carry an event, by all counts."""
        return np.asarray(self._counts[:, event] > 0.0)

    def counted(self, event: int) -> Floats:
        """Of each signature: its chance of an event by all counts, neither impossible nor certain
        to a search."""
        return np.clip(self._counts[:, event], LEAST, MOST)

    def sample_odds(self, event: int, rate: float) -> Floats:
        """Of each signature: the odds of an event in a matched sample, one in `rate` of whom
        carries unless more was known."""
        chance = self.counted(event)
        return np.maximum(chance / (1.0 - chance), 1.0 / (rate - 1.0))

    def most(self, event: int) -> Floats:
        """Of each signature: how far a link may go for whoever takes all counts together."""
        return np.maximum(1.0 / float(self.whole.event_r[event]), self._counts[:, event])

    def most_counted(self, event: int) -> Floats:
        """Of each signature: how much of a case one of its people may count as. Where other
        releases may follow, 1/r at most: weights stay, and counts of today do not."""
        most = most_counted(self.whole, self._counts)[:, event]
        if self.judged is not None:
            most = np.minimum(most, 1.0 / self.judged.event_r[event])
        return np.asarray(most)

    @cached_property
    def masks(self) -> Masks | None:
        """What is known of masks, where there are several sensitive columns."""
        if self.whole.several is None:
            return None
        names = tuple(reader.name for reader in self.readers)
        return Masks(self.whole, self.knowledge, names, prior=self.prior)


def _numbers(columns: list[OddsColumn]) -> int:
    return sum(one.odds.size + one.strength.size + one.known.size for one in columns)
