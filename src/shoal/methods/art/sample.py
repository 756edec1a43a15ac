"""The matched sample: all carriers of an event, and people without one by their public odds.

Let p be somebody's chance of the event by all public counts together, and o = p / (1 - p). Whoever
does not carry it is sampled with probability min(1, (R - 1) o). Then of the people in the sample,
carriers among them, one in R carries whatever their attributes are, or p where that is more: inside
it the event is independent of all that is known (docs/theory.md). It is drawn systematically along
the order of signatures, from a secret start, so that strata get their shares nearly exactly.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.methods.art.cells import Cells


def matched_sample(cells: Cells, odds: Floats, rate: float, random: np.random.Generator) -> Ints:
    """Of each cell: how many of those who are free and carry nothing are sampled. `odds` are those
    of each signature; an infinite `rate` takes everybody."""
    free = np.where(cells.event < 0, cells.free, 0)
    chance = np.minimum(1.0, (rate - 1.0) * odds)[cells.signature]
    upto = np.floor(np.cumsum(free * chance) + random.random()).astype(np.int64)
    return np.minimum(free, np.diff(upto, prepend=0))
