"""Certified bounds on joint posteriors of large groups: a ratio of two permanents is an average.

Scale rows and columns of the weights to R, whose columns add up to about 1 over the N tuples and
whose rows, times the counts, add up to about 1; posteriors do not change. A *state* of depth k is
what is left when any k tuples and any k values were taken out of the group: tuples M, counts d. For
a tuple i of M let W(v) be the weight of the worlds of M without i and d without one v, and
h_v = W(v) / d_v. Then
    p(i:v) = R_iv d_v h_v / sum_w R_iw d_w h_w,
so that bounds on the ratios h_v / h_u are all that is needed. Let a tuple j that holds v in a
world of W(u) have u instead: this pairs these worlds with those of W(v) where j holds u, and
changes their weight by R_ju / R_jv. Summed over worlds and tuples,
    h_v (1 - z) = h_u sum_j R_ju f_j,   R_jv d_v f_j = p(j:v) in the state of W(u),
z being the share of the u in the state of W(v) that is with tuples for whom v is impossible. The
sum is an average of R_ju / R_jv, since sum_j R_jv f_j = 1. And in that state, which is one deeper,
    1 / f_j = sum_w R_jw d_w h_w / h_v.
So limits of the ratios in all states of depth k + 1 limit every f_j, and the least and the largest
average within these limits limit the ratios in all states of depth k. Where people are alike to
some degree the average hardly depends on the f_j: from no limits at all at DEPTH the steps back to
the group itself lead to narrow ones. Rounding is met by `slack`, always outward.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats, IntArray, Ints
from shoal.auditing.adversaries.kernels.extremes import average_limits, share_limits
from shoal.compiling import kernel

DEPTH = 20
SCALING_STEPS = 1000
SCALED_ENOUGH = 1e-9
TINY = 1e-140
"""Below this a ratio of two scaled weights may have lost its digits, and nothing is said."""
MOST_RATIOS = 2e6
"""Ratios of two values' weights that are kept in order; beyond it nothing is said."""


@kernel
def average_bounds(
    weights: Floats, sizes: Ints, counts: Ints, column: Ints, events: int
) -> tuple[Floats, Floats]:
    """Lower and upper bounds of p(tuple of s has event e), S x E; `column` is the event of each
    value, or -1. Some world must have weight."""
    S, V = weights.shape
    lower, upper = np.zeros((S, events)), np.ones((S, events))
    if 1.0 * V * V * S > MOST_RATIOS:
        return lower, upper
    scaled = _scaled(weights, sizes, counts)
    N = 0
    for s in range(S):
        N += sizes[s]
        for v in range(V):
            if weights[s, v] > 0.0 and not TINY < scaled[s, v] < 1.0 / TINY:
                return lower, upper
    slack = 1e-15 * (S + V + 1000)
    order = _ascending_ratios(scaled)
    excess = _nothing_known(V)
    for depth in range(min(DEPTH, N - 1), 0, -1):
        excess = _one_less_deep(scaled, sizes, counts, order, excess, depth, slack)
    for s in range(S):
        for e in range(events):
            lower[s, e], upper[s, e] = _posterior(scaled[s], counts, column, e, excess)
            lower[s, e] = max(0.0, lower[s, e] * (1.0 - slack))
            upper[s, e] = min(1.0, upper[s, e] * (1.0 + slack))
    return lower, upper


@kernel
def _nothing_known(V: int) -> Floats:
    """The most that h_v can be of h_u, V x V: no limit, unless they are the same."""
    excess = np.full((V, V), np.inf)
    for v in range(V):
        excess[v, v] = 1.0
    return excess


@kernel
def _scaled(weights: Floats, sizes: Ints, counts: Ints) -> Floats:
    """R. Factors are collected apart, so that every weight is rounded thrice only."""
    S, V = weights.shape
    row, value = np.ones(S), np.ones(V)
    for _ in range(SCALING_STEPS):
        for s in range(S):
            total = 0.0
            for v in range(V):
                total += weights[s, v] * value[v] * counts[v]
            row[s] = 1.0 / total
        astray = 0.0
        for v in range(V):
            total = 0.0
            for s in range(S):
                total += sizes[s] * row[s] * weights[s, v]
            astray = max(astray, abs(total * value[v] - 1.0))
            value[v] = 1.0 / total
        if astray <= SCALED_ENOUGH:
            break
    scaled = np.empty((S, V))
    for s in range(S):
        for v in range(V):
            scaled[s, v] = weights[s, v] * row[s] * value[v]
    return scaled


@kernel
def _ascending_ratios(scaled: Floats) -> IntArray:
    """V x V x S: the signatures by the ratio of their weight of u to that of v."""
    S, V = scaled.shape
    order, ratio = np.empty((V, V, S), np.int32), np.empty(S)
    for v in range(V):
        for u in range(V):
            for s in range(S):
                ratio[s] = scaled[s, u] / scaled[s, v] if scaled[s, v] > 0.0 else np.inf
            ranked = np.argsort(ratio)
            for t in range(S):
                order[v, u, t] = ranked[t]
    return order


