"""Growing an A-group around one carrier of an event, with partners that all hold one filler value.

In such a *pure* group the joint adversary has a closed form. One tuple has x, the others y; with
odds o_j = G_j(x)/G_j(y) the weight of the world where j has x is o_j up to a common factor, so
    p(t_j:x) = o_j / sum o,     safe in a view  <=>  r max o <= sum o.
The search keeps max o and sum o per view and adds whatever closes most of the deficits r max - sum,
less the harm of a new maximum, and less a part (`thrift`) of the odds that close no deficit: they
are lost to the carriers who come later. Partners whom later ones made needless are let go.

Whoever knows that groups are grown around carriers would guess at the likeliest member. So a
partner is also worth something (`cover`) if it is at least as likely as the carrier in a view where
the carrier still leads: guesses are then right about as often as the posterior says.

Symbols: W views; a *cell* is (signature, filler value) with its rows still free; a *pool* is the
cells of one value, sorted by `level`, the mean log odds over views.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.compiling import search_kernel

CLOSE = np.float32(1.0 + 1e-5)
"""Single precision is good enough to search; the margin leaves room for the check in double."""
STRIDE = 16
"""After as many partners each time, a group that would not be safe in time at its pace is given up:
the best partners come first, so that it will hardly become faster."""


@search_kernel
def shortlist(
    anchor: NDArray[np.float32],
    odds: NDArray[np.float32],
    free: NDArray[np.int64],
    first: int,
    last: int,
    length: int,
) -> NDArray[np.int64]:
    """The cells from `first` to `last` whose odds are nearest to the anchor's, nearest first."""
    W = len(anchor)
    inverse = np.empty(W, np.float32)
    for w in range(W):
        inverse[w] = np.float32(1.0) / anchor[w]
    distance = np.empty(last - first, np.float32)
    cells = np.empty(last - first, np.int64)
    found = 0
    for c in range(first, last):
        if free[c] > 0:
            total = np.float32(0.0)
            for w in range(W):
                total += abs(odds[c, w] * inverse[w] - np.float32(1.0))
            distance[found] = total
            cells[found] = c
            found += 1
    distance, cells = distance[:found], cells[:found]
    if found > length:
        limit = np.partition(distance, length - 1)[length - 1]
        kept = 0
        for i in range(found):
            if distance[i] <= limit and kept < length:
                distance[kept], cells[kept] = distance[i], cells[i]
                kept += 1
        distance, cells = distance[:kept], cells[:kept]
    return cells[np.argsort(distance, kind="mergesort")]


