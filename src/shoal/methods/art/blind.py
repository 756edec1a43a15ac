"""Blind groups: what a group is made of is decided without regard to who carries.

Whoever knows that groups are grown around carriers looks for the member that all others were chosen
for. So nothing is grown around anybody. Every carrier is given a filler value y; all free people of
y and the carriers given to it are cut, by public knowledge and secret noise alone, into cells of
lookalikes. A cell without a carrier dissolves. A cell with some is a *seed*: it stays whole, and
becomes a group by adding free people of y until every link is within its limit. Whoever can tell
the seed from what was added still faces a cell that would be the same whoever in it carried.

Steps (the same numbers stand in the code)
1. Draw y for each carrier, by how common y is in that view of the carrier where it is least common:
   among the people of y, carriers then stand about where the odds say.
2. Place the people of y by the principal components of their log odds, columns weighted by how much
   they will be wanted as far as public knowledge says.
3. Cut them into nearly equal cells (kernels/cut.py), and deal y's carriers out: which of the people
   of one kind carry, is chance. A cell with more carriers than its people have room for is joined
   to its neighbour, unless people are scarce.
4. Fill up the seeds, those with little need first (kernels/fill.py).
5. Carriers whose seed finds nobody are hidden in the same way among free people of all values,
   published pooled; cells with too many carriers are always joined there. Another y would tell
   more: those of its people who are still free are whom nobody like the carrier wanted, so that it
   stands out among them.
6. A pooled seed of several carriers that finds nobody either is dealt out, at random, into parts of
   one carrier each, which are filled in turn.
Where several sensitive columns are published, nothing is pooled: seeds are parted at once, and who
is left draws another y, with smaller cells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.arrays import Bools, Floats, Ints
from shoal.data.table import Table
from shoal.groups import Progress
from shoal.methods.art.asked import Asked
from shoal.methods.art.assembly import Assembly
from shoal.methods.art.kernels.fill import Terms
from shoal.methods.art.lookalikes import Lookalikes
from shoal.methods.art.matched import hide_matched

ROUNDS, SHRINK = 4, 0.7
"""Where nothing is pooled: how often a carrier draws a filler value, and how much smaller cells
become each time."""
SMALLEST_CELL = 3
NEAR = 30
"""Kinds that are looked at for a seed, times r squared."""


@dataclass(frozen=True, kw_only=True)
class Blindness:
    """How groups are made."""

    cell: int | None
    """Fewest people of a cell; None means twice the event's r."""
    largest: int
    """Most people that are added for one carrier."""
    least: int = 1
    """Fewest people of a group."""
    shrink: float = 1.0
    """By how much cells are smaller than they would be."""
    rate: float | None = None
    """One in so many times r people of a matched sample carries; None: everybody is of it."""
    wide: bool = True
    """Whether cells with more carriers than they have room for are joined to their neighbours, as
    those of people of all values always are."""

    def size(self, r: float, number: int = 0) -> int:
        """Fewest people of a cell in a round of an event with that r."""
        wanted = (self.cell or 2 * r) * self.shrink * SHRINK**number
        return max(SMALLEST_CELL, self.least, round(wanted))

    def smaller(self, shrink: float) -> Blindness:
        """The same with smaller cells, none of which are joined."""
        return replace(self, shrink=self.shrink * shrink, wide=False, rate=None)

    def claims(self, r: float) -> dict[str, Any]:
        """What a certificate says of it."""
        return {"cell": self.size(r), "sample_rate": None if self.rate is None else self.rate * r}


def hide_blindly(
    groups: Assembly,
    asked: Asked,
    how: Blindness,
    *,
    random: np.random.Generator,
    progress: Progress,
    rounds: int = ROUNDS,
) -> None:
    """Groups for the carriers of every event; those who find none stay free. Where no values are
    pooled, carriers draw one in each of so many `rounds`."""
    table, cells = groups.table, groups.cells
    values = np.flatnonzero(table.value_event >= 0)
    waiting = {int(v): int(cells.free[cells.value == v].sum()) for v in values}
    total, done = sum(waiting.values()), 0
    for value in sorted(waiting, key=lambda v: -waiting[v] * table.event_r[table.value_event[v]]):
        if waiting[value] and how.rate is not None and asked.masks is None:
            mine = np.flatnonzero((cells.value == value) & (cells.free > 0))
            tried = np.zeros((len(mine), len(table.values)), bool)
            drawn = _draw(asked.rarest[cells.signature[mine]], tried, cells.free[mine], random)
            hide_matched(groups, asked, how, value, drawn, _terms(how, table, value), random)
        elif waiting[value]:
            _hide_value(groups, asked, how, value, random, rounds)
        done += waiting[value]
        progress("hiding cases", done, total)


def _terms(how: Blindness, table: Table, x: int) -> Terms:
    r = float(table.event_r[table.value_event[x]])
    return Terms(int(NEAR * r * r), how.largest, how.least)


def _hide_value(
    groups: Assembly, asked: Asked, how: Blindness, x: int, random: np.random.Generator, rounds: int
) -> None:
    table, cells = groups.table, groups.cells
    r, terms = float(table.event_r[table.value_event[x]]), _terms(how, table, x)
    waiting = np.flatnonzero((cells.value == x) & (cells.free > 0))
    number, tried = cells.free[waiting], np.zeros((len(waiting), len(table.values)), bool)
    poolable, others = asked.masks is None, np.flatnonzero(table.value_event < 0)
    pool = int(others[0]) if len(others) == 1 else len(table.values)  # one value hides nothing
    for turn in range(2 if poolable else rounds):
        if not len(waiting):
            return
        pooled = poolable and turn == 1
        if pooled:
            drawn = np.zeros((len(waiting), len(table.values) + 1), np.int64)  # 5
            drawn[:, pool] = number
        else:
            drawn = _draw(asked.rarest[cells.signature[waiting]], tried, number, random)  # 1
        still = [(np.arange(len(waiting)), number - drawn.sum(axis=1), tried)]
        for y in np.flatnonzero(drawn.any(axis=0)):
            given = np.flatnonzero(drawn[:, y])
            people = Lookalikes(
                groups, asked, cells.signature[waiting[given]], drawn[given, y], x, int(y), random
            )
            left = people.hide(
                how.size(r, 0 if poolable else turn),
                terms,
                wide=how.wide or pooled,
                parting=pooled or not poolable,
            )
            seen = tried[given]
            seen[:, y : y + 1] = True
            still.append((given, left, seen))
        line, number, tried = (np.concatenate(parts) for parts in zip(*still, strict=True))
        kept = number > 0
        waiting, number, tried = waiting[line[kept]], number[kept], tried[kept]


def _draw(chance: Floats, tried: Bools, number: Ints, random: np.random.Generator) -> Ints:
    """lines x values: how many people of each line draw each value, by its chances, none that was
    tried before; nobody draws where none is left."""
    open_ = np.where(tried, 0.0, chance)
    total = open_.sum(axis=1, keepdims=True)
    some = total[:, 0] > 0
    drawn = np.zeros(chance.shape, np.int64)
    drawn[some] = random.multinomial(number[some], open_[some] / total[some])
    return drawn
