"""What is known of suspects before publication, and the odds at which two readers weigh them.

The joint reader weighs the event against the other values that the group shows (by how often it
shows each), the binary one against everything else. In a group of one carrier and one other value a
suspect's posterior is its odds over the sum of all odds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Floats, IntArray, Ints
from shoal.data.table import Table
from shoal.groups.ragged import Counts
from shoal.knowledge import View, event_chances, with_pool

SMALLEST, LARGEST = 1e-12, 1e12
"""Odds outside these count as these."""


class Others(NamedTuple):
    """Every suspect with every value that its group shows outside the event."""

    suspect: IntArray
    value: IntArray
    share: Floats
    """The value's share among those outside the event."""


def others_of(table: Table, case: Ints, event: Ints, shown: Counts) -> Others:
    """`case` is that of each suspect, in order; `event` that of each case, which publishes the
    values `shown`."""
    outside = table.shown_event[shown.code] != shown.spread(event)
    lines = shown.owner[outside], shown.code[outside], shown.count[outside]
    held = Counts.of_lines(*lines, shown.owners)
    suspect, place = held.entries(case)
    share = held.count / held.spread(held.summed(held.count))
    return Others(suspect, held.code[place], share[place])


def joint_odds(view: View, table: Table, signature: Ints, event: Ints, others: Others) -> Floats:
    """Of each suspect; `event` is that of each suspect. Exact where a group shows one value beside
    the event; where it shows several, the event is weighed against their mean."""
    index = view.index[signature]
    against = np.bincount(
        others.suspect,
        with_pool(view, table)[index[others.suspect], others.value] * others.share,
        len(signature),
    )
    against[np.bincount(others.suspect, minlength=len(signature)) == 0] = 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return _bounded(event_chances(view, table)[index, event] / against)


def binary_odds(view: View, table: Table, signature: Ints, event: Ints) -> Floats:
    """Of each suspect."""
    return as_odds(event_chances(view, table)[view.index[signature], event])


def as_odds(chance: Floats) -> Floats:
    """A chance over that of the contrary, within bounds."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return _bounded(chance / (1.0 - chance))


def from_logs(logarithm: Floats) -> Floats:
    """Odds by their logarithms, as far as numbers go."""
    return np.asarray(np.exp(np.clip(logarithm, -300, 300)))


def _bounded(odds: Floats) -> Floats:
    return np.asarray(np.clip(np.nan_to_num(odds, nan=LARGEST, posinf=LARGEST), SMALLEST, LARGEST))
