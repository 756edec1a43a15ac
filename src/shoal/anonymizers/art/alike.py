"""Groups of people who are alike to everybody: those of one signature.

Where people carry several events, or one of many, filler is scarce. But the people of one signature
hide one another, whatever they hold: no reader in no view tells them apart, so that each is linked
to an event by its share among them. Nothing is lost by such a group either, for whoever counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art.asked import Asked
from shoal.anonymizers.art.cells import Assembly
from shoal.anonymizers.art.kernels.alike import choose_alike
from shoal.knowledge import event_chances


def group_alike(groups: Assembly, asked: Asked) -> None:
    """One group of each signature, with as many of its carriers as it can hide."""
    cells, table = groups.cells, groups.table
    several = asked.whole.several
    assert several is not None
    start = np.searchsorted(cells.signature, np.arange(len(table.signatures) + 1)).astype(np.int64)
    chosen = np.zeros(len(cells.free), np.int64)
    value = cells.value.astype(np.int64)
    choose_alike(start, cells.free, value, several.mask_carries, _strengths(asked), chosen)
    cells.free[:] -= chosen
    members = np.repeat(np.arange(len(chosen)), chosen)
    for one in np.split(members, np.flatnonzero(np.diff(cells.signature[members])) + 1):
        if len(one):
            groups.add(one, "alike")


def _strengths(asked: Asked) -> NDArray[np.float64]:
    """signatures x events: one over the limit, in the view where it is least."""
    r = asked.whole.event_r
    strength = np.tile(r, (len(asked.table.signatures), 1))
    if not asked.prior:
        return strength
    least = np.full_like(strength, np.inf)
    for view in asked.knowledge.views:
        np.minimum(least, event_chances(view, asked.whole)[view.index], out=least)
    known = least * r > 1.0
    strength[known] = 1.0 / least[known]
    return strength