@kernel
def _one_less_deep(
    scaled: Floats,
    sizes: Ints,
    counts: Ints,
    order: IntArray,
    excess: Floats,
    depth: int,
    slack: float,
) -> Floats:
    """The limits of h_v / h_u in states of depth - 1, from those in states of `depth`."""
    S, V = scaled.shape
    largest, smallest = np.empty((V, S)), np.empty((V, S))
    for s in range(S):
        for v in range(V):
            total = _totals(scaled[s], counts, v, excess, depth - 1, slack)
            largest[v, s], smallest[v, s] = total
    found = _nothing_known(V)
    by_value = scaled.T.copy()
    least, most = np.empty((2, S)), np.empty((2, S))
    for one in range(V):
        for two in range(one):
            for side in range(2):
                v, u = (one, two) if side == 0 else (two, one)
                _limit_f(
                    by_value[v],
                    by_value[u],
                    largest[v],
                    smallest[v],
                    excess[u, v],
                    excess[v, u],
                    slack,
                    least[side],
                    most[side],
                )
            for side in range(2):
                v, u = (one, two) if side == 0 else (two, one)
                held, other, ranked = by_value[v], by_value[u], order[v, u]
                low, high = average_limits(
                    held, other, sizes, ranked, least[side], most[side], depth, slack
                )
                few, many = share_limits(
                    other, held, sizes, least[1 - side], most[1 - side], depth, slack
                )
                if many < 1.0:
                    found[v, u] = min(found[v, u], high / (1.0 - many) * (1.0 + slack))
                if low > 0.0:
                    found[u, v] = min(found[u, v], (1.0 - few) / low * (1.0 + slack))
    for w in range(V):
        for v in range(V):
            for u in range(V):
                if v != u:
                    through = found[v, w] * found[w, u] * (1.0 + slack)
                    found[v, u] = max(TINY, min(found[v, u], through))
    return found


@kernel
def _totals(
    row: Floats, counts: Ints, v: int, excess: Floats, gone: int, slack: float
) -> tuple[float, float]:
    """The most and the least that sum_w R_jw d_w h_w / h_v can be when `gone` values are gone, and
    a v is left: for the latter, those that weigh most."""
    V = len(row)
    largest, smallest = 0.0, 0.0
    taken = np.zeros(V, np.bool_)
    for w in range(V):
        if row[w] > 0.0:
            largest += row[w] * counts[w] * excess[w, v]
            smallest += row[w] * counts[w] / excess[v, w]
    smallest *= 1.0 - slack
    while gone > 0:
        heaviest, weight = -1, 0.0
        for w in range(V):
            if row[w] > 0.0 and not taken[w] and row[w] / excess[v, w] > weight:
                heaviest, weight = w, row[w] / excess[v, w]
        if heaviest < 0:
            break
        taken[heaviest] = True
        copies = min(gone, counts[heaviest] - (1 if heaviest == v else 0))
        smallest -= copies * weight * (1.0 + slack)
        gone -= copies
    return largest * (1.0 + slack), smallest


@kernel
def _limit_f(
    held: Floats,
    gone: Floats,
    largest: Floats,
    smallest: Floats,
    most_gone: float,
    most_held: float,
    slack: float,
    least: Floats,
    most: Floats,
) -> None:
    """Writes the limits of every f_j for v when one u more is gone than in the totals.

    held, gone: R_jv and R_ju; most_gone, most_held: limits of h_u / h_v and of h_v / h_u.
    """
    for s in range(len(held)):
        total = largest[s]
        if gone[s] > 0.0 and total < np.inf:
            total -= gone[s] * most_gone * (1.0 - slack)
        least[s] = (1.0 - slack) / total
        # p(j:v) is at most 1, and there is one v at least.
        total = max(smallest[s] - gone[s] / most_held * (1.0 + slack), held[s])
        most[s] = (1.0 + slack) / total


@kernel
def _posterior(
    row: Floats, counts: Ints, column: Ints, event: int, excess: Floats
) -> tuple[float, float]:
    """Bounds of p(i:event): the others' weight against the event's, value by value."""
    V = len(row)
    most_against, least_against, possible = 0.0, 0.0, False
    for v in range(V):
        possible |= column[v] == event and row[v] > 0.0
    if not possible:
        return 0.0, 0.0
    for w in range(V):
        if column[w] == event or row[w] == 0.0:
            continue
        smallest, largest = 0.0, 0.0
        for v in range(V):
            if column[v] == event and row[v] > 0.0:
                smallest += row[v] * counts[v] / excess[w, v]
                largest += row[v] * counts[v] * excess[v, w]
        most_against += row[w] * counts[w] / smallest if smallest > 0.0 else np.inf
        least_against += row[w] * counts[w] / largest
    return 1.0 / (1.0 + most_against), 1.0 / (1.0 + least_against)
