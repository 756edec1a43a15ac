"""Even groups: people of one signature, some of whom publish a value of an event and all others one
other value. No reader in any view tells them apart, so that everybody's posterior is the group's
share of the event. There may be millions of such groups: they are judged once, not in every view.

That holds unless a view calls impossible what such a group publishes, which no world explains then:
in that view all groups are judged one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Bools, Floats, IntArray, Ints
from shoal.auditing.adversaries.judging import Case, Judgement, judge_groups
from shoal.auditing.adversaries.kernels import judge as kernels
from shoal.auditing.adversaries.kernels.even import CellArrays, EvenLinks, find_even, judge_even
from shoal.groups.ragged import Ragged
from shoal.knowledge import View, event_chances, value_chances

WORTH = 0.5
"""Even groups are judged apart if they have at least this part of the pairs that are judged."""


@dataclass(frozen=True, eq=False)
class Even:
    """The even groups of a case with what is true of them in every view, and all other groups."""

    places: IntArray
    """Where their pairs stand among the case's held pairs."""
    others: IntArray
    """Where the held pairs of other groups stand there."""
    judged: EvenLinks
    rest: Case
    """The other groups alone."""
    _rest_group: Ints
    """Which groups of the case they are."""
    _rest_pair: Ints
    """Which of its pairs theirs are."""
    _apart: kernels.EvenGuesses
    _event_pair: Ints
    """Each event's most exposed pair, -1 where no even group holds it."""
    _shown: Bools
    """The table's cells whose people are in such groups."""
    _pooled: Bools
    """The signatures of whom some are pooled there."""

    @classmethod
    def of(cls, case: Case) -> Even | None:
        """None where they are too few to matter, or where links may be as strong as a view says."""
        part, table = case.partition, case.table
        if case.limit == "prior":
            return None
        shown, pooled = np.zeros(len(table.cells.rows), bool), np.zeros(len(table.signatures), bool)
        cells = CellArrays(
            Ragged.of_owners(table.cells.signature, len(pooled)).start, table.cells.value
        )
        group = find_even(case.groups, case.value_event, cells, shown, pooled)
        if len(group) < max(1.0, WORTH * len(case.held)):
            return None
        pair = part.pairs.start[group]
        kept = np.ones(part.groups, bool)
        kept[group] = False
        rest_group = np.flatnonzero(kept)
        rest_pair = np.flatnonzero(part.pairs.spread(kept))
        rest = replace(case, partition=part.some(rest_group))
        judged = judge_even(group, case.groups, case.value_event, case.event_r, case.known)
        return cls(
            places=np.searchsorted(case.held, pair).astype(np.int32),
            others=np.searchsorted(case.held, rest_pair[rest.held]).astype(np.int32),
            judged=judged,
            rest=rest,
            _rest_group=rest_group,
            _rest_pair=rest_pair,
            _apart=kernels.EvenGuesses(
                np.searchsorted(group, rest_group[rest.holders]),
                judged.right,
                judged.known,
                judged.made,
                judged.event_worst,
            ),
            _event_pair=np.where(judged.event_first < 0, -1, pair[judged.event_first]),
            _shown=shown,
            _pooled=pooled,
        )

    @property
    def exposure(self) -> Floats:
        """The posterior of each pair times its event's r."""
        return self.judged.posterior * self.rest.event_r[self.judged.event]

    @cached_property
    def most_exposed(self) -> tuple[int, float]:
        """Which of the pairs has the largest exposure, of equal ones the first, and how large."""
        exposure = self.exposure
        worst = int(np.argmax(exposure))
        return worst, float(exposure[worst])

    @cached_property
    def exposed(self) -> NDArray[np.uint8]:
        """Of each held pair, in bits: whether it is in an even group that exposes it."""
        exposed = np.zeros(len(self.places) + len(self.others), bool)
        exposed[self.places] = self.judged.breach
        return np.packbits(exposed)

    def possible(self, view: View, *, by_value: bool) -> bool:
        """Whether all in such groups can have what is published, and not only that, in a view."""
        table = self.rest.table
        signature, value, _ = table.cells
        row, value = view.index[signature[self._shown]], value[self._shown]
        if by_value:
            chance = view.distributions[row, value]
            if self._pooled.any():
                pool = value_chances(view, table, np.array([len(table.values)], np.int32))
                chance = np.append(chance, pool[view.index[self._pooled]])
            return bool((chance > 0.0).all())
        event = table.value_event[value]
        chance = event_chances(view, table)[row[event >= 0], event[event >= 0]]
        return bool(((chance > 0.0) & (1.0 - chance > 0.0)).all())

    def judge(self, view: View, number: int, *, by_value: bool) -> Judgement:
        """All groups of the case in a view in which that is possible."""
        rest = judge_groups(self.rest, view, number, by_value=by_value, even=self._apart)
        pairs = np.append(self._rest_pair, [-1, -1])
        return replace(
            rest,
            counted=(rest.counted[0] + int(self.judged.made.sum()), *rest.counted[1:]),
            contradictory=self._rest_group[rest.contradictory],
            event_pair=np.where(
                rest.event_pair == kernels.IN_EVEN, self._event_pair, pairs[rest.event_pair]
            ),
            even=self,
        )
