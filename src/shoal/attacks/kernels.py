"""Posteriors of the suspects of all questions at once."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.compiling import kernel
from shoal.knowledge.kernels.bernoulli import conditional_bernoulli


@kernel
def posteriors_of(odds: Floats, people: Ints, start: Ints, count: Ints) -> Floats:
    """The chance of each suspect to carry, where `count[i]` of the people from `start[i]` to
    `start[i + 1]` do."""
    found = np.empty(len(odds))
    for i in range(len(count)):
        first, last = start[i], start[i + 1]
        if count[i] == 1:
            total = 0.0
            for k in range(first, last):
                total += odds[k] * people[k]
            for k in range(first, last):
                found[k] = odds[k] / total
        else:
            chance = conditional_bernoulli(
                odds[first:last], np.ones(last - first), people[first:last], count[i]
            )
            for k in range(first, last):
                found[k] = chance[k - first]
    return found
