"""Cutting people into cells of lookalikes, by public knowledge alone: who carries is not looked at.

People of one *kind* are alike in everything that is known of them, so that only kinds and their
numbers are handled; a kind can lie on both sides of a cut.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Ints, Singles
from shoal.compiling import search_kernel
from shoal.methods.art.kernels.growing import widened
from shoal.methods.art.kernels.nearest import nearest_first

PARTS = 64
"""Parts that wait while one is cut: as many as people can be halved."""
Cut = tuple[Ints, Ints, Ints, Ints]


@search_kernel
def cut(place: Singles, people: Ints, noise: Singles, smallest: int) -> Cut:
    """Cuts people into nearly equal cells of at least `smallest`, along the widest feature each
    time. Returns, cell after cell, the cell, kind and number of people of each entry, and how many
    cells it stands for: people of one kind alone are cut into cells that are alike, which are
    numbered as one.

    place: kinds x features.
    people: of each kind.
    noise: of each kind; decides where the features do not.
    """
    kinds = len(people)
    # Parts that are still to be cut lie one after another; the last one is next.
    kind, count = np.empty(kinds + PARTS, np.int64), np.empty(kinds + PARTS, np.int64)
    begin, used = np.empty(PARTS + 1, np.int64), 0
    for s in range(kinds):
        if people[s] > 0:
            kind[used], count[used] = s, people[s]
            used += 1
    answer = np.empty((4, 2 * kinds + PARTS), np.int64)
    begin[0], begin[1] = 0, used
    parts, cells, written = 1, 0, 0
    key, order = np.empty(kinds + PARTS, np.float32), np.empty(kinds + PARTS, np.int64)
    moved = np.empty((2, kinds + PARTS), np.int64)
    while parts > 0:
        first, last, size = begin[parts - 1], begin[parts], 0
        for i in range(first, last):
            size += count[i]
        if written + last - first + 2 > answer.shape[1]:
            answer = widened(answer, last - first + 2)
        if size < 2 * smallest:
            for i in range(first, last):
                _write(answer, written, cells, kind[i], count[i], 1)
                written += 1
            cells += 1
            parts -= 1
            continue
        if last - first == 1:  # as halving would cut them: of two sizes at most
            times = size // smallest
            larger = size - size // times * times
            _write(answer, written, cells, kind[first], size // times, times - larger)
            written, cells = written + 1, cells + 1
            if larger > 0:
                _write(answer, written, cells, kind[first], size // times + 1, larger)
                written, cells = written + 1, cells + 1
            parts -= 1
            continue
        widest = _widest(place, kind[first:last], count[first:last])
        for i in range(first, last):
            key[i - first], order[i - first] = place[kind[i], widest] + noise[kind[i]], i
        nearest_first(key[: last - first], order[: last - first])
        for i in range(last - first):
            moved[0, i], moved[1, i] = kind[order[i]], count[order[i]]
        halves = size // smallest
        wanted, at, middle = size * (halves // 2) // halves, first, -1
        for i in range(last - first):
            if middle < 0 and 0 < wanted < moved[1, i]:  # the kind at the cut is divided
                kind[at], count[at] = moved[0, i], wanted
                moved[1, i] -= wanted
                wanted, at = 0, at + 1
            if middle < 0 and wanted == 0:
                middle = at
            kind[at], count[at] = moved[0, i], moved[1, i]
            wanted -= moved[1, i]
            at += 1
        begin[parts], begin[parts + 1] = middle, at
        parts += 1
    return answer[0, :written], answer[1, :written], answer[2, :written], answer[3, :written]


@search_kernel
def _write(answer: Ints, at: int, cell: int, kind: int, number: int, times: int) -> None:
    answer[0, at], answer[1, at], answer[2, at], answer[3, at] = cell, kind, number, times


@search_kernel
def _widest(place: Singles, kind: Ints, count: Ints) -> int:
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
