"""Growing an A-group around one carrier of an event, with partners that all hold one filler value.

In such a *pure* group the joint adversary has a closed form. One tuple has x, the others y; with
odds o_j = G_j(x)/G_j(y) the weight of the world where j has x is o_j up to a common factor, so
    p(t_j:x) = o_j / sum o,     safe in a view  <=>  max d <= sum o,     d_j = o_j / limit_j;
the binary adversary has the same with o = f/(1-f), so that a *view* here is a view in the hands of
one of them. The search keeps max d and sum o and adds whatever closes most of the deficits
max d - sum o, less the harm of a new maximum, and less a part (`thrift`) of the odds that close no
deficit: they are lost to the carriers who come later. Partners whom later ones made needless are
let go.

Whoever knows that groups are grown around carriers would guess at the likeliest member. So a
partner is also worth something (`cover`) if it is at least as likely as the carrier in a view where
the carrier still leads: guesses are then right about as often as the posterior says.

Symbols: W views; a *cell* is (signature, filler value) with its rows still free; a *pool* is the
cells of one value, sorted by `level`, the mean log odds over views.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art.kernels.nearest import nearest_first
from shoal.compiling import glue, search_kernel

NOTHING, ONE = np.float32(0.0), np.float32(1.0)
CLOSE = np.float32(1.0 + 1e-5)
"""Single precision is good enough to search; the margin leaves room for the check in double."""
STRIDE = 16
"""After as many partners each time, a group that would not be safe in time at its pace is given up:
the best partners come first, so that it will hardly become faster."""


class Candidates(NamedTuple):
    """The cells that partners are taken from, pool after pool."""

    odds: NDArray[np.float32]
    """cells x views."""
    demand: NDArray[np.float32]
    """The same over their limits."""
    level: NDArray[np.float32]
    """The mean log odds of each cell, rising within a pool."""
    start: NDArray[np.int64]
    """Pool y has the cells from `start[y]` to `start[y + 1]`."""
    free: NDArray[np.int64]
    """The rows of each cell that are still free."""


class Terms(NamedTuple):
    """What is asked of a group, and how far the search for it goes."""

    r: float
    cover: float
    thrift: float
    largest: int
    """Most partners of one group."""
    width: int
    """Cells of a pool that are looked at for one carrier."""
    length: int
    """How many of them, the nearest ones, are tried."""


class Views(NamedTuple):
    """A group under construction, as each view sees it."""

    low: NDArray[np.float32]
    """The smallest demand in it."""
    high: NDArray[np.float32]
    """The largest."""
    total: NDArray[np.float32]
    """The sum of the odds."""


@search_kernel
def hide(
    anchors: NDArray[np.int64],
    anchor_odds: NDArray[np.float32],
    anchor_demand: NDArray[np.float32],
    candidates: Candidates,
    supply: NDArray[np.float64],
    pressure: NDArray[np.float64],
    worth: NDArray[np.float64],
    terms: Terms,
    tries: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Hides the carriers `anchors` (rows of `anchor_odds`, repeated) one after another.

    Returns each one's pool (-1: not hidden), where its partners begin, and the partners' cells one
    after another. Takes them out of `candidates.free` and `supply`. Among pools the group is taken
    that uses the smallest part of what its pool has left, where views count by their `pressure`,
    times its size squared; at most `tries` pools that work are compared. A carrier that finds
    nobody near is given a longer list.

    anchor_odds: anchors x pools x W, 0 where a pool is no option.
    anchor_demand: the same over their limits.
    supply: pools x W, the odds left.
    pressure: pools x W.
    worth: supply / pressure, and kept so.
    """
    pools, W = len(candidates.start) - 1, anchor_odds.shape[2]
    pool_of = np.empty(len(anchors), np.int64)
    begin = np.empty(len(anchors) + 1, np.int64)
    members = np.empty(len(anchors) * terms.largest, np.int64)
    chosen, kept = np.empty(terms.largest + 1, np.int64), np.empty(terms.largest + 1, np.int64)
    price, tried = np.empty(pools), np.empty(pools, np.int64)
    begin[0] = 0
    for i in range(len(anchors)):
        a = anchors[i]
        for y in range(pools):
            price[y] = np.inf
            if anchor_odds[a, y, 0] > 0.0 and candidates.start[y + 1] > candidates.start[y]:
                price[y] = 0.0
                for w in range(W):
                    price[y] += anchor_odds[a, y, w] / worth[y, w]
            tried[y] = 0
        best_cost, best_size, best_pool, found = np.inf, 0, -1, 0
        for reach in (1, 4):
            for _ in range(pools):
                y = pools
                for other in range(pools):
                    if tried[other] < reach and (y == pools or price[other] < price[y]):
                        y = other
                tried[y] = reach
                # At least r members, partners at least r-1 times the carrier's odds: all that
                # follow cost more.
                if found == tries or terms.r * terms.r * (terms.r - 1.0) * price[y] >= best_cost:
                    break
                size, cost = hide_in_pool(
                    anchor_odds[a, y],
                    anchor_demand[a, y],
                    y,
                    candidates,
                    terms,
                    reach,
                    worth[y],
                    best_cost,
                    chosen,
                )
                if size < 0:
                    continue
                found += 1
                if cost < best_cost:
                    best_cost, best_size, best_pool = cost, size, y
                    chosen, kept = kept, chosen
            if best_pool >= 0:
                break
        pool_of[i] = best_pool
        begin[i + 1] = begin[i] + best_size
        for k in range(best_size):
            cell = kept[k]
            members[begin[i] + k] = cell
            candidates.free[cell] -= 1
            for w in range(W):
                left = max(supply[best_pool, w] - candidates.odds[cell, w], 1e-9)
                supply[best_pool, w] = left
                worth[best_pool, w] = left / pressure[best_pool, w]
    return pool_of, begin, members


