"""Groups made of a matched sample: what they are made of is decided without regard to who carries.

Whoever knows that groups are grown around carriers looks for the member whom all others were chosen
for, and whoever takes all public counts together looks for the likeliest. So nothing is grown
around anybody. People are sampled by their public odds (sample.py), and the sample is cut, by
public knowledge and secret noise alone, into cells of lookalikes. A cell without a carrier
dissolves. A cell with some is a *seed*: it stays whole, and becomes a group by adding free people
until every link is within its limit. Whoever can tell the seed from what was added still faces
people of whom one in R carries, whoever they are.

Steps (the same numbers stand in the code)
1. Draw the matched sample.
2. Draw a filler value y for each carrier, by how common y is in that view of the carrier where it
   is least common: among the people of y, carriers then stand about where the odds say.
3. Cut the sampled people of y and its carriers into nearly equal cells (kernels/cut.py); which of
   the people of one kind carry, is chance. A cell with more carriers than its people have room for
   is joined to its neighbour (kernels/deal.py), unless people are scarce.
4. Fill up the seeds, those with little need first (kernels/fill.py), for readers of one view and
   for whoever weighs people by all counts. A seed of several carriers that finds nobody is dealt
   out, at random, into parts of one carrier each, which are filled in turn.
5. Seeds that find nobody are cut again, all values together, filled by free people of any value,
   and published pooled; at last without regard to all counts.
6. What is left is left out, carriers and the people sampled with them.
Where several sensitive columns are published everybody is sampled and nothing is pooled: seeds are
parted at once, and who is left draws another y, with smaller cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art.asked import Asked
from shoal.anonymizers.art.assembly import Assembly
from shoal.anonymizers.art.kernels.fill import Terms
from shoal.anonymizers.art.lookalikes import Lookalikes, Waiting
from shoal.anonymizers.art.sample import matched_sample
from shoal.grouping import Progress

Ints = NDArray[np.int64]
ROUNDS, SHRINK = 4, 0.7
"""Where nothing is pooled: how often a carrier draws a filler value, and how much smaller cells
become each time."""
SMALLEST_CELL = 3
FEWEST = 3.0
"""At smaller r groups that answer all counts take a third more people and tell no less."""
HOPELESS = 0.3
"""If a larger share of the carriers finds nobody of their value, a thin sample is given up."""
NEAR = 30
"""Kinds that are looked at for a seed, times r squared."""


@dataclass(frozen=True, kw_only=True)
class Design:
    """How groups are made."""

    largest: int
    """Most people that are added for one carrier."""
    least: int = 1
    """Fewest people of a group."""
    asked_cell: int | None = None
    """Fewest people of a cell, if that was asked for."""
    rate: float = np.inf
    """One in so many times r people of the sample carries."""
    cell: float = 1.0
    """Fewest people of a cell, times r."""
    join: bool = False
    """Whether cells with more carriers than they have room for are joined to their neighbours, as
    those of people of all values always are."""

    all_views: bool = False
    """Whether groups answer whoever weighs people by all counts, as far as people can be found."""

    def size(self, r: float, number: int = 0) -> int:
        """Fewest people of a cell in a round of an event with that r."""
        wanted = (self.asked_cell or self.cell * r) * SHRINK**number
        return max(SMALLEST_CELL, self.least, round(wanted))

    def claims(self, r: float) -> dict[str, Any]:
        """What a certificate says of it."""
        rate = None if np.isinf(self.rate) else self.rate * r
        return {"cell": self.size(r), "sample_rate": rate, "joined": self.join}


def hide_blindly(
    groups: Assembly,
    asked: Asked,
    how: Design,
    *,
    random: np.random.Generator,
    progress: Progress,
) -> None:
    """Groups for the carriers of every event; those who find none stay free, and who was sampled
    with them is withheld."""
    table, cells = groups.table, groups.cells
    values = np.flatnonzero(table.value_event >= 0)
    waiting = {int(v): int(cells.free[cells.value == v].sum()) for v in values}
    total, done = sum(waiting.values()), 0
    rarest = _least_chances(asked)
    hide = _hide_value if asked.masks is None else _hide_mask
    for value in sorted(waiting, key=lambda v: -waiting[v] * table.event_r[table.value_event[v]]):
        if waiting[value]:
            hide(groups, asked, how, value, rarest, random)
        done += waiting[value]
        progress("hiding carriers", done, total)


def _hide_value(
    groups: Assembly,
    asked: Asked,
    how: Design,
    x: int,
    rarest: NDArray[np.float64],
    random: np.random.Generator,
) -> None:
    table, cells, event = groups.table, groups.cells, int(groups.table.value_event[x])
    r = float(table.event_r[event])
    terms = Terms(int(NEAR * r * r), how.largest, how.least)
    waiting = np.flatnonzero((cells.value == x) & (cells.free > 0))
    chance = asked.counted(event)
    sampled = matched_sample(cells, chance / (1.0 - chance), how.rate * r, random)  # 1
    others = np.flatnonzero(table.value_event < 0)
    pool = int(others[0]) if len(others) == 1 else len(table.values)  # one value hides nothing
    number, answers = cells.free[waiting], how.all_views and r >= FEWEST
    waited = number.sum()
    for stage in range(3):
        if stage == 0:
            drawn = _draw(rarest[cells.signature[waiting]], number, random)  # 2
        else:
            drawn = np.zeros((len(waiting), len(table.values) + 1), np.int64)  # 5
            drawn[:, pool] = number
        left, over = number - drawn.sum(axis=1), np.zeros_like(sampled)
        for y in np.flatnonzero(drawn.any(axis=0)):
            given = np.flatnonzero(drawn[:, y])
            some = Waiting(cells.signature[waiting[given]], drawn[given, y], sampled)
            every, join = answers and stage < 2, how.join or stage > 0
            people = Lookalikes(
                groups, asked, some, x, int(y), random, all_views=every, balanced=how.join
            )
            part = how.join or stage > 0
            lost, sampled_with = people.hide(how.size(r), terms, join=join, part=part)  # 3, 4
            left[given] += lost
            over += sampled_with
        waiting, number, sampled = waiting[left > 0], left[left > 0], over
        if np.isinf(how.rate) and stage == 0:  # everybody who is free is sampled again
            sampled = np.where(cells.event < 0, cells.free, 0)
        if not len(waiting):
            return
        if how.join and stage == 0 and number.sum() > HOPELESS * waited:
            break  # another design is better
        if stage == 1 and not answers:
            break
    groups.withhold(np.flatnonzero(sampled), sampled[sampled > 0])  # 6


def _hide_mask(
    groups: Assembly,
    asked: Asked,
    how: Design,
    x: int,
    rarest: NDArray[np.float64],
    random: np.random.Generator,
) -> None:
    table, cells = groups.table, groups.cells
    r = float(table.event_r[table.value_event[x]])
    terms = Terms(int(NEAR * r * r), how.largest, how.least)
    waiting = np.flatnonzero((cells.value == x) & (cells.free > 0))
    number, tried = cells.free[waiting], np.zeros((len(waiting), len(table.values)), bool)
    for turn in range(ROUNDS):
        if not len(waiting):
            return
        open_ = np.where(tried, 0.0, rarest[cells.signature[waiting]])
        drawn = _draw(open_, number, random)
        still = [(np.arange(len(waiting)), number - drawn.sum(axis=1), tried)]
        for y in np.flatnonzero(drawn.any(axis=0)):
            given = np.flatnonzero(drawn[:, y])
            some = Waiting(cells.signature[waiting[given]], drawn[given, y], cells.free)
            people = Lookalikes(
                groups, asked, some, x, int(y), random, all_views=False, balanced=False
            )
            left, _ = people.hide(how.size(r, turn), terms, join=how.join, part=True)
            seen = tried[given]
            seen[:, y : y + 1] = True
            still.append((given, left, seen))
        line, number, tried = (np.concatenate(parts) for parts in zip(*still, strict=True))
        kept = number > 0
        waiting, number, tried = waiting[line[kept]], number[kept], tried[kept]


def _least_chances(asked: Asked) -> NDArray[np.float64]:
    """signatures x values: the smallest probability over views; 0 for values with an event."""
    table = asked.table
    least = np.full((len(table.signatures), len(table.values)), np.inf)
    for view in asked.knowledge.views:
        np.minimum(least, view.distributions[view.index], out=least)
    least[:, table.value_event >= 0] = 0.0
    return least


def _draw(chance: NDArray[np.float64], number: Ints, random: np.random.Generator) -> Ints:
    """lines x values: how many people of each line draw each value, by its chances; nobody draws
    where there are none."""
    total = chance.sum(axis=1, keepdims=True)
    some = total[:, 0] > 0
    drawn = np.zeros(chance.shape, np.int64)
    drawn[some] = random.multinomial(number[some], chance[some] / total[some])
    return drawn
