"""The exact check of a group of several events: every posterior of its readers, in every view.

For tables where most rows carry events, so that filler of one value cannot hide them. A group is
safe when every posterior of every event is within its limit in every view. The check here is the
search's own: it shares no code with the auditor.

The total weight of the worlds is the coefficient of prod_v y_v^{c_v} in the product of the tuples'
linear forms sum_v G_j(v) y_v. Multiplying them one by one walks over the vectors of values handed
out so far (*states*); how often the commonest value was handed out follows from the rest, so it is
no part of the state. The products before and after a tuple give its posteriors. Whoever tells only
one event from the rest needs no more than kernels/links.py has.

A *cell* is (signature, value) with its free rows; a group is a list of cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Floats, IntArray, Ints
from shoal.compiling import kernel
from shoal.methods.art.kernels.links import posteriors

TOLERANCE = 1e-12


class Known(NamedTuple):
    """What the adversary knows, and what is protected, as the kernels read it."""

    signature: Ints
    """The signature of each cell."""
    value: Ints
    """The published value of each cell."""
    at: IntArray
    """signatures x views: where in `rows` the view's distribution for the signature stands."""
    rows: Floats
    """Distributions over the published values, of all views."""
    event: Ints
    """The event of each value, or -1."""
    chances: Floats
    """The same rows added up by event."""
    r: Floats
    """The r of each event."""
    joint: bool
    """Whether somebody weighs every value."""
    binary: bool
    """Whether somebody tells one event from the rest."""
    prior: bool
    """Whether a link may be as strong as it was in the view beforehand, where that is above 1/r."""
    most_states: int
    """Groups that would take more are given up: there are always smaller ones to try."""
    order: Ints
    """In which order views are asked; changed in place: one that exceeds a limit moves to the
    front."""


@kernel
def excess(cells: Ints, size: int, known: Known, limit: float) -> float:
    """How far a group is from being safe: the sum over views of max(0, worst link - 1), a link
    being a posterior over its limit.

    0 exactly when the group is safe, infinite when the sum reaches `limit` or cannot be told."""
    values, counts = _tally(cells, size, known)
    by_counts = _over_by_counts(values, counts, size, known, np.empty(0, np.int64))
    W, kinds, order = known.at.shape[1], len(values), known.order
    stride, states = np.zeros(kinds, np.int64), 1
    for k in range(1, kinds):
        stride[k] = states
        states *= counts[k] + 1
    # No view can be better than one in which all tuples are alike, if all have one limit.
    if (not known.prior and by_counts * W >= limit) or states > known.most_states:
        return np.inf
    weight, at = np.empty((size, kinds)), np.empty(size, np.int64)
    before, after = np.empty((size + 1, states)), np.empty((2, states))
    total = 0.0
    for turn in range(W):
        w = order[turn]
        alike = True
        for j in range(size):
            at[j] = known.at[known.signature[cells[j]], w]
            for k in range(kinds):
                weight[j, k] = known.rows[at[j], values[k]]
                if weight[j, k] != weight[0, k]:
                    alike = False
        over = 0.0
        if known.joint and alike:
            over = np.inf
            if _have_all(weight[0]):
                over = _over_by_counts(values, counts, size, known, at)
        elif known.joint:
            over = _worst(weight, at, values, counts, stride, known, before, after) - 1.0
        if known.binary:
            over = max(over, _over_for_binary(values, counts, at, known))
        if over > 0.0:
            total += over
            if total >= limit:
                for k in range(turn, 0, -1):
                    order[k] = order[k - 1]
                order[0] = w
                return np.inf
    return total


@kernel
def _tally(cells: Ints, size: int, known: Known) -> tuple[Ints, Ints]:
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
    return values[:kinds], counts[:kinds]


@kernel
def _strength(row: int, event: int, known: Known) -> float:
    """One over the limit of people with that row."""
    chance = known.chances[row, event]
    r = float(known.r[event])
    return float(1.0 / chance) if known.prior and r * chance > 1.0 else r


@kernel
def _together(event: int, values: Ints, counts: Ints, known: Known) -> int:
    """How many members of a group carry an event, by its values and their counts."""
    together = 0
    for k in range(len(values)):
        if known.event[values[k]] == event:
            together += counts[k]
    return together


@kernel
def _over_by_counts(values: Ints, counts: Ints, size: int, known: Known, at: Ints) -> float:
    """max(0, r c / N - 1) over the events: what a group of like tuples is over, by their numbers.
    A quotient times one over itself is never above 1, so that the limit itself is allowed.

    values, counts: those of the group. at: its members' rows in a view, for their own limits.
    """
    over = 0.0
    for value in values:
        event = known.event[value]
        if event < 0:
            continue
        strength = known.r[event]
        if len(at) > 0:
            strength = 0.0
            for row in at:
                strength = max(strength, _strength(row, event, known))
        together = _together(event, values, counts, known)
        over = max(over, together / size * strength - 1.0)
    return over


@kernel
def _over_for_binary(values: Ints, counts: Ints, at: Ints, known: Known) -> float:
    """max(0, worst link - 1) in one view for whoever tells one event from the rest.

    values, counts: those of the group. at: its members' rows in the view.
    """
    size, worst = len(at), 0.0
    odds, linked = np.empty(size), np.empty(size)
    for value in values:
        event = known.event[value]
        if event < 0:
            continue
        together = _together(event, values, counts, known)
        alike = True
        for j in range(size):
            chance = known.chances[at[j], event]
            if chance >= 1.0:
                return np.inf
            odds[j] = chance / (1.0 - chance)
            alike = alike and chance == known.chances[at[0], event]
        posteriors(odds, together, linked)
        for j in range(size):
            strength = _strength(at[j], event, known)
            if alike:
                worst = max(worst, together / size * strength)
            else:
                worst = max(worst, strength * (linked[j] + TOLERANCE))
    return max(0.0, worst - 1.0)


@kernel
def _have_all(weight: Floats) -> bool:
    for one in weight:
        if not one > 0.0:
            return False
    return True


@kernel
def _worst(
    weight: Floats,
    at: Ints,
    values: Ints,
    counts: Ints,
    stride: Ints,
    known: Known,
    before: Floats,
    after: Floats,
) -> float:
    """The largest posterior over its limit of one view, rounded up by the tolerance.

    weight: members x values of the group; at: the members' rows.
    values, counts, stride: the group's values, how often it has each, and how far apart two states
    lie that differ by one of it.
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
            worst = max(worst, _strength(at[j], event, known) * (together + TOLERANCE))
        _add_tuple(weight[j], now, spare, counts, stride)
        now, spare = spare, now
    return worst


@kernel
def _add_tuple(form: Floats, old: Floats, new: Floats, counts: Ints, stride: Ints) -> None:
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
def _complete(before: Floats, after: Floats, count: int, stride: int) -> float:
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