@glue
def hide_in_pool(
    anchor: NDArray[np.float32],
    demand: NDArray[np.float32],
    pool: int,
    candidates: Candidates,
    terms: Terms,
    reach: int,
    worth: NDArray[np.float64],
    limit: float,
    chosen: NDArray[np.int64],
) -> tuple[int, float]:
    """Looks for partners of one carrier in one pool, as `grow` does. `anchor` are its odds there,
    `demand` these over their limits and `worth` what the pool is worth, all by view; `reach` times
    as many cells as usual are tried."""
    start = candidates.start
    first, last = window(
        anchor, candidates.level, start[pool], start[pool + 1], terms.width * reach
    )
    cells = shortlist(anchor, candidates, first, last, terms.length * reach)
    return grow(anchor, demand, cells, candidates, terms, worth, limit, chosen)


@search_kernel
def window(
    anchor: NDArray[np.float32],
    level: NDArray[np.float32],
    first: int,
    last: int,
    width: int,
) -> tuple[int, int]:
    """The stretch of a pool whose level is nearest to the anchor's."""
    if last - first <= width:
        return first, last
    total = 0.0
    for o in anchor:
        total += np.log(o)
    mean = np.float32(total / len(anchor))
    middle, end = first, last
    while middle < end:
        half = (middle + end) // 2
        if level[half] < mean:
            middle = half + 1
        else:
            end = half
    begin = min(max(first, middle - width // 2), last - width)
    return begin, begin + width


@search_kernel
def shortlist(
    anchor: NDArray[np.float32], candidates: Candidates, first: int, last: int, length: int
) -> NDArray[np.int64]:
    """The free cells from `first` to `last` whose odds are nearest to the anchor's, nearest
    first."""
    W, odds = len(anchor), candidates.odds
    inverse = np.empty(W, np.float32)
    for w in range(W):
        inverse[w] = ONE / anchor[w]
    distance = np.empty(last - first, np.float32)
    cells = np.empty(last - first, np.int64)
    found = 0
    for c in range(first, last):
        if candidates.free[c] > 0:
            total = NOTHING
            for w in range(W):
                total += abs(odds[c, w] * inverse[w] - ONE)
            distance[found] = total
            cells[found] = c
            found += 1
    return cells[: nearest_first(distance[:found], cells[:found], length)]


@search_kernel
def grow(
    anchor: NDArray[np.float32],
    demand: NDArray[np.float32],
    cells: NDArray[np.int64],
    candidates: Candidates,
    terms: Terms,
    worth: NDArray[np.float64],
    limit: float,
    chosen: NDArray[np.int64],
) -> tuple[int, float]:
    """Writes the partners of one group into `chosen`; their number and what they cost, or -1 if no
    group that costs less than `limit` was found.

    `cells` are those that may be partners, nearest first; their free rows are not touched. A group
    costs the part of `worth` that its partners use, added up over views, times its size squared.
    In every view a safe group comes to max d at least and each member to at most max o, so that
    cost and size can be bounded before the group is complete (letting go of partners may undercut
    that a little).
    """
    W, K, odds, largest = len(anchor), len(cells), candidates.odds, terms.largest
    r, strength = terms.r, np.float32(terms.r)
    table, left = np.empty((2, K, W), np.float32), np.empty(K, np.int64)
    views = Views(np.empty(W, np.float32), np.empty(W, np.float32), np.empty(W, np.float32))
    low, high, total = views
    within, top = np.empty(W, np.float32), np.empty(W, np.float32)
    # 1/ties while the carrier is among the likeliest in a view, else 0: what a guess gives away.
    leads = np.empty(W, np.float32)
    for w in range(W):
        low[w] = high[w] = demand[w]
        total[w] = within[w] = anchor[w]
        top[w], leads[w] = NOTHING, ONE
    for k in range(K):
        left[k] = candidates.free[cells[k]]
        rows = np.float32(min(left[k], largest))
        for w in range(W):
            table[0, k, w] = odds[cells[k], w]
            table[1, k, w] = candidates.demand[cells[k], w]
            within[w] += rows * table[0, k, w]
            top[w] = max(top[w], table[0, k, w])
    for w in range(W):  # not even all candidates together would do
        most = min(within[w], anchor[w] + np.float32(largest) * top[w])
        if most < demand[w]:
            return -1, np.inf
    deficit, scale = np.empty(W, np.float32), np.empty(W, np.float32)
    scratch = np.empty((4, W), np.float32)
    used_up, before = 0.0, NOTHING
    for size in range(largest + 1):
        open_views, missing, at_least = 0, NOTHING, used_up
        for w in range(W):
            if high[w] == low[w]:
                open_views += 1 if size + 1 < strength else 0
            else:
                open_views += 1 if high[w] * CLOSE > total[w] else 0
            deficit[w] = max(NOTHING, high[w] * CLOSE - total[w])
            scale[w] = ONE / high[w]
            missing = max(missing, deficit[w] * scale[w])
            at_least += deficit[w] / worth[w]
        members = 1 + size + r * missing
        if members * members * at_least >= limit:
            return -1, np.inf
        if size % STRIDE == 0:
            if size > STRIDE and missing * STRIDE > (before - missing) * (largest - size):
                return -1, np.inf
            before = missing
        if open_views == 0 and size + 1 >= r:
            size = let_go(chosen, size, odds, views, r)
            return size, _cost(chosen, size, odds, worth)
        best = _most_needed(table, left, views, deficit, scale, leads, terms, scratch)
        if best < 0 or size == largest:
            return -1, np.inf
        left[best] -= 1
        chosen[size] = cells[best]
        for w in range(W):
            total[w] += table[0, best, w]
            used_up += table[0, best, w] / worth[w]
            mine = table[1, best, w]
            if mine > high[w]:
                leads[w] = NOTHING
            elif mine == high[w]:
                leads[w] = leads[w] / (ONE + leads[w])
            low[w], high[w] = min(low[w], mine), max(high[w], mine)
    return -1, np.inf


@search_kernel
def let_go(
    chosen: NDArray[np.int64], size: int, odds: NDArray[np.float32], views: Views, r: float
) -> int:
    """Takes partners that a safe group can do without out of `chosen` and `views.total`, the first
    ones first; how many stay. The maxima are left as they were, which is on the safe side."""
    low, high, total = views
    W, kept = len(total), 0
    for k in range(size):
        spare = kept + size - k >= r  # the carrier, those kept, those still to come
        for w in range(W):
            if high[w] != low[w] and total[w] - odds[chosen[k], w] < high[w] * CLOSE:
                spare = False
        if spare:
            for w in range(W):
                total[w] -= odds[chosen[k], w]
        else:
            chosen[kept] = chosen[k]
            kept += 1
    return kept


@search_kernel
def _cost(
    chosen: NDArray[np.int64],
    size: int,
    odds: NDArray[np.float32],
    worth: NDArray[np.float64],
) -> float:
    used_up = 0.0
    for k in range(size):
        for w in range(len(worth)):
            used_up += odds[chosen[k], w] / worth[w]
    return (1 + size) * (1 + size) * used_up


@search_kernel
def _most_needed(
    table: NDArray[np.float32],
    left: NDArray[np.int64],
    views: Views,
    deficit: NDArray[np.float32],
    scale: NDArray[np.float32],
    leads: NDArray[np.float32],
    terms: Terms,
    scratch: NDArray[np.float32],
) -> int:
    """The candidate that lowers the deficits (against the largest demand of each view) and hides
    the carrier most, at the least loss; -1 if nobody is left.

    table: 2 x candidates x W, their odds and their demands.
    left: the rows of each candidate that are not in the group yet.
    deficit: what each view lacks; times `scale` as a part of the largest demand.
    leads: see `grow`.
    scratch: 4 x W, of no meaning before or after.
    """
    K, W = table.shape[1:]
    high, total = views.high, views.total
    cover, thrift = np.float32(terms.cover), np.float32(terms.thrift)
    best, best_gain = -1, np.float32(-1e30)
    ahead, level, closed, lost = scratch[0], scratch[1], scratch[2], scratch[3]
    for w in range(W):
        ahead[w] = cover * leads[w]
        level[w] = ahead[w] * leads[w] / (ONE + leads[w])
        lost[w] = thrift * scale[w]
        closed[w] = scale[w] + lost[w]
    for k in range(K):
        if left[k] <= 0:
            continue
        gain = NOTHING
        for w in range(W):
            o, mine = table[0, k, w], table[1, k, w]
            after = max(NOTHING, CLOSE * max(high[w], mine) - total[w] - o)
            gain += (deficit[w] - after) * closed[w] - o * lost[w]
            hides = ahead[w] if mine > high[w] else NOTHING
            gain += level[w] if mine == high[w] else hides
        if gain > best_gain:
            best, best_gain = k, gain
    return best
