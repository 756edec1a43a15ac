"""The exact check of a group of several events: every joint posterior, in every view.

For tables where most rows carry events, so that filler of one value cannot hide them. A group is
safe when every posterior of every event is at most 1/r in every view. The check here is the
search's own: it shares no code with the auditor.

The total weight of the worlds is the coefficient of prod_v y_v^{c_v} in the product of the tuples'
linear forms sum_v G_j(v) y_v. Multiplying them one by one walks over the vectors of values handed
out so far (*states*); how often the commonest value was handed out follows from the rest, so it is
no part of the state. The products before and after a tuple give its posteriors.

A *cell* is (signature, value) with its free rows; a group is a list of cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.compiling import kernel

TOLERANCE = 1e-12


class Known(NamedTuple):
    """What the adversary knows, and what is protected, as the kernels read it."""

    signature: NDArray[np.int64]
    """The signature of each cell."""
    value: NDArray[np.int64]
    """The published value of each cell."""
    at: NDArray[np.int32]
    """signatures x views: where in `rows` the view's distribution for the signature stands."""
    rows: NDArray[np.float64]
    """Distributions over the published values, of all views."""
    event: NDArray[np.int64]
    """The event of each value, or -1."""
    r: NDArray[np.float64]
    """The r of each event."""
    most_states: int
    """Groups that would take more are given up: there are always smaller ones to try."""


@kernel
def excess(
    cells: NDArray[np.int64], size: int, known: Known, order: NDArray[np.int64], limit: float
) -> float:
    """How far a group is from being safe: the sum over views of max(0, r * worst posterior - 1).

    0 exactly when the group is safe, infinite when the sum reaches `limit` or cannot be told.
    `order` is the order in which views are asked; one that exceeds the limit moves to the front.
    """
    values, counts, kinds = _tally(cells, size, known)
    by_counts = _over_by_counts(values, counts, kinds, size, known)
    W = known.at.shape[1]
    stride, states = np.zeros(kinds, np.int64), 1
    for k in range(1, kinds):
        stride[k] = states
        states *= counts[k] + 1
    # No view can be better than one in which all tuples are alike.
    if by_counts * W >= limit or states > known.most_states:
        return np.inf
    weight = np.empty((size, kinds))
    before, after = np.empty((size + 1, states)), np.empty((2, states))
    total = 0.0
    for turn in range(W):
        w = order[turn]
        alike = True
        for j in range(size):
            row = known.at[known.signature[cells[j]], w]
            for k in range(kinds):
                weight[j, k] = known.rows[row, values[k]]
                if weight[j, k] != weight[0, k]:
                    alike = False
        if alike:
            over = by_counts if _have_all(weight[0]) else np.inf
        else:
            over = _worst(weight, values, counts, stride, known, before, after) - 1.0
        if over > 0.0:
            total += over
            if total >= limit:
                order[1 : turn + 1] = order[:turn].copy()
                order[0] = w
                return np.inf
    return total


@kernel
def is_safe(cells: NDArray[np.int64], size: int, known: Known, order: NDArray[np.int64]) -> bool:
    """Whether a group is r-robust for every event in every view (False when it cannot be told)."""
    return excess(cells, size, known, order, np.inf) == 0.0


@kernel
def _tally(
    cells: NDArray[np.int64], size: int, known: Known
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """The values of a group and how often each occurs, the commonest first."""
    values, counts, kinds = np.empty(size, np.int64), np.zeros(size, np.int64), 0
    for j in range(size):
        v, k = known.value[cells[j]], 0
        while k < kinds and values[k] != v:
            k += 1
        if k == kinds:
            values[k] = v
            kinds += 1
        counts[k] += 1
    most = 0
    for k in range(kinds):
        if counts[k] > counts[most]:
            most = k
    values[0], values[most] = values[most], values[0]
    counts[0], counts[most] = counts[most], counts[0]
    return values[:kinds], counts[:kinds], kinds


@kernel
def _over_by_counts(
    values: NDArray[np.int64], counts: NDArray[np.int64], kinds: int, size: int, known: Known
) -> float:
    """max(0, r c - N) / N over the events: what a group of like tuples is over, in whole numbers
    for whole r, so that 1/r itself is allowed."""
    over = 0.0
    for k in range(kinds):
        event, together = known.event[values[k]], 0
        if event < 0:
            continue
        for other in range(kinds):
            if known.event[values[other]] == event:
                together += counts[other]
        over = max(over, (known.r[event] * together - size) / size)
    return over


@kernel
def _have_all(weight: NDArray[np.float64]) -> bool:
    for one in weight:
        if not one > 0.0:
            return False
    return True


@kernel
def _worst(
    weight: NDArray[np.float64],
    values: NDArray[np.int64],
    counts: NDArray[np.int64],
    stride: NDArray[np.int64],
    known: Known,
    before: NDArray[np.float64],
    after: NDArray[np.float64],
) -> float:
    """The largest r * posterior of one view, rounded up by the tolerance.

    weight: members x values of the group; values, counts, stride: its values, how often it has
    each, and how far apart two states lie that differ by one of it.
    before: scratch, (members + 1) x states: the weight of each state after the first members;
    after: scratch of two rows, the same from the last.
    """
    size, kinds, states = len(weight), len(values), before.shape[1]
    before[0] = 0.0
    before[0, 0] = 1.0
    for j in range(size):
        _add_tuple(weight[j], before[j], before[j + 1], counts, stride)
    every = before[size, states - 1]
    if not every > 0.0:
        return np.inf
    now, spare = after[0], after[1]
    now[:] = 0.0
    now[0] = 1.0
    worst = 0.0
    linked = np.empty(kinds)
    for j in range(size - 1, -1, -1):
        for k in range(kinds):
            linked[k] = weight[j, k] * _complete(before[j], now, counts[k], stride[k]) / every
        for k in range(kinds):
            event, together = known.event[values[k]], 0.0
            if event < 0:
                continue
            for other in range(kinds):
                if known.event[values[other]] == event:
                    together += linked[other]
            worst = max(worst, known.r[event] * (together + TOLERANCE))
        _add_tuple(weight[j], now, spare, counts, stride)
        now, spare = spare, now
    return worst


@kernel
def _add_tuple(
    form: NDArray[np.float64],
    old: NDArray[np.float64],
    new: NDArray[np.float64],
    counts: NDArray[np.int64],
    stride: NDArray[np.int64],
) -> None:
    """new = old times one tuple's linear form (its weight of each value).

    old, new: the weight of each state; counts, stride: as in `_worst`.
    """
    states = len(old)
    for a in range(states):
        new[a] = form[0] * old[a]
    for k in range(1, len(counts)):
        length = stride[k] * counts[k]
        for block in range(0, states, length + stride[k]):
            for a in range(block, block + length):
                new[a + stride[k]] += form[k] * old[a]


@kernel
def _complete(
    before: NDArray[np.float64], after: NDArray[np.float64], count: int, stride: int
) -> float:
    """Weight of the ways in which one more value, of this stride, joins the two halves."""
    states, total = len(before), 0.0
    if stride == 0:
        for a in range(states):
            total += before[a] * after[states - 1 - a]
        return total
    length = stride * count
    for block in range(0, states, length + stride):
        for a in range(block, block + length):
            total += before[a] * after[states - 1 - stride - a]
    return total
