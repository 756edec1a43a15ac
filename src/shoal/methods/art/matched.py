"""Groups made of a matched sample (sample.py), for the carriers of one event value.

Inside the sample one in R carries whatever their attributes are, so that neither whoever takes all
public counts together nor an insider who knows the sample can tell its people apart. Cells of it
are cut blindly and filled as blind.py says; the rest differs.

Steps (the same numbers stand in the code)
1. Draw the sample; draw a filler value y for each carrier, as blind.py does.
2. Cut the sampled people of y and its carriers into cells that are also alike by all counts, join
   those with more carriers than people's limits leave room for, and add people for readers of one
   view and for whoever weighs people by all counts. A seed of several carriers that finds nobody is
   dealt out, at random, into parts of one carrier each.
3. Seeds that find nobody are cut again, all values together, and published pooled; at last without
   regard to all counts.
4. What is left is left out whole: carriers, and the people sampled with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import Ints
from shoal.methods.art.asked import Asked
from shoal.methods.art.assembly import Assembly
from shoal.methods.art.kernels.fill import Terms
from shoal.methods.art.lookalikes import Lookalikes
from shoal.methods.art.sample import matched_sample

if TYPE_CHECKING:
    from shoal.methods.art.blind import Blindness

HOPELESS = 0.3
"""If a larger share of the carriers finds nobody of their value, the sample is given up."""


def hide_matched(
    groups: Assembly,
    asked: Asked,
    how: Blindness,
    x: int,
    drawn: Ints,
    terms: Terms,
    random: np.random.Generator,
) -> None:
    """Groups for the carriers of x, who have `drawn` values (lines of their cells x values); those
    who find none stay free, and who was sampled with them is withheld."""
    table, cells, event = groups.table, groups.cells, int(groups.table.value_event[x])
    r = float(table.event_r[event])
    rate = (how.rate or np.inf) * r
    waiting = np.flatnonzero((cells.value == x) & (cells.free > 0))
    number, waited = cells.free[waiting], int(cells.free[waiting].sum())
    chance = asked.counted(event)
    sampled = matched_sample(cells, chance / (1.0 - chance), rate, random)  # 1
    others = np.flatnonzero(table.value_event < 0)
    pool = int(others[0]) if len(others) == 1 else len(table.values)  # one value hides nothing
    for stage, all_views in enumerate((True, True, False)):
        left, over = number - drawn.sum(axis=1), np.zeros_like(sampled)
        for y in np.flatnonzero(drawn.any(axis=0)):
            given = np.flatnonzero(drawn[:, y])
            signature, mine = cells.signature[waiting[given]], drawn[given, y]
            people = Lookalikes(
                groups,
                asked,
                signature,
                mine,
                x,
                int(y),
                random,
                sampled=sampled,
                all_views=all_views,
            )
            left[given] += people.hide(how.size(r), terms, wide=True, parting=True)  # 2
            over += people.over
        waiting, number, sampled = waiting[left > 0], left[left > 0], over
        if not len(waiting):
            return
        if stage == 0 and number.sum() > HOPELESS * waited:
            break
        drawn = np.zeros((len(waiting), len(table.values) + 1), np.int64)  # 3
        drawn[:, pool] = number
    groups.withhold(np.flatnonzero(sampled), sampled[sampled > 0])  # 4
