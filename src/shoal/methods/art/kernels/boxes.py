"""Kinds of people by where they are, in boxes, so that the nearest are found without looking at
all of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import IntArray, Ints, Singles
from shoal.compiling import search_kernel, search_part
from shoal.methods.art.kernels.nearest import smallest_but

SIZE, FEW = 64, 4096
"""Most kinds of a box; fewer than a few are one box."""
ROUNDED = np.float32(1.0 - 1e-4)
"""What rounding may add to the distance of a box, and far more."""
FAR = np.float32(np.inf)
MORE = 8
"""So many times more boxes are looked into each time."""


class Boxes(NamedTuple):
    """Kinds by place."""

    place: Singles
    """kinds x features."""
    box: IntArray
    """Of each kind."""
    start: Ints
    """Where the kinds of each box begin in the next, and its length."""
    kind: IntArray
    """Those of a box in their order."""
    across: Singles
    """features x kinds, in that order: where they are once more."""
    low: Singles
    """features x boxes: from where to where they reach."""
    high: Singles


def boxes_of(place: Singles) -> Boxes:
    """Halves kinds where they differ most, until few are together."""
    size = SIZE if len(place) >= FEW else max(1, len(place))
    parts, done = [np.arange(len(place), dtype=np.int32)], []
    while parts:
        part = parts.pop()
        if len(part) <= size:
            done.append(np.sort(part))
            continue
        mine = place[part]
        widest = int(np.argmax(np.ptp(mine, axis=0)))
        order, middle = np.argpartition(mine[:, widest], len(part) // 2), len(part) // 2
        parts += [part[order[:middle]], part[order[middle:]]]
    lengths = [len(one) for one in done]
    kind, start = np.concatenate(done), np.cumsum([0, *lengths])
    box = np.empty(len(place), np.int32)
    box[kind] = np.repeat(np.arange(len(done), dtype=np.int32), lengths)
    across = np.ascontiguousarray(place[kind].T)
    low, high = (edge.reduceat(across, start[:-1], axis=1) for edge in (np.minimum, np.maximum))
    return Boxes(place, box, start, kind, across, low, high)


@search_part
def count_free(boxes: Boxes, free: Ints) -> Ints:
    """How many kinds of each box have somebody free."""
    left = np.zeros(len(boxes.start) - 1, np.int64)
    for s in range(len(free)):
        left[boxes.box[s]] += free[s] > 0
    return left


@search_part
def nearest_to(centre: Singles, boxes: Boxes, free: Ints, left_in: Ints, length: int) -> Ints:
    """The `length` kinds with somebody free who are nearest to a place, in their order; of those
    who are as far as the last of them the first. left_in: how many kinds of each box have somebody
    free."""
    bound, there = _bounds(centre, boxes, left_in)
    scratch, wanted = np.empty(len(bound), np.float32), min(len(bound), 2 + 2 * length // SIZE)
    distance, near = np.empty(there, np.float32), np.empty(there, np.int64)
    reach, limit, found = -FAR, FAR, 0
    while True:
        for b in range(len(bound)):
            scratch[b] = bound[b]
        further = min(limit, smallest_but(scratch, wanted - 1))
        for b in range(len(bound)):
            if reach < bound[b] <= further and bound[b] < FAR:
                found = _look_into(b, limit, centre, boxes, free, distance, near, found)
        reach = further
        if found > length:
            limit = smallest_but(distance[:found].copy(), length - 1)
            found = _keep_within(limit, distance, near, found)
        if wanted == len(bound) or (found >= length and reach >= limit):
            return _in_order(near[:found])[:length]
        wanted = min(len(bound), MORE * wanted)


@search_kernel
def _bounds(centre: Singles, boxes: Boxes, left_in: Ints) -> tuple[Singles, int]:
    """How far away each box is at least (infinitely, where nobody is free), and how many kinds
    there are to find."""
    bound, there = np.zeros(len(left_in), np.float32), 0
    for k in range(len(centre)):
        for b in range(len(bound)):
            step = max(boxes.low[k, b] - centre[k], centre[k] - boxes.high[k, b], np.float32(0.0))
            bound[b] += step * step
    for b in range(len(bound)):
        there += left_in[b]
        bound[b] = bound[b] * ROUNDED if left_in[b] > 0 else FAR
    return bound, there


@search_kernel
def _look_into(
    box: int,
    limit: np.float32,
    centre: Singles,
    boxes: Boxes,
    free: Ints,
    distance: Singles,
    near: Ints,
    found: int,
) -> int:
    """Writes down the kinds of a box who are no farther than that, behind the first `found`, and
    how far away they are; how many there are then."""
    first, last = boxes.start[box], boxes.start[box + 1]
    apart = np.zeros(last - first, np.float32)
    for k in range(len(centre)):
        mine = boxes.across[k, first:last]
        for i in range(len(apart)):
            step = mine[i] - centre[k]
            apart[i] += step * step
    for i in range(len(apart)):
        s = boxes.kind[first + i]
        if apart[i] <= limit and free[s] > 0:
            distance[found], near[found] = apart[i], s
            found += 1
    return found


@search_kernel
def _keep_within(limit: np.float32, distance: Singles, near: Ints, found: int) -> int:
    """Moves those of the first `found` who are no farther than that to the front; how many."""
    kept = 0
    for i in range(found):
        if distance[i] <= limit:
            distance[kept], near[kept] = distance[i], near[i]
            kept += 1
    return kept


@search_kernel
def _in_order(kinds: Ints) -> Ints:
    """The same, sorted (Shell's sort, in place)."""
    gap = 1
    while gap < len(kinds):
        gap = 3 * gap + 1
    while gap > 1:
        gap = gap // 3
        for i in range(gap, len(kinds)):
            kind, j = kinds[i], i
            while j >= gap and kinds[j - gap] > kind:
                kinds[j] = kinds[j - gap]
                j -= gap
            kinds[j] = kind
    return kinds
