"""Certified bounds on joint posteriors of large groups: a ratio of two permanents is an average.

Scale rows and columns of the weights to R, whose columns add up to about 1 over the N tuples and
whose rows, times the counts, add up to about 1; posteriors do not change. A *state* is what is left
when k tuples and k values were taken out of the group: tuples M, counts d. For a tuple i of M let
W(v) be the weight of the worlds of M without i and d without one v, and h_v = W(v) / d_v. Then
    p(i:v) = R_iv d_v h_v / sum_w R_iw d_w h_w,
and bounds on h_v / h_u are all that is needed. Give u to a tuple j that holds v: this pairs worlds
of W(u), where j holds v, with those of W(v), where j holds u. Summed over the worlds and over j,
    h_v (1 - z) = h_u sum_j R_ju f_j,   R_jv d_v f_j = p(j:v) in the state of W(u),
with z the share of the u of the state of W(v) that are with tuples for whom v is impossible. The sum
is an average of the ratios R_ju / R_jv, since sum_j R_jv f_j = 1. In that state, one deeper,
    f_j = 1 / sum_w R_jw d_w h_w / h_v
again, so that bounds on the ratios in all states of depth k + 1 bound every f_j, and the largest and
the least average with f_j between its bounds bound the ratios in all states of depth k. Where people
are alike to some degree the average hardly depends on the f_j: from no bounds at all at DEPTH the
steps back to the group itself lead to narrow ones. Rounding is met by `slack`, always outward.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.compiling import kernel

DEPTH = 32
SCALING_STEPS = 1000
SCALED_ENOUGH = 1e-9
TINY = 1e-200
"""Below this a scaled weight may have lost its digits, and nothing is said."""
MOST_RATIOS = 1e7
"""Ratios of two values' weights that are kept in order; beyond it nothing is said."""