@search_kernel
def grow(
    anchor: NDArray[np.float32],
    odds: NDArray[np.float32],
    free: NDArray[np.int64],
    cells: NDArray[np.int64],
    r: float,
    cover: float,
    thrift: float,
    largest: int,
    worth: NDArray[np.float64],
    limit: float,
    chosen: NDArray[np.int64],
) -> tuple[int, float]:
    """Writes the partners of one group into `chosen`; their number and what they cost, or -1 if no
    group that costs less than `limit` was found.

    `cells` are the candidates, nearest first; `free` their rows, which are not touched. A group
    costs the part of `worth` that its partners use, added up over views, times its size squared.
    In every view a safe group comes to r max at least and each member to at most max, so that cost
    and size can be bounded before the group is complete (letting go of partners may undercut that a
    little).
    """
    W, K = len(anchor), len(cells)
    strength = np.float32(r)
    table = np.empty((K, W), np.float32)
    within, top = anchor.copy(), np.zeros(W, np.float32)
    for k in range(K):
        rows = np.float32(min(free[cells[k]], largest))
        for w in range(W):
            table[k, w] = odds[cells[k], w]
            within[w] += rows * table[k, w]
            top[w] = max(top[w], table[k, w])
    for w in range(W):  # not even all candidates together would do
        most = min(within[w], anchor[w] + np.float32(largest) * top[w])
        if most < strength * anchor[w]:
            return -1, np.inf
    used = np.zeros(K, np.int64)
    low, high, total = anchor.copy(), anchor.copy(), anchor.copy()
    # 1/ties while the carrier is among the likeliest in a view, else 0: what a guess gives away.
    leads = np.ones(W, np.float32)
    deficit, scale = np.empty(W, np.float32), np.empty(W, np.float32)
    used_up, before = 0.0, np.float32(0.0)
    for size in range(largest + 1):
        open_views, missing, at_least = 0, np.float32(0.0), used_up
        for w in range(W):
            if high[w] == low[w]:
                open_views += int(size + 1 < strength)
            else:
                open_views += int(strength * high[w] * CLOSE > total[w])
            deficit[w] = max(np.float32(0.0), strength * high[w] * CLOSE - total[w])
            scale[w] = np.float32(1.0) / (strength * high[w])
            missing = max(missing, deficit[w] * scale[w])
            at_least += deficit[w] / worth[w]
        if (1 + size + r * missing) ** 2 * at_least >= limit:
            return -1, np.inf
        if size % STRIDE == 0:
            if size > STRIDE and missing * STRIDE > (before - missing) * (largest - size):
                return -1, np.inf
            before = missing
        if open_views == 0 and size + 1 >= r:
            size = let_go(chosen, size, odds, low, high, total, r)
            return size, _cost(chosen, size, odds, worth)
        best = _most_needed(
            table,
            used,
            free,
            cells,
            high,
            total,
            deficit,
            scale,
            leads,
            strength,
            np.float32(cover),
            np.float32(thrift),
        )
        if best < 0 or size == largest:
            return -1, np.inf
        used[best] += 1
        chosen[size] = cells[best]
        for w in range(W):
            value = table[best, w]
            total[w] += value
            used_up += value / worth[w]
            if value > high[w]:
                leads[w] = np.float32(0.0)
            elif value == high[w]:
                leads[w] = leads[w] / (np.float32(1.0) + leads[w])
            low[w], high[w] = min(low[w], value), max(high[w], value)
    return -1, np.inf


@search_kernel
def let_go(
    chosen: NDArray[np.int64],
    size: int,
    odds: NDArray[np.float32],
    low: NDArray[np.float32],
    high: NDArray[np.float32],
    total: NDArray[np.float32],
    r: float,
) -> int:
    """Takes partners that a safe group can do without out of `chosen` and `total`, the first ones
    first; how many stay. The maxima are left as they were, which is on the safe side."""
    W, kept = len(total), 0
    strength = np.float32(r)
    for k in range(size):
        spare = kept + size - k >= r  # the carrier, those kept, those still to come
        for w in range(W):
            if high[w] != low[w] and total[w] - odds[chosen[k], w] < strength * high[w] * CLOSE:
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
    return (1 + size) ** 2 * used_up


@search_kernel
def _most_needed(
    table: NDArray[np.float32],
    used: NDArray[np.int64],
    free: NDArray[np.int64],
    cells: NDArray[np.int64],
    high: NDArray[np.float32],
    total: NDArray[np.float32],
    deficit: NDArray[np.float32],
    scale: NDArray[np.float32],
    leads: NDArray[np.float32],
    r: np.float32,
    cover: np.float32,
    thrift: np.float32,
) -> int:
    """The candidate that lowers the deficits (against r max of each view) and hides the carrier
    most, at the least loss."""
    K, W = table.shape
    best, best_gain = -1, np.float32(-1e30)
    near = r * CLOSE
    ahead, level = np.empty(W, np.float32), np.empty(W, np.float32)
    closed, lost = np.empty(W, np.float32), np.empty(W, np.float32)
    for w in range(W):
        ahead[w] = cover * leads[w]
        level[w] = ahead[w] * leads[w] / (np.float32(1.0) + leads[w])
        lost[w] = thrift * scale[w]
        closed[w] = scale[w] + lost[w]
    for k in range(K):
        if used[k] >= free[cells[k]]:
            continue
        gain = np.float32(0.0)
        for w in range(W):
            o = table[k, w]
            after = max(np.float32(0.0), near * max(high[w], o) - total[w] - o)
            gain += (deficit[w] - after) * closed[w] - o * lost[w]
            hides = ahead[w] if o > high[w] else np.float32(0.0)
            gain += level[w] if o == high[w] else hides
        if gain > best_gain:
            best, best_gain = k, gain
    return best


