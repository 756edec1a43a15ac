"""What is known of suspects before publication, and the odds at which two readers weigh them.

The joint reader weighs the event against the other values that the group shows (by how often it
shows each), the binary one against everything else. In a group of one carrier and one other value a
suspect's posterior is its odds over the sum of all odds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.data.table import Table
from shoal.knowledge import View, event_chances, with_pool

SMALLEST, LARGEST = 1e-12, 1e12
"""Odds outside these count as these."""


class Others(NamedTuple):
    """Every suspect with every value that its group shows outside the event."""

    suspect: Ints
    value: Ints
    share: Floats
    """The value's share among those outside the event."""


class Shown(NamedTuple):
    """The values that cases publish: each case's, one after another, and how often."""

    case: Ints
    value: Ints
    people: Ints


def others_of(table: Table, case: Ints, event: Ints, shown: Shown) -> Others:
    """`case` is that of each suspect, in order; `event` that of each case."""
    outside = np.append(table.value_event, -1)[shown.value] != event[shown.case]
    of_case, value, count = (part[outside] for part in shown)
    first = np.searchsorted(of_case, np.arange(len(event) + 1))
    many = np.diff(first)[case]
    suspect = np.repeat(np.arange(len(case)), many)
    place = np.arange(len(suspect)) + np.repeat(first[case] - np.cumsum(many) + many, many)
    total = np.bincount(of_case, count, len(event))
    return Others(suspect, value[place], count[place] / total[case[suspect]])


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
