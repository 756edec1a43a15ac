"""Making groups of several events: of like tuples first, then of tuples that are nearly alike.

Tuples of one *class* have the same distributions in every view. A group of one class has the
posterior c/N for a value with c copies, in every view: ceil(r) different events are enough, and no
smaller group can be safe. Classes are packed first, therefore.

Other groups are grown. Two tuples i and j that swap their values turn the true world into one with
    q_ij = G_i(y) G_j(x) / (G_i(x) G_j(y))
times its weight. As long as longer exchanges are left out, tuple j keeps its own value with
probability 1 / (1 + sum_i q_ij), so it *needs* sum_i q_ij >= r - 1 in every view. A group grows by
tuples that leave the least need among all its members, and each step is judged by the exact
posteriors of the few most promising ones (kernels/mixed.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Ints, Singles
from shoal.compiling import kernel, part, search_kernel
from shoal.methods.art.kernels.mixed import Known, excess

NOTHING = np.float32(0.0)
NEVER = np.float32(np.inf)


class MixedGroups(NamedTuple):
    """The groups made so far, and the rows that are still free; changed in place."""

    free: Ints
    """The free rows of each cell."""
    members: Ints
    """One row of cells per group."""
    sizes: Ints
    """How many of them count; 0 for a group that became part of another."""


class Places(NamedTuple):
    """Where signatures lie: near ones have nearly the same distributions in all views."""

    place: Singles
    """One point per signature."""
    cell_start: Ints
    """The first cell of each signature, and the number of cells."""


class Hidden(NamedTuple):
    """How far members of a growing group and candidates hide one another, in each view."""

    q: Singles
    """q[j, i]: of member j and candidate i."""
    need: Singles
    """need[j]: what member j still needs."""
    total: Singles
    """total[i]: the sum of candidate i's over members."""
    lack: Singles
    """lack[i]: what all members together need once candidate i is among them."""


@kernel
def pack_alike(
    event: int,
    class_start: Ints,
    class_cells: Ints,
    known: Known,
    groups: MixedGroups,
    made: int,
    left: Ints,
) -> int:
    """Groups free carriers of an event with tuples of their own class; the groups made so far.

    The commonest values of the class go first, which leaves the fewest rows over. `left` are the
    free rows of each value in the table: among equals rare values are spared, since a group of
    tuples that are not quite alike needs more different ones.
    """
    group = np.empty(groups.members.shape[1], np.int64)
    for c in range(len(class_start) - 1):
        cells = class_cells[class_start[c] : class_start[c + 1]]
        while True:
            size = _take_alike(event, cells, known, groups.free, left, group)
            if size == 0:
                break
            groups.members[made, :size] = group[:size]
            groups.sizes[made] = size
            made += 1
    return made


@kernel
def _take_alike(event: int, cells: Ints, known: Known, free: Ints, left: Ints, group: Ints) -> int:
    """The size of the smallest group of one class around a carrier, its rows taken; or 0."""
    size, wanted = 0, np.ceil(known.r[event])
    while size < wanted:
        best = -1
        for cell in cells:
            e = known.event[known.value[cell]]
            if free[cell] <= 0 or (size == 0) != (e == event):
                continue
            if e >= 0 and count_event(e, group, size, known) > 0:
                continue
            if best < 0 or _is_commoner(cell, best, known, free, left):
                best = cell
        if best < 0 or size == len(group):
            for j in range(size):
                free[group[j]] += 1
            return 0
        group[size] = best
        free[best] -= 1
        size += 1
        e = known.event[known.value[best]]
        if e >= 0:
            wanted = max(wanted, np.ceil(known.r[e]))
    return size


@kernel
def _is_commoner(cell: int, other: int, known: Known, free: Ints, left: Ints) -> bool:
    """Whether a cell has more free rows than another, or as many and of a commoner value."""
    if free[cell] != free[other]:
        return bool(free[cell] > free[other])
    return bool(left[known.value[cell]] > left[known.value[other]])


@part
def count_event(event: int, cells: Ints, size: int, known: Known) -> int:
    """How many of the first `size` cells carry the event."""
    count = 0
    for j in range(size):
        if known.event[known.value[cells[j]]] == event:
            count += 1
    return count


@search_kernel
def nearest(place: Singles, s: int, length: int) -> Ints:
    """The `length` signatures nearest to s, itself among them, nearest first."""
    distance = np.empty(len(place), np.float32)
    for u in range(len(place)):
        total = NOTHING
        for d in range(place.shape[1]):
            total += (place[u, d] - place[s, d]) ** 2
        distance[u] = total
    if len(distance) <= length:
        return np.argsort(distance, kind="mergesort")
    limit = np.partition(distance, length - 1)[length - 1]
    kept = np.flatnonzero(distance <= limit)[:length]
    return kept[np.argsort(distance[kept], kind="mergesort")]


@search_kernel
def add_swaps(cell: int, other: int, known: Known, total: Singles) -> None:
    """Adds q of two cells in every view to `total`; nothing where a swap hides no event."""
    x, y = known.value[cell], known.value[other]
    e = known.event[x]
    if x == y or (e >= 0 and e == known.event[y]):
        return
    s, u = known.signature[cell], known.signature[other]
    for w in range(known.at.shape[1]):
        mine, theirs = known.at[s, w], known.at[u, w]
        truth = known.rows[mine, x] * known.rows[theirs, y]
        if truth > 0.0:
            total[w] += np.float32(known.rows[mine, y] * known.rows[theirs, x] / truth)


