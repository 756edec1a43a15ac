"""Replacing sensitive values in classes until an event is as rare as wanted (MASK).

Symbols: N rows of a class g, V published values; e the event to thin out, f another one; m: an
event may have at most N/m rows of a class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Bools, Floats, IntArray, Ints
from shoal.compiling import kernel

SLACK = 1.0 + 1e-12
"""Forgives the rounding of a share that lies exactly at 1/m."""


class Orders(NamedTuple):
    """What to thin out: for each (class, event), by class, how many rows may keep the event."""

    group: Ints
    event: Ints
    keep: Ints


class Values(NamedTuple):
    """The published values: the event of each (-1: none) and its rows in the table; m by event."""

    event: IntArray
    rows: Ints
    m: Floats


@kernel
def distort(
    value: IntArray, rows: Ints, start: Ints, orders: Orders, values: Values, draws: Floats
) -> None:
    """Changes `value` in place, one draw for each change; a row for which nothing fits stays.

    Class g holds `rows[start[g]:start[g+1]]`, in random order. A replacement is a value without
    event; if the table has none, a value of another event that the class has room for.
    """
    drawn, first = 0, 0
    while first < len(orders.group):
        g = orders.group[first]
        end = first
        while end < len(orders.group) and orders.group[end] == g:
            end += 1
        members = rows[start[g] : start[g + 1]]
        own = np.zeros(len(values.event), np.int64)
        held = np.zeros(len(values.m) + 1, np.int64)  # the last place counts rows without event
        for row in members:
            own[value[row]] += 1
            held[values.event[value[row]]] += 1
        closed = np.zeros(len(held), np.bool_)
        closed[orders.event[first:end]] = True
        for i in range(first, end):
            e = orders.event[i]
            for row in members:
                if held[e] <= orders.keep[i]:
                    break
                if values.event[value[row]] != e:
                    continue
                fits = _fitting(values, held, closed, len(members))
                chosen = _pick(own, fits, draws[drawn])
                if chosen < 0:
                    chosen = _pick(values.rows, fits, draws[drawn])
                if chosen < 0:
                    break
                drawn += 1
                value[row] = chosen
                held[e] -= 1
                held[values.event[chosen]] += 1
        first = end


@kernel
def _fitting(values: Values, held: Ints, closed: Bools, N: int) -> Bools:
    """Which values may be put into the class."""
    fits: Bools = values.event < 0
    if fits.any():
        return fits
    for v in range(len(fits)):
        f = values.event[v]
        fits[v] = not closed[f] and (held[f] + 1) * values.m[f] <= N * SLACK
    return fits


@kernel
def _pick(weights: Ints, fits: Bools, draw: float) -> int:
    """A value that fits, in proportion to its weight; -1 if there is none."""
    total = 0
    for v in range(len(weights)):
        if fits[v]:
            total += weights[v]
    if total == 0:
        return -1
    place = min(int(draw * total), total - 1)
    for v in range(len(weights)):
        if fits[v]:
            if place < weights[v]:
                return v
            place -= weights[v]
    return -1
