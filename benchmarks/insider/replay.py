"""Replaying the row search: which member, taken as the carrier, makes it find this very group?

Whoever was free when a group was made is in it, in a later group, or free to the end, which is
published: such people stand alone. A growth from the true carrier, among its group and those
people, takes the same partners again, for they were preferred to more people then; from somebody
else it often ends elsewhere. The search looks at a carrier's nearest cells only, and those were
others at its beginning than at its end: both lists are tried, and what they find is added up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art import Art
from shoal.anonymizers.art.kernels.hide import Candidates, Terms, grow, shortlist, window
from shoal.anonymizers.art.search import THOROUGH
from shoal.attacks.lineup import Bools, Lineup
from shoal.attacks.odds import LARGEST, SMALLEST, Floats, Ints
from shoal.compiling import search_kernel
from shoal.grouping import Grouping
from shoal.knowledge import event_chances, with_pool

THRIFTS = (0.0, 0.001, 0.01, 0.03, 0.1)
"""The search's thrift depends on the table: that which reproduces most groups counts."""
SAMPLE = 1000
"""On about so many suspects that is found out."""


def replay(lineup: Lineup, grouping: Grouping, rng: np.random.Generator) -> Floats:
    """How much of its group is found again from each suspect, from 0 to 2. Cases that show several
    values besides their event's are passed over."""
    stocks, found = _stocks(lineup, grouping), np.zeros(len(lineup.signature))
    sample = np.zeros(lineup.cases, bool)
    order = rng.permutation(lineup.cases)
    before = np.cumsum(lineup.members[order]) - lineup.members[order]
    sample[order[before < SAMPLE]] = True

    def grow_all(thrift: float, wanted: Bools) -> None:
        for stock in stocks:
            found[stock.suspects] = stock.found_again(thrift, wanted)

    fits = []
    for thrift in THRIFTS:
        grow_all(thrift, sample)
        # That somebody's growth ends at the group is seen without knowing whose should.
        fits.append(np.maximum.reduceat(found, lineup.start[:-1])[sample].sum())
    grow_all(THRIFTS[int(np.argmax(fits))], np.ones(lineup.cases, bool))
    return found


@dataclass(frozen=True, eq=False)
class _Stock:
    """The cases of one event and one other value, and the cells of that value, by level."""

    cases: Ints
    suspects: Ints
    person: Ints
    """The first person of each suspect."""
    start: Ints
    """Where the people of each case begin, and where the last end."""
    cell: Ints
    """The cell of each person."""
    odds: NDArray[np.float32]
    """cells x columns: the joint reader's in every view, then the binary reader's."""
    demand: NDArray[np.float32]
    """The same over their limits."""
    level: NDArray[np.float32]
    free: Ints
    """The people of each cell who stayed free."""
    r: float

    def found_again(self, thrift: float, wanted: Bools) -> Floats:
        """For each suspect of the `wanted` cases, over both lists."""
        pool = np.array([0, len(self.free)])
        at_first = self.free + np.bincount(self.cell, minlength=len(self.free))
        terms = Terms(self.r, 1 / self.r, thrift, Art().largest, *THOROUGH)
        total, cases = np.zeros(len(self.cell)), np.flatnonzero(wanted[self.cases])
        for people in (at_first, self.free):
            listed = Candidates(self.odds, self.demand, self.level, pool, people)
            free = Candidates(self.odds, self.demand, self.level, pool, self.free.copy())
            total += overlaps(cases, self.start, self.cell, listed, free, terms)
        return total[self.person]


def _stocks(lineup: Lineup, grouping: Grouping) -> list[_Stock]:
    """The cases that show one value besides their event's, by event and value."""
    event_of = np.append(lineup.table.value_event, -1)
    case, value, _ = lineup.shown
    outside = event_of[value] != lineup.event[case]
    other = np.full(lineup.cases, -1, np.int64)
    other[case[outside]] = value[outside]
    pure = (np.bincount(case[outside], minlength=lineup.cases) == 1) & (event_of[other] < 0)
    kinds = np.unique(np.stack([lineup.event[pure], other[pure]], axis=1), axis=0)
    return [
        _stock(
            lineup,
            grouping,
            np.flatnonzero(pure & (lineup.event == event) & (other == code)),
            int(code),
        )
        for event, code in kinds
    ]


