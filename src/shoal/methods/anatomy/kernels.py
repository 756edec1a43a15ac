"""Groups from buckets: one tuple from each of the l largest, over and over (Anatomy).

Buckets stand in the order of their sizes, largest first. Of those as large as the l-th, the last
ones are taken: then the order still holds after each taken bucket has lost one, and no bucket is
ever moved. Finding them takes two binary searches, so a group costs O(l + log B).

Symbols: B buckets with `left` tuples each, the last of them the pool; g the group being made.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import IntArray, Ints
from shoal.compiling import kernel


@kernel
def deal(rows: Ints, start: Ints, order: Ints, l: int) -> IntArray:
    """The group of each row, -1 for those left over.

    Bucket b holds `rows[start[b]:start[b+1]]`, in random order; `order` is the buckets, largest
    first. The last bucket is a pool: where fewer than l buckets are left, it fills the group up.
    """
    B = len(start) - 1
    pool = B - 1
    groups, left = np.empty(len(rows), np.int32), np.empty(B, np.int64)
    for i in range(len(rows)):
        groups[i] = -1
    for b in range(B):
        left[b] = start[b + 1] - start[b]
    filled = 0
    while filled < B and left[order[filled]] > 0:
        filled += 1
    g = 0
    while filled >= l:
        size = left[order[l - 1]]
        first = _first_at_most(left, order, size)
        end = _first_at_most(left, order, size - 1)
        for i in range(l):
            b = order[i] if i < first else order[end - l + i]
            left[b] -= 1
            groups[rows[start[b] + left[b]]] = g
        if size == 1:
            filled -= l - first
        g += 1
    alive = np.empty(filled, np.int64)
    events = 0
    for b in order[:filled]:
        if b != pool:
            alive[events] = b
            events += 1
    while events + left[pool] >= l:
        for _ in range(l - events):
            left[pool] -= 1
            groups[rows[start[pool] + left[pool]]] = g
        kept = 0
        for i in range(events):
            b = alive[i]
            left[b] -= 1
            groups[rows[start[b] + left[b]]] = g
            if left[b] > 0:
                alive[kept] = b
                kept += 1
        events = kept
        g += 1
    return groups


@kernel
def _first_at_most(left: Ints, order: Ints, size: int) -> int:
    """The first place in the order whose bucket has at most `size` left."""
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) // 2
        if left[order[middle]] > size:
            low = middle + 1
        else:
            high = middle
    return low
