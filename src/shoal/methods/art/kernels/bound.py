"""The paper's merging step: add the closest single tuple until Theorem 1 holds in every view."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Bools, Floats, Ints
from shoal.compiling import kernel


@kernel
def merge_closest(
    start: int,
    chance: Floats,
    cell_signature: Ints,
    cell_event: Ints,
    free: Ints,
    event_r: Floats,
    largest: int,
    chosen: Ints,
) -> int:
    """Grows the group of one carrier (cell `start`) in `chosen`; its size, or -1.

    chance: signatures x events x views.
    cell_signature, cell_event, free: of each cell, its signature, its event (or -1), the rows left.
    event_r: each event's r.

    The closest tuple is the one whose joining increases the sum over views (and over the events in
    the group) of delta = f_max - f_min least; ties go to the earliest cell. A tuple that would make
    Theorem 1 unreachable at any size is passed over.
    """
    W = chance.shape[2]
    E = len(event_r)
    low, high = np.empty((E, W)), np.empty((E, W))
    holds = np.zeros(E, np.bool_)
    chosen[0] = start
    holds[cell_event[start]] = True
    low[:], high[:] = chance[cell_signature[start]], chance[cell_signature[start]]
    used = np.zeros(len(free), np.int64)
    used[start] = 1
    size = 1
    while True:
        needed = 1.0
        for e in range(E):
            if holds[e]:
                for w in range(W):
                    needed = max(needed, _minimum(low[e, w], high[e, w], event_r[e]))
        if size >= needed - 1e-9:
            return size
        if size > largest:
            return -1
        best, least = -1, np.inf
        for c in range(len(free)):
            if used[c] >= free[c] or (cell_event[c] >= 0 and holds[cell_event[c]]):
                continue
            increase = _increase(chance[cell_signature[c]], cell_event[c], holds, low, high, least)
            if increase < least:
                best, least = c, increase
        if best < 0:
            return -1
        used[best] += 1
        chosen[size] = best
        size += 1
        if cell_event[best] >= 0:
            holds[cell_event[best]] = True
        for e in range(E):
            for w in range(W):
                f = chance[cell_signature[best], e, w]
                low[e, w], high[e, w] = min(low[e, w], f), max(high[e, w], f)


@kernel
def _increase(
    chance: Floats, event: int, holds: Bools, low: Floats, high: Floats, least: float
) -> float:
    """By how much a tuple with these chances and this event adds to the sum of deltas; without end
    where the theorem could not be met, or once it is no less than the `least` so far."""
    increase = 0.0
    for e in range(len(holds)):
        if not holds[e] and e != event:
            continue
        for w in range(chance.shape[1]):
            f = chance[e, w]
            bottom, top = min(low[e, w], f), max(high[e, w], f)
            if bottom != top and (bottom <= 0.0 or top >= 1.0):
                return np.inf
            increase += (top - bottom) - (high[e, w] - low[e, w] if holds[e] else 0.0)
        if increase >= least:
            return np.inf
    return increase


@kernel
def _minimum(low: float, high: float, r: float) -> float:
    """N_o = 1 + (r-1) o_max/o_min, and r where all are alike."""
    if low == high:
        return r
    if low <= 0.0 or high >= 1.0:
        return np.inf
    return 1.0 + (r - 1.0) * high * (1.0 - low) / (low * (1.0 - high))
