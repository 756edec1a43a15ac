"""The chance that any of a person's rows has a protected value, where people have several rows.

Whoever judges takes one view at a time, and each row by itself. Groups are independent of each
other: the chance that some row of a person has an event is one minus the product, over the groups
that these are in, of the chance that none of them in the group has it. Within a group it is at most
the sum of its rows' chances, and at least the largest of them. Where that does not decide, it is
computed: rows are asked one after the other, each as if those before had been told not to have it.
That is exact for whoever tells two kinds of values apart: the binary adversary, and the joint one
in a group of two values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Bools, Floats, IntArray, Whole
from shoal.auditing.adversaries.judging import Case, Judgement
from shoal.display import counted, number
from shoal.groups.partition import Partition
from shoal.knowledge import Reader, event_chances
from shoal.knowledge.entropy import most_believed
from shoal.knowledge.kernels.bernoulli import conditional_bernoulli

if TYPE_CHECKING:
    from shoal.auditing.seen import Lens

ROUNDING = 1e-9
EXACT, ESTIMATE = 0, 2


@dataclass(frozen=True)
class PersonVerdict:
    """What is known of people with several rows."""

    kept: bool | None
    """Whether nobody is above the limit; None: not decided."""
    worst: float
    """The largest bound of the chance that any row of a person has an event."""
    above: int
    """How many people are above their limit."""
    undecided: int
    """Of how many it is not known."""
    several: int
    """How many people have rows in several places of groups that hold an event."""

    @property
    def words(self) -> str:
        """The figures in words."""
        if self.kept is None and not self.several:
            return "not decided: which rows are in which group is not known"
        return (
            f"at most {number(self.worst)} for anybody; "
            f"{counted(self.above, 'person', 'people')} above their limit, "
            f"{self.undecided:,} not decided"
        )


class ByPerson:
    """Takes in what each adversary makes of each view, person by person."""

    def __init__(
        self, case: Case, rows: IntArray | None, readers: Mapping[str, Reader] | None = None
    ) -> None:
        """`readers` are those by name who weigh a group of two values by odds alone."""
        persons = case.table.persons
        self.asked = persons is not None and persons.of_row is not None
        self._case, self.told, self._readers = case, rows is not None, readers or {}
        self._worst = 0.0
        if not self.asked or rows is None:
            return
        assert persons is not None
        assert persons.of_row is not None
        table, part = case.table, case.partition
        pair = part.find_pairs(rows, table.row_signature)
        line = np.full(len(part.signature) + 1, -1, np.int32)
        line[case.held] = np.arange(len(case.held))
        held = np.flatnonzero(line[pair] >= 0)
        often = np.bincount(persons.of_row[held], minlength=persons.count)
        held = held[often[persons.of_row[held]] > 1]
        people, self._person = np.unique(persons.of_row[held], return_inverse=True)
        # Whoever has one row in such groups is judged by that row.
        self._line, self._rows, self._pair = line[pair[held]], held, pair[held]
        keys = self._person.astype(np.int64) * (int(rows.max(initial=0)) + 1) + rows[held]
        found, self._place = np.unique(keys, return_inverse=True)
        self._place_person = np.zeros(len(found), np.int64)
        self._place_person[self._place] = self._person
        self._by_place = np.argsort(self._place, kind="stable")
        self._mine = np.flatnonzero(np.isin(persons.of_row, people))
        self._owner = np.searchsorted(people, persons.of_row[self._mine])
        self._holds = _holding(part, case, pair[held])
        self._above, self._open = np.zeros(len(people), bool), np.zeros(len(people), bool)

    def take(self, lens: Lens) -> None:
        """Takes in one adversary's judgement of one view."""
        if not self.asked or not self.told or not len(self._above):
            return
        view, one = lens.view, lens.judged
        posterior, event, kind = _whole(one, len(self._case.held))
        chance = event_chances(view, self._case.table)[view.index]
        signature = self._case.table.row_signature
        before = chance[signature[self._rows]]
        limited = (one.limit or self._case.limit) == "prior"
        posterior, event, kind = posterior[self._line], event[self._line], kind[self._line]
        own = np.where(event >= 0, event, 0)
        at = np.arange(len(own))
        limits = np.maximum(1.0 / self._case.event_r, before if limited else 0.0 * before)
        if one.limit is not None:  # whoever takes all views together decides by estimates
            limits, kind = most_believed(limits), np.zeros_like(kind)
        exposure = np.where(event >= 0, posterior / limits[at, own], 0.0)
        places = len(self._place_person)
        for code, r in enumerate(self._case.event_r.tolist()):
            mine = event == code
            # Of other events than the worst it is only known that they expose nobody more.
            most = np.where(mine, posterior, np.minimum(exposure * limits[:, code], 1.0))
            most = np.where(self._holds[:, code], most, 0.0)
            least = np.where(mine & (kind == EXACT), posterior, 0.0)
            unsure = self._holds[:, code] & (kind == ESTIMATE)
            high = np.minimum(np.bincount(self._place, most, places), 1.0)
            low, open_ = np.zeros(places), np.bincount(self._place, unsure, places) > 0
            np.maximum.at(low, self._place, least)
            limit = np.full(len(self._above), 1.0 / r)
            if limited:
                known = chance[signature[self._mine], code]
                limit = np.maximum(limit, _any(known, self._owner, len(limit)))
            if one.limit is not None:
                limit = most_believed(limit)
            else:
                self._sharpen(lens, code, limit + ROUNDING, high, low, open_)
            upper = self._any(high)
            self._above |= self._any(low) > limit + ROUNDING
            estimated = np.bincount(self._place_person, open_, len(upper)) > 0
            self._open |= (upper > limit + ROUNDING) | estimated
            if one.limit is None:  # the limits of whoever has their own are others
                self._worst = max(self._worst, float(upper.max(initial=0.0)))

    def _sharpen(
        self, lens: Lens, event: int, limit: Floats, high: Floats, low: Floats, open_: Bools
    ) -> None:
        """Computes the chances of those of whom bounds tell nothing, where that can be done."""
        if lens.adversary not in self._readers:
            return
        undecided = (self._any(high) > limit) & ~(self._any(low) > limit)
        undecided |= np.bincount(self._place_person, open_, len(limit)) > 0
        for place in np.flatnonzero(undecided[self._place_person]).tolist():
            if (exact := self._exactly(lens, event, place)) is not None:
                high[place], low[place], open_[place] = exact, exact, False

    def _exactly(self, lens: Lens, event: int, place: int) -> float | None:
        """The chance that any of a person's rows in one group has an event; None if its values are
        more than two to the reader."""
        part, table = self._case.partition, self._case.table
        first = np.searchsorted(self._place, place, sorter=self._by_place)
        last = np.searchsorted(self._place, place, side="right", sorter=self._by_place)
        mine = self._pair[self._by_place[first:last]]
        group = int(part.pairs.owner_of(mine[0]))
        held = part.values.stretch(group)
        values, count = part.values.code[held], part.values.count[held]
        has = table.holds(event)[values]
        if not has.any():
            return 0.0
        if lens.adversary != "binary" and (has.sum(), len(has)) != (1, 2):
            return None
        others = values[~has][:1]
        if not len(others):
            return 1.0
        odds = self._readers[lens.adversary].odds(lens.view, table, int(values[has][0]), others)
        pairs = part.pairs.stretch(group)
        told = odds[lens.view.index[part.signature[pairs]], 0]
        if np.isnan(told).any():
            return None
        sizes, none = part.pairs.count[pairs].astype(np.int64), 1.0
        sure = np.isinf(told)
        weights = np.where(sure, 1.0, told), np.where(sure, 0.0, 1.0)
        for row in (mine - pairs.start).tolist():
            chance = float(conditional_bernoulli(*weights, sizes, int(count[has].sum()))[row])
            if np.isnan(chance):
                return None
            none *= 1.0 - chance
            sizes[row] -= 1
            if none <= 0.0:
                break
        return 1.0 - none

    def _any(self, chance: Floats) -> Floats:
        return _any(chance, self._place_person, len(self._above))

    def verdict(self) -> PersonVerdict | None:
        """What came of it; None where everybody has one row, or nothing says whose they are."""
        if not self.asked:
            return None
        if not self.told:
            return PersonVerdict(None, 0.0, 0, 0, 0)
        above, open_ = int(self._above.sum()), int((self._open & ~self._above).sum())
        kept = False if above else None if open_ else True
        return PersonVerdict(kept, self._worst, above, open_, len(self._above))


def _any(chance: Floats, owner: Whole, owners: int) -> Floats:
    """The chance of any, of what is independent, by owner."""
    with np.errstate(divide="ignore"):
        none = np.bincount(owner, np.log1p(-np.minimum(chance, 1.0)), owners)
    return np.asarray(-np.expm1(none))


def _holding(part: Partition, case: Case, pairs: IntArray) -> Bools:
    """pairs x events: whether the group of each holds the event."""
    events = range(len(case.event_r))
    holds = [part.values.any(case.table.holds(event)[part.values.code]) for event in events]
    return np.stack(holds, axis=1)[part.pairs.owner_of(pairs)]


def _whole(one: Judgement, held: int) -> tuple[Floats, IntArray, NDArray[np.int8]]:
    """The posterior, event and kind of every held pair, those of even groups among them."""
    if one.even is None:
        return one.posterior, one.event, one.kind
    posterior, event = np.zeros(held), np.full(held, -1, np.int32)
    kind = np.zeros(held, np.int8)
    posterior[one.even.others], event[one.even.others] = one.posterior, one.event
    kind[one.even.others] = one.kind
    judged = one.even.judged
    posterior[one.even.places], event[one.even.places] = judged.posterior, judged.event
    return posterior, event, kind