@kernel
def average_bounds(
    weights: NDArray[np.float64],
    sizes: NDArray[np.int64],
    counts: NDArray[np.int64],
    column: NDArray[np.int64],
    events: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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
def _nothing_known(V: int) -> NDArray[np.float64]:
    """The most that h_v can be of h_u, V x V: no limit, unless they are the same."""
    excess = np.full((V, V), np.inf)
    for v in range(V):
        excess[v, v] = 1.0
    return excess


@kernel
def _scaled(
    weights: NDArray[np.float64], sizes: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.float64]:
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
def _ascending_ratios(scaled: NDArray[np.float64]) -> NDArray[np.int32]:
    """V x V x S: the signatures by the ratio of their weight of u to that of v, impossible v last."""
    S, V = scaled.shape
    order, ratio = np.empty((V, V, S), np.int32), np.empty(S)
    for v in range(V):
        for u in range(V):
            for s in range(S):
                ratio[s] = scaled[s, u] / scaled[s, v] if scaled[s, v] > 0.0 else np.inf
            order[v, u] = np.argsort(ratio)
    return order


@kernel
def _one_less_deep(
    scaled: NDArray[np.float64],
    sizes: NDArray[np.int64],
    counts: NDArray[np.int64],
    order: NDArray[np.int32],
    excess: NDArray[np.float64],
    depth: int,
    slack: float,
) -> NDArray[np.float64]:
    """The limits of h_v / h_u in states of depth - 1, from those in states of `depth`."""
    S, V = scaled.shape
    least, most = np.empty((S, V)), np.empty((S, V))
    for s in range(S):
        for v in range(V):
            least[s, v], most[s, v] = _factor(scaled[s], counts, v, excess, depth, slack)
    found = _nothing_known(V)
    for v in range(V):
        for u in range(V):
            if u == v:
                continue
            low, high = _average(scaled, sizes, order[v, u], least, most, v, u, depth, slack)
            few, many = _without(scaled, sizes, least, most, v, u, depth, slack)
            if many < 1.0:
                found[v, u] = min(found[v, u], high / (1.0 - many) * (1.0 + slack))
            if low > 0.0:
                found[u, v] = min(found[u, v], (1.0 - few) / low * (1.0 + slack))
    for w in range(V):
        for v in range(V):
            for u in range(V):
                if v != u:
                    through = found[v, w] * found[w, u] * (1.0 + slack)
                    found[v, u] = min(found[v, u], through)
    return found


@kernel
def _factor(
    row: NDArray[np.float64],
    counts: NDArray[np.int64],
    v: int,
    excess: NDArray[np.float64],
    depth: int,
    slack: float,
) -> tuple[float, float]:
    """Bounds of f of a tuple with scaled weights `row`, in any state of `depth` with a v left.

    Of the values `depth` copies are gone: for the upper bound those that weigh most.
    """
    V = len(row)
    largest, smallest = 0.0, 0.0
    gone = np.zeros(V, np.bool_)
    for w in range(V):
        if row[w] > 0.0:
            largest += row[w] * counts[w] * excess[w, v]
            smallest += row[w] * counts[w] / excess[v, w]
    left, kept = depth, smallest * (1.0 - slack)
    while left > 0:
        heaviest, weight = -1, 0.0
        for w in range(V):
            if row[w] > 0.0 and not gone[w] and row[w] / excess[v, w] > weight:
                heaviest, weight = w, row[w] / excess[v, w]
        if heaviest < 0:
            break
        gone[heaviest] = True
        copies = min(left, counts[heaviest] - (1 if heaviest == v else 0))
        kept -= copies * weight * (1.0 + slack)
        left -= copies
    # p(j:v) is at most 1, and there is one v at least.
    kept = max(kept, row[v])
    most = (1.0 + slack) / kept if kept > 0.0 else np.inf
    return (1.0 - slack) / largest, most


@kernel
def _average(
    scaled: NDArray[np.float64],
    sizes: NDArray[np.int64],
    order: NDArray[np.int32],
    least: NDArray[np.float64],
    most: NDArray[np.float64],
    v: int,
    u: int,
    depth: int,
    slack: float,
) -> tuple[float, float]:
    """The least and the largest sum_j R_ju f_j over those who can hold v, with sum_j R_jv f_j = 1.

    `depth` tuples are gone. With them, at their least f, the latter sum is at most `gone` more than
    1, and the former at most `gone_u` more than it is.
    """
    S = len(scaled)
    given, value, room, gone, gone_u = 0.0, 0.0, 0.0, 0.0, 0.0
    for s in range(S):
        if scaled[s, v] > 0.0:
            given += sizes[s] * scaled[s, v] * least[s, v]
            value += sizes[s] * scaled[s, u] * least[s, v]
            gone = max(gone, scaled[s, v] * least[s, v])
            gone_u = max(gone_u, scaled[s, u] * least[s, v])
    open_ = slack * (1.0 + given)
    high, left = value, 1.0 + depth * gone - given + open_
    for t in range(S - 1, -1, -1):
        s = order[t]
        if scaled[s, v] > 0.0 and left > 0.0:
            room = max(0.0, sizes[s] * scaled[s, v] * (most[s, v] - least[s, v]))
            high += min(room, left) * (scaled[s, u] / scaled[s, v])
            left -= room
    low, left = value, 1.0 - given - open_
    for t in range(S):
        s = order[t]
        if scaled[s, v] > 0.0 and left > 0.0:
            room = max(0.0, sizes[s] * scaled[s, v] * (most[s, v] - least[s, v]))
            low += min(room, left) * (scaled[s, u] / scaled[s, v])
            left -= room
    return low * (1.0 - slack) - depth * gone_u * (1.0 + slack), high * (1.0 + slack)


@kernel
def _without(
    scaled: NDArray[np.float64],
    sizes: NDArray[np.int64],
    least: NDArray[np.float64],
    most: NDArray[np.float64],
    v: int,
    u: int,
    depth: int,
    slack: float,
) -> tuple[float, float]:
    """Bounds of the share of the u that are with tuples for whom v is impossible: by what these
    can hold, and by what is left to them. Again `depth` tuples are gone."""
    few, many, others_few, others_many, gone, others_gone = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    impossible = False
    for s in range(len(scaled)):
        if scaled[s, u] == 0.0:
            continue
        one = scaled[s, u] * least[s, u]
        if scaled[s, v] == 0.0:
            impossible = True
            few += sizes[s] * one
            many += sizes[s] * scaled[s, u] * most[s, u]
            gone = max(gone, one)
        else:
            others_few += sizes[s] * one
            others_many += sizes[s] * scaled[s, u] * most[s, u]
            others_gone = max(others_gone, one)
    if not impossible:
        return 0.0, 0.0
    few = max(few - depth * gone, 1.0 - others_many) - slack * (1.0 + few)
    many = min(many, 1.0 - others_few + depth * others_gone) + slack * (1.0 + others_few)
    return min(1.0, max(0.0, few)), max(0.0, many)


@kernel
def _posterior(
    row: NDArray[np.float64],
    counts: NDArray[np.int64],
    column: NDArray[np.int64],
    event: int,
    excess: NDArray[np.float64],
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
