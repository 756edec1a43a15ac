"""Which of two groups may become one: each is tried with others in turn, until one does.

A group is read column by column (a view in the hands of one reader), those first that refused
others before. Of c carriers nobody's posterior is above c times their share of the odds; where that
does not decide, the posteriors do (links.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Floats, Ints
from shoal.compiling import search_kernel
from shoal.methods.art.kernels.links import posteriors
from shoal.methods.art.kernels.weights import Weights

MARGIN = 1e-9


class Lines(NamedTuple):
    """Groups as lines of so many people of a kind."""

    start: Ints
    """Where the lines of each group begin in the next two, and their length."""
    kind: Ints
    number: Ints
    carriers: Ints
    """Of each group."""


@search_kernel
def choose(
    sure: Ints, best: Ints, lines: Lines, weights: Weights, taken: NDArray[np.bool_]
) -> Ints:
    """The partner of each of the groups `sure`, in their order: of its `best` ones the first that
    is not taken yet and with whom all are within their limits; -1 where none is."""
    G, W = len(lines.carriers), len(weights.through)
    sums, largest = np.zeros(G), 1
    total, top, strongest = np.zeros((G, W)), np.zeros((G, W)), np.zeros((G, W))
    for g in range(G):
        for i in range(lines.start[g], lines.start[g + 1]):
            sums[g] += lines.number[i]
            at = weights.at[lines.kind[i]]
            for w in range(W):
                c = weights.first[w] + at[weights.through[w]]
                total[g, w] += weights.odds[c] * lines.number[i]
                top[g, w] = max(top[g, w], weights.odds[c])
                strongest[g, w] = max(strongest[g, w], weights.strength[c])
        largest = max(largest, int(sums[g]))
    order, partner = np.arange(W), np.full(len(sure), -1)
    scratch = np.empty((3, 2 * largest))
    for i in range(len(sure)):
        a = sure[i]
        for b in best[i]:
            if taken[a]:
                break
            if taken[b] or a == b:
                continue
            carriers, fits = lines.carriers[a] + lines.carriers[b], True
            for place in range(W):
                w = order[place]
                share = max(top[a, w], top[b, w]) / (total[a, w] + total[b, w])
                link = max(strongest[a, w], strongest[b, w]) * carriers * share
                if link * (1.0 + MARGIN) > 1.0 and not _fit(a, b, w, lines, weights, scratch):
                    fits = False
                    order[place], order[place // 2] = order[place // 2], w
                    break
            if fits:
                taken[a] = taken[b] = True
                partner[i] = b
    return partner


@search_kernel
def _fit(a: int, b: int, w: int, lines: Lines, weights: Weights, scratch: Floats) -> bool:
    """Whether all are within their limits in one column, if two groups are one."""
    odds, strength, linked = scratch
    people, alike = 0, True
    for g in (a, b):
        for i in range(lines.start[g], lines.start[g + 1]):
            c = weights.first[w] + weights.at[lines.kind[i], weights.through[w]]
            for _ in range(lines.number[i]):
                odds[people], strength[people] = weights.odds[c], weights.strength[c]
                alike &= odds[people] == odds[0] and strength[people] == strength[0]
                people += 1
    carriers = lines.carriers[a] + lines.carriers[b]
    if alike:  # these are counted
        return bool(carriers / people * strength[0] <= 1.0)
    posteriors(odds[:people], carriers, linked[:people])
    for p in range(people):
        if linked[p] * strength[p] * (1.0 + MARGIN) > 1.0:
            return False
    return True
