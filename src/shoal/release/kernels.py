"""Shares of a group's carriers: as people lean, nobody above their limit or near to nothing.

Symbols: lines of groups, `start[g]` to `start[g + 1]`, are so many people (`number`) of one
signature (`who`); `times` is how often the group is there, and `carriers` its k, 0 where nothing is
shared. With weights w somebody's share is s = v w, but no more than a limit and no less than a part
of an equal share; v is such that the shares of all people of the group are k.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.compiling import kernel

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Whole = NDArray[np.integer]
Floats = NDArray[np.float64]
STEPS, CLOSE = 200, 1e-12
"""At most so many, until all shares together are a group's carriers, to such a part of them."""


@kernel
def carriers_held(
    start: Ints, value: Whole, number: Whole, kind: Whole, event: int
) -> tuple[Codes, Codes]:
    """Of each group: its carriers of the event, first of groups that hold people without an event
    and no other event, then of all others. `kind` is the event of each value, or -1."""
    carriers, elsewhere = np.zeros(len(start) - 1, np.int32), np.zeros(len(start) - 1, np.int32)
    for g in range(len(carriers)):
        others, alone = 0, True
        for i in range(start[g], start[g + 1]):
            if kind[value[i]] == event:
                carriers[g] += number[i]
            elif kind[value[i]] >= 0:
                alone = False
            else:
                others += number[i]
        if not alone or others == 0:
            elsewhere[g], carriers[g] = carriers[g], 0
    return carriers, elsewhere


@kernel
def _size(start: Ints, number: Whole, g: int) -> int:
    size = 0
    for i in range(start[g], start[g + 1]):
        size += number[i]
    return size


@kernel
def _between(share: float, equal: float, least: float, limit: float) -> float:
    """A share within its bounds; an equal one is always allowed."""
    return min(max(share, least * equal), max(limit, equal))


@kernel
def share_out(
    start: Ints,
    who: Whole,
    number: Whole,
    carriers: Whole,
    weight: Floats,
    limit: Floats,
    least: float,
    share: Floats,
) -> None:
    """Puts in everybody's share on each line of groups with carriers. What all shares are together
    grows with v: Newton's steps, and halves of what is left where one leads out of that."""
    for g in range(len(carriers)):
        if carriers[g] == 0:
            continue
        equal, low, high = carriers[g] / _size(start, number, g), 0.0, np.inf
        v = equal / weight[who[start[g]]]
        for _ in range(STEPS):
            total, moving = 0.0, 0.0
            for i in range(start[g], start[g + 1]):
                mine = _between(v * weight[who[i]], equal, least, limit[who[i]])
                total += number[i] * mine
                if mine == v * weight[who[i]]:
                    moving += number[i] * weight[who[i]]
            if abs(total - carriers[g]) <= CLOSE * carriers[g]:
                break
            if total > carriers[g]:
                high = v
            else:
                low = v
            step = v + (carriers[g] - total) / moving if moving > 0 else -1.0
            if low < step < high:
                v = step
            else:
                v = 0.5 * (low + high) if high < np.inf else 2.0 * v
        for i in range(start[g], start[g + 1]):
            share[i] = _between(v * weight[who[i]], equal, least, limit[who[i]])


@kernel
def shorten(
    start: Ints,
    who: Whole,
    number: Whole,
    carriers: Whole,
    limit: Floats,
    share: Floats,
    digits: int,
) -> None:
    """Leaves so many digits of each share: the nearest, or the next below where that is above a
    limit."""
    for g in range(len(carriers)):
        if carriers[g] == 0:
            continue
        equal = carriers[g] / _size(start, number, g)
        for i in range(start[g], start[g + 1]):
            most = max(limit[who[i]], equal)
            scale = 10.0 ** (digits - 1 - np.floor(np.log10(share[i])))
            whole = np.round(share[i] * scale)
            if whole / scale > most:
                whole = np.floor(most * scale)
            share[i] = whole / scale


@kernel
def counted_with(
    start: Ints,
    who: Whole,
    number: Whole,
    times: Ints,
    carriers: Whole,
    share: Floats,
    signatures: int,
) -> Floats:
    """Of each signature: the carriers that it counts with, over all groups."""
    counted = np.zeros(signatures)
    for g in range(len(carriers)):
        if carriers[g] > 0:
            for i in range(start[g], start[g + 1]):
                counted[who[i]] += times[g] * number[i] * share[i]
    return counted


@kernel
def counted_equally(
    start: Ints, who: Whole, number: Whole, times: Ints, carriers: Whole, signatures: int
) -> Floats:
    """The same if all of a group have the same share."""
    counted = np.zeros(signatures)
    for g in range(len(carriers)):
        if carriers[g] > 0:
            equal = carriers[g] / _size(start, number, g)
            for i in range(start[g], start[g + 1]):
                counted[who[i]] += times[g] * number[i] * equal
    return counted


@kernel
def uneven_groups(
    start: Ints, number: Whole, carriers: Whole, share: Floats, least: float, tolerance: float
) -> int:
    """How many groups there are whose shares are not their carriers, or one of which is too
    small."""
    uneven = 0
    for g in range(len(carriers)):
        if carriers[g] == 0:
            continue
        total, low = 0.0, least * (1.0 - tolerance) * carriers[g] / _size(start, number, g)
        for i in range(start[g], start[g + 1]):
            total += number[i] * (share[i] if share[i] >= low else np.nan)
        if not abs(total - carriers[g]) <= tolerance * carriers[g]:
            uneven += 1
    return uneven


@kernel
def slope(
    start: Ints,
    who: Whole,
    number: Whole,
    times: Ints,
    carriers: Whole,
    share: Floats,
    limit: Floats,
    least: float,
    gain: Floats,
) -> Floats:
    """By how much an objective changes with the logarithm of each signature's weight; `gain` is by
    how much it does with the carriers that a signature counts with.

    Shares at a bound do not move. The others change with their weight, and all of them with v, so
    that their sum stays: by s (gain - mean gain), where the mean is over the shares that move.
    """
    changes = np.zeros(len(limit))
    for g in range(len(carriers)):
        if carriers[g] == 0:
            continue
        equal, moving, gains = carriers[g] / _size(start, number, g), 0.0, 0.0
        for i in range(start[g], start[g + 1]):
            if _moves(share[i], equal, least, limit[who[i]]):
                moving += number[i] * share[i]
                gains += number[i] * share[i] * gain[who[i]]
        for i in range(start[g], start[g + 1]):
            if _moves(share[i], equal, least, limit[who[i]]):
                change = share[i] * (gain[who[i]] - gains / moving)
                changes[who[i]] += times[g] * number[i] * change
    return changes


@kernel
def _moves(share: float, equal: float, least: float, limit: float) -> bool:
    return least * equal < share < max(limit, equal)


@kernel
def people_above(
    start: Ints,
    who: Whole,
    number: Whole,
    times: Ints,
    carriers: Whole,
    share: Floats,
    limit: Floats,
    tolerance: float,
) -> int:
    """How many people's share is above their limit, and above an equal one."""
    above = 0
    for g in range(len(carriers)):
        if carriers[g] == 0:
            continue
        equal = carriers[g] / _size(start, number, g)
        for i in range(start[g], start[g + 1]):
            most = max(limit[who[i]], equal) * (1.0 + tolerance)
            if not share[i] <= most:
                above += times[g] * number[i]
    return above
