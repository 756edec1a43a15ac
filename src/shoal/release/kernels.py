"""Shares by leanings: a group's k carriers of an event, shared in proportion to everybody's weight.

Symbols: lines of groups, `start[g]` to `start[g + 1]`, are so many people (`number`) of one
signature (`who`); `times` is how often the group is there, and `carriers` its k, 0 where nothing is
shared. With weights w somebody's share is s = k w / sum w.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.compiling import kernel

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Whole = NDArray[np.integer]
Floats = NDArray[np.float64]


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
def _weighed(begin: int, end: int, who: Whole, number: Whole, weight: Floats) -> tuple[float, int]:
    """The weights of all people of a group, and how many they are."""
    total, size = 0.0, 0
    for i in range(begin, end):
        total += number[i] * weight[who[i]]
        size += number[i]
    return total, size


@kernel
def shared_out(
    start: Ints, who: Whole, number: Whole, times: Ints, carriers: Whole, weight: Floats
) -> Floats:
    """Of each signature: the carriers that it counts with, over all groups."""
    counted = np.zeros(len(weight))
    for g in range(len(carriers)):
        if carriers[g] == 0:
            continue
        total, _ = _weighed(start[g], start[g + 1], who, number, weight)
        for i in range(start[g], start[g + 1]):
            share = carriers[g] * weight[who[i]] / total
            counted[who[i]] += times[g] * number[i] * share
    return counted


@kernel
def slope(
    start: Ints,
    who: Whole,
    number: Whole,
    times: Ints,
    carriers: Whole,
    weight: Floats,
    limit: Floats,
    gain: Floats,
    price: float,
) -> tuple[float, Floats]:
    """What all shares above their limits cost, and by how much the whole objective changes with the
    logarithm of each signature's weight. `gain` is by how much the objective without this cost
    changes with the carriers that a signature counts with; nobody's limit is below an equal share.

    With a = ds objective * s of each person, and their sum b over the group, it changes with the
    logarithm of w by a - b s / k.
    """
    cost, changes = 0.0, np.zeros(len(weight))
    for g in range(len(carriers)):
        if carriers[g] == 0:
            continue
        total, size = _weighed(start[g], start[g + 1], who, number, weight)
        scale, equal, all_of_it = carriers[g] / total, carriers[g] / size, 0.0
        for i in range(start[g], start[g + 1]):
            share, people = scale * weight[who[i]], times[g] * number[i]
            most = max(limit[who[i]], equal)
            over = max(share / most - 1.0, 0.0)
            cost += price * people * over * over
            mine = people * share * (gain[who[i]] + 2.0 * price * over / most)
            changes[who[i]] += mine
            all_of_it += mine
        for i in range(start[g], start[g + 1]):
            changes[who[i]] -= all_of_it / total * number[i] * weight[who[i]]
    return cost, changes


@kernel
def people_above(
    start: Ints,
    who: Whole,
    number: Whole,
    times: Ints,
    carriers: Whole,
    weight: Floats,
    limit: Floats,
    tolerance: float,
) -> int:
    """How many people's share is above their limit, and above an equal one; of groups in which all
    carry nobody's."""
    above = 0
    for g in range(len(carriers)):
        total, size = _weighed(start[g], start[g + 1], who, number, weight)
        if carriers[g] == 0 or carriers[g] == size:
            continue
        for i in range(start[g], start[g + 1]):
            share = carriers[g] * weight[who[i]] / total
            most = max(limit[who[i]], carriers[g] / size) * (1.0 + tolerance)
            if not share <= most:  # also where it is no number
                above += times[g] * number[i]
    return above