def _stock(lineup: Lineup, grouping: Grouping, cases: Ints, value: int) -> _Stock:
    suspects = np.flatnonzero(np.isin(lineup.case, cases))
    many = lineup.people[suspects]
    signatures = np.repeat(lineup.signature[suspects], many)
    left, people = _alone(lineup, grouping, value)
    signature, cell = np.unique(np.concatenate([signatures, left]), return_inverse=True)
    odds, demand = _cell_odds(lineup, signature, int(lineup.event[cases[0]]), value)
    level = np.log(odds.astype(float)).mean(axis=1)
    order = np.argsort(level, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return _Stock(
        cases=cases,
        suspects=suspects,
        person=np.cumsum(many) - many,
        start=np.concatenate([[0], np.cumsum(lineup.members[cases])]).astype(np.int64),
        cell=place[cell[: len(signatures)]],
        odds=odds[order],
        demand=demand[order],
        level=level[order].astype(np.float32),
        free=np.bincount(place[cell[len(signatures) :]], people, len(order)).astype(np.int64),
        r=float(lineup.r[cases[0]]),
    )


def _alone(lineup: Lineup, grouping: Grouping, value: int) -> tuple[Ints, Ints]:
    """Signatures of people who are published alone with the value, or without an event if it is the
    pooled one, and how many they are."""
    table = lineup.table
    if value < len(table.values):
        fits = grouping.value == value
    else:
        fits = table.value_event[grouping.value] < 0
    alone = fits & (grouping.sizes[grouping.group] == 1)
    return grouping.signature[alone].astype(np.int64), grouping.people[alone]


def _cell_odds(
    lineup: Lineup, signature: Ints, event: int, value: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """signatures x columns: the odds of the event against the value (or, if it is the pooled one,
    against having no event), then those against everything else; and the same over their limits."""
    table, views = lineup.table, lineup.knowledge.views
    r = float(table.event_r[event])
    odds, strength = np.empty((2, len(signature), 2 * len(views)))
    for w, view in enumerate(views):
        row = view.index[signature]
        held, known = event_chances(view, table)[row, event], with_pool(view, table)[row, value]
        with np.errstate(divide="ignore", invalid="ignore"):
            odds[:, w], odds[:, len(views) + w] = held / known, held / (1 - held)
        limit = np.maximum(1 / r, held if lineup.limit == "prior" else 0.0)
        strength[:, w] = strength[:, len(views) + w] = 1 / limit
    odds = np.clip(np.nan_to_num(odds, nan=LARGEST, posinf=LARGEST), SMALLEST, LARGEST)
    return odds.astype(np.float32), (odds * strength).astype(np.float32)


@search_kernel
def overlaps(
    cases: Ints, start: Ints, cell: Ints, listed: Candidates, free: Candidates, terms: Terms
) -> Floats:
    """For each suspect as the carrier: the members found again, over all who are in either group.
    Partners are the nearest cells that had `listed` people, as far as they are free, and the
    group's own."""
    W, cells = free.odds.shape[1], len(free.free)
    overlap, worth = np.zeros(len(cell)), np.ones(W)
    here, chosen = np.zeros(cells, np.int64), np.empty(terms.largest + 1, np.int64)
    for g in cases:
        members = cell[start[g] : start[g + 1]]
        if len(members) - 1 > terms.largest:
            continue
        distinct = np.unique(members)
        for c in members:
            free.free[c] += 1
        for mine in distinct:
            free.free[mine] -= 1
            anchor, demand = free.odds[mine], free.demand[mine]
            first, last = window(anchor, free.level, 0, cells, terms.width)
            near = shortlist(anchor, listed, first, last, terms.length)
            here[near] = 1
            near = np.concatenate((near, distinct[here[distinct] == 0]))
            here[near] = 0
            near = near[free.free[near] > 0]
            size, _ = grow(anchor, demand, near, free, terms, worth, np.inf, chosen)
            free.free[mine] += 1
            for c in members:
                here[c] += 1
            here[mine] -= 1
            shared = 0
            for k in range(size):
                if here[chosen[k]] > 0:
                    here[chosen[k]] -= 1
                    shared += 1
            here[members] = 0
            found = shared / max(1, max(size, 0) + len(members) - 1 - shared)
            for i in range(start[g], start[g + 1]):
                if cell[i] == mine:
                    overlap[i] = found
        for c in members:
            free.free[c] -= 1
    return overlap
