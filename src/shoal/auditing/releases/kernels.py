"""Exact posteriors of people in overlapping groups: all ways to hand values out, added up.

As in `adversaries/kernels/worlds.py`, but that a value takes a place in every group that a person
is in. A state says how many places of each line (a group and a value) are taken; of each group the
largest line need not be kept.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.compiling import kernel


@kernel
def hand_out_together(
    weights: Floats, sizes: Ints, stride: Ints, radix: Ints, states: int
) -> Floats:
    """p(person of type t has value u), T x U; not a number if no world has weight.

    weights: of each type and value, 0 where a group does not publish it.
    sizes: how many people are of each type.
    stride, radix: T x U x releases: how far apart two states lie that differ by one place of the
    line that the value takes there, and how many numbers of places there are; 0 where it is kept of
    no line.
    """
    T, U = weights.shape
    before, now, spare = np.empty((T, states)), np.zeros(states), np.empty(states)
    now[0] = 1.0
    for t in range(T):
        for copy in range(sizes[t]):
            if copy == sizes[t] - 1:
                before[t] = now
            _multiply(now, spare, weights[t], stride[t], radix[t])
            now, spare = spare, now
    posterior = np.zeros((T, U))
    after = now
    after[:] = 0.0
    after[0] = 1.0
    for t in range(T - 1, -1, -1):
        total = 0.0
        for u in range(U):
            if weights[t, u] > 0.0:
                met = _meet(before[t], after, stride[t, u], radix[t, u])
                posterior[t, u] = weights[t, u] * met
                total += posterior[t, u]
        if not total > 0.0:
            posterior[:] = np.nan
            return posterior
        for u in range(U):
            posterior[t, u] /= total
        for _ in range(sizes[t]):
            _multiply(after, spare, weights[t], stride[t], radix[t])
            after, spare = spare, after
    return posterior


@kernel
def _multiply(old: Floats, new: Floats, weights: Floats, stride: Ints, radix: Ints) -> None:
    """new = old with one more person, who takes a place of each value that is left to them; as
    large as it was at most, so that it does not run dry."""
    new[:] = 0.0
    for u in range(len(weights)):
        if weights[u] > 0.0:
            for i in range(len(old)):
                if old[i] > 0.0:
                    to = _taken(i, stride[u], radix[u])
                    if to >= 0:
                        new[to] += weights[u] * old[i]
    largest = new.max()
    if largest > 0.0:
        new /= largest


@kernel
def _meet(before: Floats, after: Floats, stride: Ints, radix: Ints) -> float:
    """Weight of all ways to complete `before` with one more of a value, and then `after`."""
    total, last = 0.0, len(before) - 1
    for i in range(len(before)):
        if before[i] > 0.0:
            to = _taken(i, stride, radix)
            if to >= 0:
                total += before[i] * after[last - to]
    return total


@kernel
def _taken(state: int, stride: Ints, radix: Ints) -> int:
    """The state with one more place taken in each release, -1 where there is none."""
    to = state
    for k in range(len(stride)):
        if stride[k] > 0:
            if (state // stride[k]) % radix[k] == radix[k] - 1:
                return -1
            to += stride[k]
    return to
