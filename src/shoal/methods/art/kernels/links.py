"""Links in a pure group, strictly: c carriers of one event value among people who else hold one
value.

With odds o_j the weight of the world in which the people C carry is prod_{j in C} o_j, so that the
posterior of j is o_j e_{c-1}(o without j) / e_c(o), e_k being the elementary symmetric sums: o_j
over their sum for one carrier. The sums without j are put together from those of the people before
and after j: nothing is subtracted, so that nothing is lost to rounding.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Bools, Floats, Ints, Whole
from shoal.compiling import kernel, part

TINY = 1e-250
"""Sums below this have lost digits."""


@part
def posteriors(odds: Floats, carriers: int, answer: Floats) -> None:
    """Everybody's posterior in one group, written into `answer`; `odds` are theirs in one view. It
    is 1 where it cannot be told: no world is possible, or the sums leave floating point."""
    n, total, top = len(odds), 0.0, 0.0
    for i in range(n):
        total += odds[i]
        top = max(top, odds[i])
    if carriers >= n or top == 0.0 or not total < np.inf:
        answer[:n] = 1.0
        return
    if carriers == 1:
        for i in range(n):
            answer[i] = odds[i] / total
        return
    before = np.empty((n + 1, carriers + 1))
    after, scaled = np.zeros(carriers + 1), np.empty(n)
    before[0] = 0.0
    before[0, 0] = after[0] = 1.0
    for i in range(n):
        one = scaled[i] = odds[i] / top
        before[i + 1, 0] = before[i, 0]
        for k in range(1, carriers + 1):
            before[i + 1, k] = before[i, k] + before[i, k - 1] * one
    every = before[n, carriers]
    if not TINY < every < np.inf:
        answer[:n] = 1.0
        return
    for i in range(n - 1, -1, -1):
        with_i = 0.0
        for k in range(carriers):
            with_i += before[i, k] * after[carriers - 1 - k]
        answer[i] = with_i * scaled[i] / every
        for k in range(carriers, 0, -1):
            after[k] += after[k - 1] * scaled[i]


@kernel
def drop_linked(
    start: Ints,
    row: Whole,
    number: Ints,
    carriers: Ints,
    odds: Floats,
    strength: Floats,
    known: Floats,
    tolerance: float,
    safe: Bools,
) -> None:
    """Marks groups in which somebody is linked above their limit in one view as unsafe.

    start: where the lines of each group begin in the next two, and their length.
    row: of each line, where its people stand in odds, strength and known; number: how many.
    known: what readers know. Only people with the same probabilities are surely alike to the
    auditor too: equal odds of unequal ones may differ in the last bit there.
    """
    most = 1
    for g in range(len(carriers)):
        people = 0
        for i in range(start[g], start[g + 1]):
            people += number[i]
        most = max(most, people)
    mine, answer = np.empty(most), np.empty(most)
    for g in range(len(carriers)):
        if not safe[g]:
            continue
        first, people, alike = row[start[g]], 0, True
        total, largest, strongest = 0.0, 0.0, 0.0
        for i in range(start[g], start[g + 1]):
            for k in range(known.shape[1]):
                alike = alike and known[row[i], k] == known[first, k]
            total += odds[row[i]] * number[i]
            largest, strongest = max(largest, odds[row[i]]), max(strongest, strength[row[i]])
            for _ in range(number[i]):
                mine[people] = odds[row[i]]
                people += 1
        if alike:
            # A quotient times one over itself is never above 1: the limit itself is allowed.
            safe[g] = carriers[g] / people * strength[first] <= 1.0
            continue
        # Nobody's posterior is above that of the largest odds, nor that above its share of them.
        if strongest * (carriers[g] * largest / total + tolerance) <= 1.0:
            continue
        posteriors(mine[:people], carriers[g], answer)
        people = 0
        for i in range(start[g], start[g + 1]):
            for _ in range(number[i]):
                if strength[row[i]] * (answer[people] + tolerance) > 1.0:
                    safe[g] = False
                people += 1


@kernel
def weigh(
    start: Ints,
    number: Ints,
    sampled: Bools,
    odds: Floats,
    most: Floats,
    carriers: Ints,
    weight: Floats,
) -> None:
    """Writes down what each line of groups counts as, where limits leave room for all carriers.

    start: where the lines of each group begin in the others, and their length.
    sampled: the lines that count; all do where limits leave these no room. most: the limits.
    """
    largest = 1
    for g in range(len(carriers)):
        people = 0
        for i in range(start[g], start[g + 1]):
            people += number[i]
        largest = max(largest, people)
    mine, chance, limit = np.empty(largest), np.empty(largest), np.empty(largest)
    for g in range(len(carriers)):
        everybody, people, room = False, 0, 0.0
        while carriers[g] > 0:
            people, room = 0, 0.0
            for i in range(start[g], start[g + 1]):
                if sampled[i] or everybody:
                    room += number[i] * most[i]
                    for _ in range(number[i]):
                        mine[people], limit[people] = odds[i], most[i]
                        people += 1
            if room >= carriers[g] or everybody:
                break
            everybody = True
        if carriers[g] == 0 or room < carriers[g]:
            continue
        posteriors(mine[:people], carriers[g], chance)
        _cut_off(chance[:people], limit[:people], carriers[g])
        people = 0
        for i in range(start[g], start[g + 1]):
            weight[i] = 0.0
            if sampled[i] or everybody:
                weight[i] = chance[people]
                people += number[i]


@kernel
def _cut_off(chance: Floats, limit: Floats, carriers: int) -> None:
    """Chances that add up to the carriers, none above its limit, the others in proportion."""
    full = np.zeros(len(chance), np.bool_)
    while True:
        left, rest, more = float(carriers), 0.0, False
        for i in range(len(chance)):
            if full[i]:
                left -= limit[i]
            else:
                rest += chance[i]
        for i in range(len(chance)):
            if not full[i] and chance[i] * left > limit[i] * rest:
                full[i] = more = True
        if not more:
            break
    for i in range(len(chance)):
        chance[i] = limit[i] if full[i] else chance[i] * left / rest
