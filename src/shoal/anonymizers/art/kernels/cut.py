"""Cutting people into cells of lookalikes, by public knowledge alone: who carries is not looked at.

People of one *kind* are alike in everything that is known of them, so that only kinds and their
numbers are handled; a kind can lie on both sides of a cut.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.compiling import search_kernel

Cut = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


@search_kernel
def cut(
    place: NDArray[np.float32],
    people: NDArray[np.int64],
    noise: NDArray[np.float32],
    smallest: int,
) -> Cut:
    """Cuts people into nearly equal cells of at least `smallest`, along the widest feature each
    time. Returns, cell after cell, the cell, kind and number of people of each entry.

    place: kinds x features.
    people: of each kind.
    noise: of each kind; decides where the features do not.
    """
    kinds, total = len(people), people.sum()
    most = kinds + total // smallest + 64
    cell, of_kind, number = (
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
    )
    # Parts that are still to be cut lie one after another; the last one is next.
    kind, count = np.empty(kinds + 64, np.int64), np.empty(kinds + 64, np.int64)
    begin = np.empty(65, np.int64)
    used = 0
    for s in range(kinds):
        if people[s] > 0:
            kind[used], count[used] = s, people[s]
            used += 1
    begin[0], begin[1] = 0, used
    parts, cells, written = 1, 0, 0
    key = np.empty(kinds + 64, np.float32)
    while parts > 0:
        first, last = begin[parts - 1], begin[parts]
        size = count[first:last].sum()
        if size < 2 * smallest:
            for i in range(first, last):
                cell[written], of_kind[written], number[written] = cells, kind[i], count[i]
                written += 1
            cells += 1
            parts -= 1
            continue
        widest = _widest(place, kind[first:last], count[first:last])
        for i in range(first, last):
            key[i - first] = place[kind[i], widest] + noise[kind[i]]
        order = np.argsort(key[: last - first])
        kind[first:last] = kind[first:last][order]
        count[first:last] = count[first:last][order]
        halves = size // smallest
        wanted, middle, before = size * (halves // 2) // halves, first, 0
        while before + count[middle] <= wanted:
            before += count[middle]
            middle += 1
        rest = wanted - before
        if rest > 0:  # the kind at the cut is divided
            kind[middle + 1 : last + 1] = kind[middle:last].copy()
            count[middle + 1 : last + 1] = count[middle:last].copy()
            count[middle], count[middle + 1] = rest, count[middle + 1] - rest
            middle, last = middle + 1, last + 1
        begin[parts], begin[parts + 1] = middle, last
        parts += 1
    return cell[:written].copy(), of_kind[:written].copy(), number[:written].copy()


@search_kernel
def _widest(place: NDArray[np.float32], kind: NDArray[np.int64], count: NDArray[np.int64]) -> int:
    """The feature in which people differ most."""
    widest, most = 0, -1.0
    for k in range(place.shape[1]):
        size, total, square = 0.0, 0.0, 0.0
        for i in range(len(kind)):
            z = place[kind[i], k]
            size += count[i]
            total += count[i] * z
            square += count[i] * z * z
        spread = square - total * total / size
        if spread > most:
            widest, most = k, spread
    return widest
