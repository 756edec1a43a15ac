"""Cutting a row of people into groups in which no value can be read."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Bools, Ints
from shoal.compiling import search_kernel

MANY, DIFFERENT = 1, 2


@search_kernel
def gather(people: Ints, low: Ints, high: Ints, common: Ints, smallest: int, largest: int) -> Ints:
    """The group of each signature of a row, numbered along it. A stretch is cut in two as long as
    both sides have `smallest` people and as many different values as it has itself, one or more
    than one, in every sensitive column; a stretch of more than `largest` people whatever values
    they have. It is cut where neighbours have least in common, and there nearest to its middle.

    people: of each signature.
    low, high: signatures x columns: the codes of their first and last value.
    common: of each signature: how much it has in common with the one before it.
    """
    count, columns = low.shape
    group, made = np.empty(count, np.int64), 0
    begin, end, parts = np.empty(count + 1, np.int64), np.empty(count + 1, np.int64), 1
    begin[0], end[0] = 0, count
    behind = np.empty(count + 1, np.int64)
    several = np.empty(columns, np.bool_)
    first, last = np.empty(columns, np.int64), np.empty(columns, np.int64)
    while parts > 0:
        parts -= 1
        start, stop, total = begin[parts], end[parts], 0
        for c in range(columns):
            first[c], last[c], several[c] = low[start, c], high[start, c], False
        for i in range(start, stop):
            total += people[i]
            for c in range(columns):
                several[c] |= low[i, c] != first[c] or high[i, c] != first[c]
        size = 0
        for i in range(stop - 1, start, -1):
            size += people[i]
            behind[i] = _kept(i, i == stop - 1, low, high, first, last, several, size, smallest)
        size, best, where, least, middle = 0, 0, -1, 0, 0
        for i in range(start + 1, stop):
            size += people[i - 1]
            kept = _kept(i - 1, i == start + 1, low, high, first, last, several, size, smallest)
            kept, off = min(kept, behind[i]), abs(2 * size - total)
            if kept < DIFFERENT and (kept == 0 or total <= largest):
                continue
            near = common[i] < least or (common[i] == least and off < middle)
            if kept > best or (kept == best and near):
                best, where, least, middle = kept, i, common[i], off
        if where < 0:
            group[start:stop] = made
            made += 1
            continue
        begin[parts], end[parts], begin[parts + 1], end[parts + 1] = where, stop, start, where
        parts += 2
    return group


@search_kernel
def _kept(
    i: int,
    fresh: bool,
    low: Ints,
    high: Ints,
    first: Ints,
    last: Ints,
    several: Bools,
    size: int,
    smallest: int,
) -> int:
    """Takes in signature i; whether those taken in are MANY enough, and as DIFFERENT."""
    different = True
    for c in range(len(first)):
        first[c] = low[i, c] if fresh else min(first[c], low[i, c])
        last[c] = high[i, c] if fresh else max(last[c], high[i, c])
        different &= first[c] < last[c] or not several[c]
    return 0 if size < smallest else DIFFERENT if different else MANY
