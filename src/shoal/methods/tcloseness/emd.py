"""Earth mover's distance between distributions over the same values, in three forms.

The idea: the least work that turns one distribution into another, work being mass times
distance. What differs is the distance of two values: equal (always 1), ordered (steps
between them over the longest walk), hierarchical (level of their lowest common node over
the hierarchy's height). Each has a closed form, so no linear program is solved.
Li, Li, Venkatasubramanian: "t-Closeness", ICDE 2007.

Each function takes `p`, one distribution per row (or a single one), and `q`, the one that
all are compared with, and returns one distance in [0, 1] per row of `p`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats, Ints
from shoal.data.table.hierarchy import Hierarchy


def equal(p: ArrayLike, q: ArrayLike) -> Floats:
    """All values are equally far apart: half the sum of |p - q|."""
    return _half_absolute_sum(_surplus(p, q))


def ordered(p: ArrayLike, q: ArrayLike) -> Floats:
    """Values stand in order, evenly spaced: what has to cross each gap, over the gaps."""
    surplus = _surplus(p, q)
    gaps = surplus.shape[1] - 1
    if gaps < 1:
        return np.zeros(len(surplus))
    crossing = np.abs(np.cumsum(surplus, axis=1)[:, :-1])
    return np.asarray(crossing.sum(axis=1) / gaps, dtype=np.float64)


def hierarchical(p: ArrayLike, q: ArrayLike, hierarchy: Hierarchy) -> Floats:
    """Values are as far apart as the level of their lowest common node, over the height.

    Li et al. sum height(node)/H * min(inflow, outflow) over the inner nodes. Counted level
    by level that is the mean, over the levels below the top, of the equal distance between
    the distributions generalized to that level. Columns follow `hierarchy.values`.
    """
    surplus = _surplus(p, q)
    total = _half_absolute_sum(surplus)
    for level in range(1, hierarchy.height):
        surplus = _sum_by_parent(surplus, hierarchy.parent(level - 1))
        total += _half_absolute_sum(surplus)
    return total / hierarchy.height


def _surplus(p: ArrayLike, q: ArrayLike) -> Floats:
    return np.atleast_2d(np.asarray(p, dtype=np.float64)) - np.asarray(q, dtype=np.float64)


def _half_absolute_sum(surplus: Floats) -> Floats:
    return np.asarray(np.abs(surplus).sum(axis=1) / 2, dtype=np.float64)


def _sum_by_parent(surplus: Floats, parent: Ints) -> Floats:
    """Adds up the columns that share a parent; every parent has at least one child."""
    order = np.argsort(parent, kind="stable")
    starts = np.flatnonzero(np.diff(parent[order], prepend=-1))
    return np.add.reduceat(surplus[:, order], starts, axis=1)