@kernel
def grow(
    starts: Ints,
    known: Known,
    places: Places,
    groups: MixedGroups,
    made: int,
    near_count: int,
    most: int,
    largest: int,
    tries: int,
) -> int:
    """Grows a group around each free row of the cells `starts`; the groups made so far.

    Partners are free cells (at most `most`) of the `near_count` nearest signatures; every step
    judges the `tries` most promising ones exactly.
    """
    W = known.at.shape[1]
    group = np.empty(largest, np.int64)
    candidates = np.empty(most, np.int64)
    q, need = np.empty((largest, most, W), np.float32), np.empty((largest, W), np.float32)
    total, lack = np.empty((most, W), np.float32), np.empty(most, np.float32)
    near, near_to = np.empty(0, np.int64), -1
    for start in starts:
        if groups.free[start] > 0 and near_to != known.signature[start]:
            near_to = known.signature[start]
            near = nearest(places.place, near_to, near_count)
        while groups.free[start] > 0:
            n = _candidates(start, near, known, places, groups.free, candidates)
            swaps = Hidden(q[:, :n], need, total[:n], lack[:n])
            size = _grow_one(start, candidates[:n], known, groups.free, tries, group, swaps)
            if size == 0:
                break
            groups.members[made, :size] = group[:size]
            groups.sizes[made] = size
            made += 1
    return made


@kernel
def _candidates(
    start: int, near: Ints, known: Known, places: Places, free: Ints, found: Ints
) -> int:
    event, n = known.event[known.value[start]], 0
    for s in near:
        for cell in range(places.cell_start[s], places.cell_start[s + 1]):
            if n < len(found) and free[cell] > 0 and known.event[known.value[cell]] != event:
                found[n] = cell
                n += 1
    return n


@kernel
def _grow_one(
    start: int, candidates: Ints, known: Known, free: Ints, tries: int, group: Ints, swaps: Hidden
) -> int:
    """The size of a safe group, its rows taken; or 0 and nothing taken.

    candidates: the cells that may join. free: the rows left of every cell. group: written, the
    cells of the members.
    """
    q, need, total, lack = swaps
    size, added, over = 0, start, np.inf
    need[0] = own_need(start, known)
    total[:] = NOTHING
    while True:
        group[size] = added
        free[added] -= 1
        size += 1
        if over == 0.0:
            return size
        if size == len(group):
            break
        for i in range(len(candidates)):
            q[size - 1, i] = NOTHING
            add_swaps(added, candidates[i], known, q[size - 1, i])
            total[i] += q[size - 1, i]
        for i in range(len(candidates)):
            lack[i] = NEVER
            if _may_join(candidates[i], group, size, known, free):
                lack[i] = _lack(i, own_need(candidates[i], known), size, swaps)
        best, over = _best_candidate(candidates, lack, group, size, known, tries, over)
        if best < 0:
            break
        added = candidates[best]
        for j in range(size):
            need[j] = np.maximum(NOTHING, need[j] - q[j, best])
        need[size] = np.maximum(NOTHING, own_need(added, known) - total[best])
    for j in range(size):
        free[group[j]] += 1
    return 0


@part
def own_need(cell: int, known: Known) -> np.float32:
    """The swaps that a cell's row needs: r - 1, or none without an event."""
    event = known.event[known.value[cell]]
    return np.float32(known.r[event] - 1.0) if event >= 0 else NOTHING


@kernel
def _may_join(cell: int, group: Ints, size: int, known: Known, free: Ints) -> bool:
    """Whether the cell has a free row, and its event is new or rare enough in the group."""
    if free[cell] <= 0:
        return False
    event = known.event[known.value[cell]]
    if event < 0:
        return True
    count = count_event(event, group, size, known)
    return count == 0 or known.r[event] * (count + 1) <= size + 1


@search_kernel
def _lack(i: int, own: np.float32, size: int, swaps: Hidden) -> np.float32:
    """What all members and candidate i would still need, over all views."""
    lack, (q, need, total, _) = NOTHING, swaps
    for w in range(total.shape[1]):
        lack += max(NOTHING, own - total[i, w])
    for j in range(size):
        for w in range(total.shape[1]):
            lack += max(NOTHING, need[j, w] - q[j, i, w])
    return lack


@kernel
def _best_candidate(
    candidates: Ints, lack: Singles, group: Ints, size: int, known: Known, tries: int, least: float
) -> tuple[int, float]:
    """Of the candidates with the least lack, the one with the least excess, and that excess; -1 if
    it is `least` or more for all of them."""
    best = -1
    for _ in range(min(tries, len(lack))):
        i = int(np.argmin(lack))
        if lack[i] == NEVER:
            break
        lack[i] = NEVER
        group[size] = candidates[i]
        over = excess(group, size + 1, known, least)
        if over < least:
            best, least = i, over
        if over == 0.0:
            break
    return best, least
