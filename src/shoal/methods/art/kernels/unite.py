"""Which of two groups may become one: each is tried with others in turn, until one does.

A group is read column by column (a view in the hands of one reader), those first that refused
others before. Of c carriers nobody's posterior is above c times their share of the odds; and that
of whoever has the largest odds o is no less than if all others, n of them, had the same odds, S in
all: o / (o + S (n - c + 1) / (n c)), by Newton's inequalities. Where neither decides, the
posteriors do (links.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Bools, Floats, Ints
from shoal.compiling import search_kernel, search_part
from shoal.methods.art.kernels.links import posteriors
from shoal.methods.art.kernels.weights import Weights

MARGIN = 1e-9
CLEARLY, LARGE = 1.0 + 1e-6, 1e200
"""Links that are above or below their limits by no less than this are so however sums are rounded,
if these are no larger than the second, and no smaller than one over it."""

TOTAL, TOP, LIKELIEST, STRONGEST = range(4)


class Lines(NamedTuple):
    """Groups as lines of so many people of a kind."""

    start: Ints
    """Where the lines of each group begin in the next two, and their length."""
    kind: Ints
    number: Ints
    carriers: Ints
    """Of each group."""


@search_kernel
def choose(sure: Ints, best: Ints, lines: Lines, weights: Weights, taken: Bools) -> Ints:
    """The partner of each of the groups `sure`, in their order: of its `best` ones the first that
    is not taken yet and with whom all are within their limits; -1 where none is."""
    G, W = len(lines.carriers), len(weights.through)
    sums, largest = np.zeros(G), 1
    for g in range(G):
        for i in range(lines.start[g], lines.start[g + 1]):
            sums[g] += lines.number[i]
        largest = max(largest, int(sums[g]))
    read, columns = np.zeros(G, np.bool_), np.zeros((G, W, 4))
    order, partner = np.arange(W), np.full(len(sure), -1)
    scratch = np.empty((5, 2 * largest))
    for i in range(len(sure)):
        a = sure[i]
        for b in best[i]:
            if taken[a]:
                break
            if taken[b] or a == b:
                continue
            for g in (a, b):
                if not read[g]:
                    _read(g, lines, weights, columns[g])
                    read[g] = True
            carriers, fits = lines.carriers[a] + lines.carriers[b], True
            people = sums[a] + sums[b]
            for place in range(W):
                w = order[place]
                one = columns[a if columns[a, w, TOP] > columns[b, w, TOP] else b, w]
                most, every = one[TOP], columns[a, w, TOTAL] + columns[b, w, TOTAL]
                strongest = max(columns[a, w, STRONGEST], columns[b, w, STRONGEST])
                link = strongest * carriers * most / every
                if not link * (1.0 + MARGIN) > 1.0:
                    continue
                even = (every - most) * (people - carriers) / ((people - 1.0) * carriers)
                least = one[LIKELIEST] * most / (most + even)
                if least > CLEARLY or not _fit(a, b, w, lines, weights, scratch):
                    fits = False
                    order[place], order[place // 2] = order[place // 2], w
                    break
            if fits:
                taken[a] = taken[b] = True
                partner[i] = b
    return partner


@search_part
def _read(g: int, lines: Lines, weights: Weights, columns: Floats) -> None:
    """What is known of a group, column by column: all odds, the largest and how strong it is, and
    the largest strength."""
    for i in range(lines.start[g], lines.start[g + 1]):
        at = weights.at[lines.kind[i]]
        for w in range(len(columns)):
            c, one = weights.first[w] + at[weights.through[w]], columns[w]
            one[TOTAL] += weights.odds[c] * lines.number[i]
            if weights.odds[c] > one[TOP]:
                one[TOP], one[LIKELIEST] = weights.odds[c], weights.strength[c]
            one[STRONGEST] = max(one[STRONGEST], weights.strength[c])


@search_kernel
def _fit(a: int, b: int, w: int, lines: Lines, weights: Weights, scratch: Floats) -> bool:
    """Whether all are within their limits in one column, if two groups are one."""
    odds, strength, linked = scratch[:3]
    people, alike, likeliest, strongest = 0, True, 0, 0.0
    for g in (a, b):
        for i in range(lines.start[g], lines.start[g + 1]):
            c = weights.first[w] + weights.at[lines.kind[i], weights.through[w]]
            for _ in range(lines.number[i]):
                odds[people], strength[people] = weights.odds[c], weights.strength[c]
                alike &= odds[people] == odds[0] and strength[people] == strength[0]
                likeliest = people if odds[people] > odds[likeliest] else likeliest
                strongest = max(strongest, strength[people])
                people += 1
    carriers = lines.carriers[a] + lines.carriers[b]
    if alike:  # these are counted
        return bool(carriers / people * strength[0] <= 1.0)
    link, told = _link(odds[:people], likeliest, carriers, scratch[3:])
    if told and strength[likeliest] * link > CLEARLY:
        return False
    if told and strongest * link * CLEARLY < 1.0:
        return True
    posteriors(odds[:people], carriers, linked[:people])
    for p in range(people):
        if linked[p] * strength[p] * (1.0 + MARGIN) > 1.0:
            return False
    return True


@search_part
def _link(odds: Floats, at: int, carriers: int, sums: Floats) -> tuple[float, bool]:
    """The posterior of somebody with the largest odds, but for rounding; and whether the sums that
    it takes are neither very small nor very large."""
    now, then, n = sums[0], sums[1], len(odds)
    for k in range(carriers + 1):
        now[k] = then[k] = 0.0
    now[0] = then[0] = 1.0
    for i in range(0, n, 2):  # two at a time
        one = 0.0 if i == at else odds[i] / odds[at]
        two = 0.0 if i + 1 == at or i + 1 == n else odds[i + 1] / odds[at]
        both, product = one + two, one * two
        then[1] = now[1] + now[0] * both
        for k in range(2, carriers + 1):
            then[k] = now[k] + now[k - 1] * both + now[k - 2] * product
        now, then = then, now
    every = now[carriers - 1] + now[carriers]
    return now[carriers - 1] / every, 1.0 / LARGE < every < LARGE
