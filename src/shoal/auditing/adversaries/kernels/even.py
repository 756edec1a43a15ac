"""Finding and judging even groups (even.py): compiled loops over groups."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Bools, Floats, IntArray, Ints
from shoal.auditing.adversaries.kernels.judge import GroupArrays
from shoal.compiling import kernel


class CellArrays(NamedTuple):
    """The cells of a table: (signature, value) in order."""

    start: Ints
    """Where the cells of each signature begin in the next, and its length."""
    value: IntArray


class EvenLinks(NamedTuple):
    """What is true of even groups in every view, in their order."""

    posterior: Floats
    event: IntArray
    breach: Bools
    right: Floats
    """How many guesses are right, in all copies."""
    known: Bools
    """Whether a carrier was known before."""
    made: Floats
    """[unknown before, known before]: guesses."""
    event_worst: Floats
    """Each event's largest posterior."""
    event_first: Ints
    """The first group that has it, -1: none."""


@kernel
def find_even(
    groups: GroupArrays, value_event: IntArray, cells: CellArrays, shown: Bools, pooled: Bools
) -> IntArray:
    """The even groups of people of the table's own cells, and pools of them. Marks whose cells are
    `shown`, and of which signatures people are `pooled`."""
    group_start, value_start, value_code = groups.group_start, groups.value_start, groups.value_code
    found, count = np.empty(len(groups.copies), np.int32), 0
    for g in range(len(groups.copies)):
        if group_start[g + 1] - group_start[g] != 1 or value_start[g + 1] - value_start[g] != 2:
            continue
        one, other = value_code[value_start[g]], value_code[value_start[g] + 1]
        if (value_event[one] >= 0) == (value_event[other] >= 0):
            continue
        signature = groups.pair_signature[group_start[g]]
        first, second = _cell(cells, signature, one), _cell(cells, signature, other)
        last = len(value_event) - 1  # the pooled value
        if (first < 0 and one != last) or (second < 0 and other != last):
            continue
        for at in (first, second):
            if at < 0:
                pooled[signature] = True
            else:
                shown[at] = True
        found[count] = g
        count += 1
    return found[:count].copy()


@kernel
def _cell(cells: CellArrays, signature: int, value: int) -> int:
    """The cell of people of a signature with a value, -1 if there is none."""
    first, last = cells.start[signature], cells.start[signature + 1]
    while first < last:
        middle = (first + last) // 2
        if cells.value[middle] < value:
            first = middle + 1
        else:
            last = middle
    there = first < cells.start[signature + 1] and cells.value[first] == value
    return first if there else -1


@kernel
def judge_even(
    group: IntArray, groups: GroupArrays, value_event: IntArray, event_r: Floats, known: Bools
) -> EvenLinks:
    """Judges even groups: everybody's posterior is the group's share of the event. `known` as in
    judge.py."""
    posterior, right = np.empty(len(group)), np.empty(len(group))
    event_of, breach = np.empty(len(group), np.int32), np.empty(len(group), np.bool_)
    known_of, made = np.empty(len(group), np.bool_), np.zeros(2)
    event_worst = np.zeros(len(event_r))
    event_first = np.full(len(event_r), -1, np.int64)
    for i in range(len(group)):
        g = group[i]
        pair, value, copies = groups.group_start[g], groups.value_start[g], groups.copies[g]
        if value_event[groups.value_code[value]] < 0:
            value += 1
        event, count = value_event[groups.value_code[value]], groups.value_count[value]
        size, carriers = groups.pair_size[pair], 0
        for k in range(groups.carrier_start[pair], groups.carrier_start[pair + 1]):
            if groups.carrier_event[k] == event:
                carriers = groups.carrier_count[k]
        posterior[i], event_of[i] = count / size, event
        breach[i] = event_r[event] * count > size
        right[i] = copies * (carriers / size)
        known_of[i] = carriers > 0 and known[groups.pair_signature[pair], event]
        made[1 if known_of[i] else 0] += copies
        if posterior[i] > event_worst[event]:
            event_worst[event], event_first[event] = posterior[i], i
    return EvenLinks(posterior, event_of, breach, right, known_of, made, event_worst, event_first)
