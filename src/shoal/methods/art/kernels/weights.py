"""Odds and limits by need: they are kept by class, and read where a person of a kind stands.

A view knows far fewer classes than there are kinds of people. So what kinds x W columns would hold
many times over is held once for each class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Floats, Ints, Whole
from shoal.compiling import kernel


class Weights(NamedTuple):
    """What is known of kinds of people in W columns (a view in the hands of one reader)."""

    at: Whole
    """kinds x views: the class of each kind."""
    through: Ints
    """The view of each column."""
    first: Ints
    """Where the classes of each column begin in the next two, and their length."""
    odds: Floats
    strength: Floats
    """One over the limit."""


@kernel
def gathered(weights: Weights, numbers: Floats, kinds: Ints, width: int) -> Floats:
    """kinds x the first `width` columns: what `numbers`, which are by class, say of some kinds."""
    made = np.empty((len(kinds), width))
    for i in range(len(kinds)):
        mine = weights.at[kinds[i]]
        for w in range(width):
            made[i, w] = numbers[weights.first[w] + mine[weights.through[w]]]
    return made


@kernel
def people_by_class(weights: Weights, people: Floats, width: int) -> Floats:
    """How many people there are in each class of the first `width` columns."""
    counts = np.zeros(weights.first[width])
    for s in range(len(people)):
        mine = weights.at[s]
        for w in range(width):
            counts[weights.first[w] + mine[weights.through[w]]] += people[s]
    return counts


@kernel
def largest_sums(weights: Weights, numbers: Floats, kind: Ints, start: Ints) -> Floats:
    """Of each stretch of kinds: the largest of the `numbers`, which are by class, in each column,
    added up over columns. start: where each stretch begins, and where the last ends."""
    width = len(weights.through)
    sums, largest = np.zeros(len(start) - 1), np.empty(width)
    for i in range(len(sums)):
        largest[:] = -np.inf
        for e in range(start[i], start[i + 1]):
            mine = weights.at[kind[e]]
            for w in range(width):
                largest[w] = max(largest[w], numbers[weights.first[w] + mine[weights.through[w]]])
        for w in range(width):
            sums[i] += largest[w]
    return sums
