"""Growing A-groups of several values, each checked with its exact joint posterior.

For tables where most rows carry events, so that filler of one value cannot hide them. A group grows
from one tuple by the nearest tuples that bring other events, and is accepted when every posterior
of every event is at most 1/r in every view; a tuple that finds no group may join a finished one.
The exact check here is the search's own: it shares no code with the auditor.

A *cell* is (signature, value) with its free rows. Groups are rows of `members` (cells).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.jit import kernel

MAX_STATES = 4096
TOLERANCE = 1e-12
NEARNESS = 4.0
"""How many times scarcer (in logs) a value may be to be preferred for one step nearer."""


@kernel
def is_safe(
    cells: NDArray[np.int64],
    size: int,
    cell_signature: NDArray[np.int64],
    cell_value: NDArray[np.int64],
    index: NDArray[np.int32],
    first_row: NDArray[np.int64],
    rows: NDArray[np.float64],
    value_event: NDArray[np.int64],
    event_r: NDArray[np.float64],
    order: NDArray[np.int64],
) -> bool:
    """Whether a group is r-robust for every event in every view (False when it cannot be told).

    index: views x signatures; `rows` are all views' distributions, a view's from `first_row[w]`.
    `order` is the order in which views are asked; one that fails a group moves to the front.
    """
    values, counts, kinds = np.empty(size, np.int64), np.zeros(size, np.int64), 0
    for j in range(size):
        v = cell_value[cells[j]]
        known = -1
        for k in range(kinds):
            if values[k] == v:
                known = k
        if known < 0:
            values[kinds], known = v, kinds
            kinds += 1
        counts[known] += 1
    stride, states = np.ones(kinds, np.int64), 1
    for k in range(kinds):
        stride[k] = states
        states *= counts[k] + 1
    # A group of like tuples is judged by counts alone, and no view can be better than that.
    for k in range(kinds):
        event, together = value_event[values[k]], 0
        if event < 0:
            continue
        for other in range(kinds):
            if value_event[values[other]] == event:
                together += counts[other]
        if event_r[event] * together > size:
            return False
    if states > MAX_STATES:
        return False
    weight = np.empty((size, kinds))
    before, after = np.zeros((size + 1, states)), np.zeros((size + 1, states))
    for turn in range(len(order)):
        w = order[turn]
        alike = True
        for j in range(size):
            row = first_row[w] + index[w, cell_signature[cells[j]]]
            for k in range(kinds):
                weight[j, k] = rows[row, values[k]]
                if weight[j, k] != weight[0, k]:
                    alike = False
        if alike:
            continue
        if not _view_is_safe(
            weight, values, counts, stride, states, value_event, event_r, before, after, kinds
        ):
            order[1 : turn + 1] = order[:turn].copy()
            order[0] = w
            return False
    return True


@kernel
def _view_is_safe(
    weight: NDArray[np.float64],
    values: NDArray[np.int64],
    counts: NDArray[np.int64],
    stride: NDArray[np.int64],
    states: int,
    value_event: NDArray[np.int64],
    event_r: NDArray[np.float64],
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    kinds: int,
) -> bool:
    size = len(weight)
    before[0], after[size] = 0.0, 0.0
    before[0, 0], after[size, 0] = 1.0, 1.0
    for j in range(size):
        _add_tuple(weight[j], before[j], before[j + 1], counts, stride, states, kinds)
    for j in range(size - 1, -1, -1):
        _add_tuple(weight[j], after[j + 1], after[j], counts, stride, states, kinds)
    every = before[size, states - 1]
    if not every > 0.0:
        return False
    for j in range(size):
        for k in range(kinds):
            event = value_event[values[k]]
            if event < 0 or (k > 0 and _earlier(values, value_event, k, event)):
                continue
            linked = 0.0
            for other in range(kinds):
                if value_event[values[other]] == event:
                    linked += weight[j, other] * _complete(
                        before[j], after[j + 1], counts[other], stride[other], states
                    )
            if event_r[event] * (linked / every + TOLERANCE) > 1.0:
                return False
    return True


@kernel
def _earlier(values: NDArray[np.int64], value_event: NDArray[np.int64], k: int, event: int) -> bool:
    for earlier in range(k):
        if value_event[values[earlier]] == event:
            return True
    return False


@kernel
def _complete(
    before: NDArray[np.float64], after: NDArray[np.float64], count: int, stride: int, states: int
) -> float:
    """Weight of the ways in which one more value, of this stride, joins the two halves."""
    total = 0.0
    for block in range(0, states, stride * (count + 1)):
        for a in range(block, block + stride * count):
            total += before[a] * after[states - 1 - stride - a]
    return total


@kernel
def _add_tuple(
    weight: NDArray[np.float64],
    old: NDArray[np.float64],
    new: NDArray[np.float64],
    counts: NDArray[np.int64],
    stride: NDArray[np.int64],
    states: int,
    kinds: int,
) -> None:
    for a in range(states):
        new[a] = 0.0
    for k in range(kinds):
        for block in range(0, states, stride[k] * (counts[k] + 1)):
            for a in range(block, block + stride[k] * counts[k]):
                new[a + stride[k]] += weight[k] * old[a]


@kernel
def grow_mixed(
    starts: NDArray[np.int64],
    near: NDArray[np.int32],
    signature_start: NDArray[np.int64],
    cell_signature: NDArray[np.int64],
    cell_value: NDArray[np.int64],
    free: NDArray[np.int64],
    left: NDArray[np.int64],
    index: NDArray[np.int32],
    first_row: NDArray[np.int64],
    rows: NDArray[np.float64],
    value_event: NDArray[np.int64],
    event_r: NDArray[np.float64],
    order: NDArray[np.int64],
    largest: int,
    members: NDArray[np.int64],
    sizes: NDArray[np.int64],
    home: NDArray[np.int64],
    older: NDArray[np.int64],
    made: int,
) -> int:
    """Tries to give each of the tuples `starts` (cells, repeated) a group; the groups made so far.

    `near[s]` are the signatures nearest to s (itself first), cells are sorted by signature, and
    `left` counts the free rows of each value: partners come from plentiful values, near ones first.
    `home[s]` is the last group grown from s and `older[g]` the one before g, or -1.
    """
    group = np.empty(largest + 1, np.int64)
    for start in starts:
        if free[start] <= 0:
            continue
        s = cell_signature[start]
        size = 1
        group[0] = start
        _take(start, cell_value, free, left)
        safe = False
        while size < largest:
            partner = _partner(
                group, size, near[s], signature_start, cell_value, free, left, value_event, event_r
            )
            if partner < 0:
                break
            group[size] = partner
            _take(partner, cell_value, free, left)
            size += 1
            safe = is_safe(
                group,
                size,
                cell_signature,
                cell_value,
                index,
                first_row,
                rows,
                value_event,
                event_r,
                order,
            )
            if safe:
                break
        if safe:
            members[made, :size] = group[:size]
            sizes[made] = size
            older[made], home[s] = home[s], made
            made += 1
        else:
            for j in range(size):
                free[group[j]] += 1
                left[cell_value[group[j]]] += 1
    return made


@kernel
def _take(
    cell: int, cell_value: NDArray[np.int64], free: NDArray[np.int64], left: NDArray[np.int64]
) -> None:
    free[cell] -= 1
    left[cell_value[cell]] -= 1


@kernel
def _partner(
    group: NDArray[np.int64],
    size: int,
    near: NDArray[np.int32],
    signature_start: NDArray[np.int64],
    cell_value: NDArray[np.int64],
    free: NDArray[np.int64],
    left: NDArray[np.int64],
    value_event: NDArray[np.int64],
    event_r: NDArray[np.float64],
) -> int:
    """The best free cell: from a plentiful value, from a near signature, bringing a new event."""
    best, best_score = -1, -np.inf
    for rank in range(len(near)):
        s = near[rank]
        if s < 0:
            break
        for cell in range(signature_start[s], signature_start[s + 1]):
            if free[cell] <= 0:
                continue
            event, clash = value_event[cell_value[cell]], False
            if event >= 0:
                for j in range(size):
                    if value_event[cell_value[group[j]]] == event:
                        clash = True
                        break
            if clash:
                continue
            score = np.log(left[cell_value[cell]] + 1.0) - NEARNESS * rank
            if score > best_score:
                best, best_score = cell, score
    return best


@kernel
def join_groups(
    starts: NDArray[np.int64],
    near: NDArray[np.int32],
    cell_signature: NDArray[np.int64],
    cell_value: NDArray[np.int64],
    free: NDArray[np.int64],
    left: NDArray[np.int64],
    index: NDArray[np.int32],
    first_row: NDArray[np.int64],
    rows: NDArray[np.float64],
    value_event: NDArray[np.int64],
    event_r: NDArray[np.float64],
    order: NDArray[np.int64],
    members: NDArray[np.int64],
    sizes: NDArray[np.int64],
    home: NDArray[np.int64],
    older: NDArray[np.int64],
) -> None:
    """Lets tuples that found no group join one grown nearby, where it stays safe with them."""
    trial = np.empty(members.shape[1], np.int64)
    for start in starts:
        if free[start] <= 0:
            continue
        placed = False
        for s in near[cell_signature[start]]:
            if s < 0 or placed:
                break
            g = home[s]
            while g >= 0 and not placed:
                size = sizes[g]
                trial[:size] = members[g, :size]
                trial[min(size, len(trial) - 1)] = start
                if size < len(trial) and is_safe(
                    trial,
                    size + 1,
                    cell_signature,
                    cell_value,
                    index,
                    first_row,
                    rows,
                    value_event,
                    event_r,
                    order,
                ):
                    members[g, size] = start
                    sizes[g] += 1
                    _take(start, cell_value, free, left)
                    placed = True
                g = older[g]