@search_kernel
def hide(
    anchors: NDArray[np.int64],
    anchor_odds: NDArray[np.float32],
    odds: NDArray[np.float32],
    level: NDArray[np.float32],
    pool_start: NDArray[np.int64],
    free: NDArray[np.int64],
    supply: NDArray[np.float64],
    pressure: NDArray[np.float64],
    r: float,
    cover: float,
    thrift: float,
    largest: int,
    width: int,
    length: int,
    tries: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Hides the carriers `anchors` (rows of `anchor_odds`, repeated) one after another.

    Returns each one's pool (-1: not hidden), where its partners begin, and the partners' cells one
    after another. Takes them out of `free` and `supply` (pools x W: odds left). Among pools the
    group is taken that uses the smallest part of what its pool has left, where views count by their
    `pressure` (pools x W), times its size squared; at most `tries` pools that work are compared. A
    carrier that finds nobody near is given a longer list.

    anchor_odds: anchors x pools x W, 0 where a pool is no option.
    """
    pools, W = len(pool_start) - 1, anchor_odds.shape[2]
    pool_of = np.full(len(anchors), -1, np.int64)
    begin = np.zeros(len(anchors) + 1, np.int64)
    members = np.empty(len(anchors) * largest, np.int64)
    chosen, kept = np.empty(largest + 1, np.int64), np.empty(largest + 1, np.int64)
    price, worth = np.empty(pools), supply / pressure
    for i in range(len(anchors)):
        a = anchors[i]
        for y in range(pools):
            price[y] = np.inf
            if anchor_odds[a, y, 0] > 0.0 and pool_start[y + 1] > pool_start[y]:
                price[y] = 0.0
                for w in range(W):
                    price[y] += anchor_odds[a, y, w] / worth[y, w]
        best_cost, best_size, found = np.inf, 0, 0
        for reach in (1, 4):
            for y in np.argsort(price):
                # At least r members, partners at least r-1 times the carrier's odds: all that
                # follow cost more.
                if found == tries or r**2 * (r - 1.0) * price[y] >= best_cost:
                    break
                mine = anchor_odds[a, y]
                first, last = window(mine, level, pool_start[y], pool_start[y + 1], width * reach)
                cells = shortlist(mine, odds, free, first, last, length * reach)
                size, cost = grow(
                    mine, odds, free, cells, r, cover, thrift, largest, worth[y], best_cost, chosen
                )
                if size < 0:
                    continue
                found += 1
                if cost < best_cost:
                    best_cost, best_size, pool_of[i] = cost, size, y
                    kept[:size] = chosen[:size]
            if pool_of[i] >= 0:
                break
        begin[i + 1] = begin[i] + best_size
        for k in range(best_size):
            cell = kept[k]
            members[begin[i] + k] = cell
            free[cell] -= 1
            y = pool_of[i]
            for w in range(W):
                supply[y, w] = max(supply[y, w] - odds[cell, w], 1e-9)
                worth[y, w] = supply[y, w] / pressure[y, w]
    return pool_of, begin, members[: begin[len(anchors)]].copy()


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
    mean = 0.0
    for o in anchor:
        mean += np.log(o)
    middle = first + int(np.searchsorted(level[first:last], np.float32(mean / len(anchor))))
    begin = min(max(first, middle - width // 2), last - width)
    return begin, begin + width
