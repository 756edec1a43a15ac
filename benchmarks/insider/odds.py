"""What is known of suspects before publication, and the odds at which two readers weigh them.

The joint reader weighs the event against the other values that the group shows (by how often it
shows each), the binary one against everything else. In a group of one carrier and one other value a
suspect's posterior is its odds over the sum of all odds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.knowledge import Knowledge, event_chances, with_pool
from shoal.table import Table

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
SMALLEST, LARGEST = 1e-12, 1e12
"""Odds outside these count as these."""


def suspect_odds(
    table: Table, knowledge: Knowledge, start: Ints, event: Ints, signature: Ints, shown: Ints
) -> tuple[Floats, Floats]:
    """suspects x views: the event's chance; suspects x (two for each view): its odds.

    Case i has the event `event[i]` and the suspects from `start[i]` to `start[i + 1]`; `shown` is
    what each suspect's row is published as.
    """
    case = np.repeat(np.arange(len(event)), np.diff(start))
    who, value, weight = _others(table, start, event, shown)
    alone = np.bincount(who, minlength=len(signature)) == 0
    views = len(knowledge.views)
    chance, odds = np.empty((len(signature), views)), np.empty((len(signature), 2 * views))
    for w, view in enumerate(knowledge.views):
        index, known = view.index[signature], with_pool(view, table)
        held = chance[:, w] = event_chances(view, table)[index, event[case]]
        against = np.bincount(who, known[index[who], value] * weight, len(signature))
        against[alone] = 1.0
        with np.errstate(divide="ignore", invalid="ignore"):
            odds[:, w], odds[:, views + w] = held / against, held / (1.0 - held)
    return chance, np.clip(np.nan_to_num(odds, nan=LARGEST, posinf=LARGEST), SMALLEST, LARGEST)


def _others(table: Table, start: Ints, event: Ints, shown: Ints) -> tuple[Ints, Ints, Floats]:
    """Every suspect with every value that its group shows outside the event, and the value's share
    among those."""
    size = np.diff(start)
    case = np.repeat(np.arange(len(size)), size)
    width = len(table.values) + 1
    other = np.append(table.value_event, -1)[shown] != event[case]
    pairs, rows = np.unique(case[other] * width + shown[other], return_counts=True)
    first = np.searchsorted(pairs, np.arange(len(size) + 1) * width)
    many = np.diff(first)[case]
    who = np.repeat(np.arange(len(case)), many)
    pair = np.arange(len(who)) + np.repeat(first[case] - np.cumsum(many) + many, many)
    outside = np.bincount(case[other], minlength=len(size))
    return who, pairs[pair] % width, rows[pair] / outside[case[who]]
