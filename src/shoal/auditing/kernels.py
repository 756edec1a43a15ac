"""Deviations of all groups in one view, what they hold, and room for carriers of a view's classes:
compiled loops."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Bools, Floats, IntArray, Ints, Whole
from shoal.compiling import kernel


@kernel
def deviations(
    group_start: IntArray,
    copies: Ints,
    row: Whole,
    pair_size: Whole,
    chance: Floats,
    carriers: Ints,
    r: float,
    meets: Bools,
) -> Floats:
    """For one event in one view: the sums over groups of delta = f_max - f_min, of delta in groups
    that hold the event, of their theoretical bound, and how many groups hold it. Groups that hold
    it and do not meet Theorem 1's condition are taken out of `meets`.

    group_start: the first pair of each group, and the number of pairs.
    row: of each pair, where its people stand in `chance`; pair_size: how many they are.
    carriers: of each group.
    """
    sums = np.zeros(4)
    for g in range(len(copies)):
        first = group_start[g]
        high, low, size = chance[row[first]], chance[row[first]], 0
        for p in range(first, group_start[g + 1]):
            high, low = max(high, chance[row[p]]), min(low, chance[row[p]])
            size += pair_size[p]
        delta = high - low
        sums[0] += copies[g] * delta
        if carriers[g] == 0:
            continue
        sums[1] += copies[g] * delta
        sums[3] += copies[g]
        if 0.0 < high < 1.0 and size > r:
            bound = (size - r) * high / (high * (r - 1.0) / (1.0 - high) + size - 1.0)
            sums[2] += copies[g] * bound
        near = high * (1.0 - low) * (r - 1.0) <= low * (1.0 - high) * (size - 1.0)
        if carriers[g] > 1 or not (size >= r if delta == 0.0 else near):
            meets[g] = False
    return sums


@kernel
def room_for_carriers(
    group_start: IntArray,
    copies: Ints,
    row: Whole,
    pair_size: Whole,
    carriers: Ints,
    full: Bools,
    classes: int,
) -> Ints:
    """For one event in one view: how many carriers of each class there can be in groups, of which
    none has more than it has people of the class, or than it publishes. The pairs whose class has
    no more people in their group than the group publishes carriers are noted in `full`.

    group_start: the first pair of each group, and the number of pairs.
    row: the class of each pair; pair_size: how many people it has.
    carriers: of each group.
    """
    room, there = np.zeros(classes, np.int64), np.zeros(classes, np.int64)
    for g in range(len(copies)):
        if carriers[g] == 0:
            continue
        for p in range(group_start[g], group_start[g + 1]):
            there[row[p]] += pair_size[p]
        for p in range(group_start[g], group_start[g + 1]):
            full[p] = there[row[p]] <= carriers[g]
        for p in range(group_start[g], group_start[g + 1]):
            room[row[p]] += copies[g] * min(there[row[p]], carriers[g])
            there[row[p]] = 0
    return room


@kernel
def count_held(
    value_start: IntArray, value_code: IntArray, value_count: Whole, holds: Bools
) -> Ints:
    """How many people of each group publish one of the values that `holds` marks.

    value_start: where the values of each group begin in the next two, and their length.
    """
    counts = np.zeros(len(value_start) - 1, np.int64)
    for g in range(len(counts)):
        for v in range(value_start[g], value_start[g + 1]):
            if holds[value_code[v]]:
                counts[g] += value_count[v]
    return counts


@kernel
def count_people(
    group_start: IntArray,
    copies: Ints,
    pair_signature: IntArray,
    pair_size: Whole,
    held: Ints,
    signatures: int,
) -> Floats:
    """How many people of each signature are in groups of which `held` is not 0, copies counted.

    group_start: where the pairs of each group begin in the next two but one, and their length.
    """
    people = np.zeros(signatures)
    for g in range(len(copies)):
        if held[g] > 0:
            for p in range(group_start[g], group_start[g + 1]):
                people[pair_signature[p]] += copies[g] * pair_size[p]
    return people
