"""People who may be added to a group: what is known of them, and what each would be worth.

Symbols: kinds of people; W columns (a view in the hands of one reader). h is 0 for a group of one
carrier and 1 for one of several; the sums that a group is judged by are explained in fill.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Bools, Ints, Singles
from shoal.compiling import search_part
from shoal.methods.art.kernels.boxes import Boxes
from shoal.methods.art.kernels.links import posteriors
from shoal.methods.art.kernels.weights import Weights

MARGIN = 1e-9
THRIFT = np.float32(0.05)
"""What it costs to use odds that close no deficit, per unit: others will need them."""


class Candidates(NamedTuple):
    """What is known of each kind of people, and how many of them are free."""

    weights: Weights
    """Their odds and limits in W columns."""
    boxes: Boxes
    """Where they are: people who are near one another are alike."""
    free: Ints


class Near(NamedTuple):
    """The kinds that are looked at for one seed: those of its cell, then the nearest."""

    kind: Ints
    free: Ints
    odds: Singles
    """kinds looked at x W."""
    demand: Singles


@search_part
def known_by_class(weights: Weights) -> Singles:
    """classes x 3: odds, the demand for one carrier, and for several, in single precision. They are
    side by side, since whoever reads one of them waits for memory rather than for anything else."""
    known = np.empty((len(weights.odds), 3), np.float32)
    for c in range(len(known)):
        whole = weights.odds[c] * weights.strength[c]
        known[c, 0], known[c, 1] = weights.odds[c], whole
        known[c, 2] = whole - weights.odds[c]
    return known


@search_part
def room_for(kinds: int, weights: Weights) -> Near:
    W = len(weights.through)
    return Near(
        np.empty(kinds, np.int64),
        np.empty(kinds, np.int64),
        np.empty((kinds, W), np.float32),
        np.empty((kinds, W), np.float32),
    )


@search_part
def look_up(
    kind: int, several: int, place: int, people: Candidates, known: Singles, near: Near
) -> None:
    """Writes down what is known of a kind."""
    near.kind[place], near.free[place] = kind, people.free[kind]
    weights, at = people.weights, people.weights.at[kind]
    odds, demand = near.odds[place], near.demand[place]
    for w in range(len(odds)):
        c = weights.first[w] + at[weights.through[w]]
        odds[w], demand[w] = known[c, 0], known[c, 1 + several]


@search_part
def largest_strength(kind: int, weights: Weights) -> float:
    """One over the least limit of a kind."""
    strongest = 0.0
    for w in range(len(weights.through)):
        c = weights.first[w] + weights.at[kind, weights.through[w]]
        strongest = max(strongest, weights.strength[c])
    return strongest


@search_part
def note_difference(kind: int, first: int, weights: Weights, varied: Bools) -> None:
    """Notes the columns in which somebody differs from the first of a group."""
    for w in range(len(varied)):
        one = weights.first[w] + weights.at[kind, weights.through[w]]
        other = weights.first[w] + weights.at[first, weights.through[w]]
        if (
            weights.odds[one] != weights.odds[other]
            or weights.strength[one] != weights.strength[other]
        ):
            varied[w] = True


@search_part
def gain_of(
    odds: Singles, demand: Singles, h: np.float32, total: Singles, top: Singles, target: np.float32
) -> np.float32:
    """What one more person is worth: deficits closed, less the harm of a new maximum, less a part
    of what is used. All by column, as parts of the target; `odds` and `demand` are the person's,
    `total` and `top` the group's."""
    worth, one = np.float32(0.0), np.float32(1.0)
    for w in range(len(total)):
        highest = max(top[w], demand[w])
        mine = odds[w] / (highest + h * odds[w])
        after = total[w] * (top[w] / highest) + mine
        closed = min(after, target) - min(total[w], target)
        worth += closed * (one + THRIFT) - THRIFT * mine
    return worth / target


@search_part
def take_in(
    kind: int,
    h: np.float32,
    odds: Singles,
    demand: Singles,
    members: Ints,
    total: Singles,
    top: Singles,
) -> None:
    """Adds somebody to the sums by column; where the maximum rises, a sum is made anew.

    odds, demand: kinds looked at x W. members: who is in it already. total, top: the group's.
    """
    for w in range(len(total)):
        if demand[kind, w] > top[w]:
            top[w] = demand[kind, w]
            total[w] = np.float32(0.0)
            for s in members:
                total[w] += odds[s, w] / (top[w] + h * odds[s, w])
        total[w] += odds[kind, w] / (top[w] + h * odds[kind, w])


@search_part
def let_go(
    members: Ints,
    seed: int,
    size: int,
    h: np.float32,
    odds: Singles,
    total: Singles,
    top: Singles,
    target: np.float32,
    least: int,
) -> tuple[Ints, int]:
    """The members without those added whom later ones made needless, and how many they are. The
    maxima are left as they were, which is on the safe side.

    odds: kinds looked at x W. total, top: the group's, by column.
    """
    kept, left = np.empty(size, np.int64), 0
    for p in range(size):
        s, spare = members[p], p >= seed and left + size - p > least
        for w in range(len(total)):
            mine = odds[s, w] / (top[w] + h * odds[s, w])
            spare = spare and total[w] - mine >= target
        if spare:
            for w in range(len(total)):
                total[w] -= odds[s, w] / (top[w] + h * odds[s, w])
        else:
            kept[left] = s
            left += 1
    return kept, left


@search_part
def worst_link(members: Ints, carriers: int, near: Near, weights: Weights) -> float:
    """The largest posterior over its limit, with a margin; people who are alike are counted."""
    n, worst = len(members), 0.0
    odds, linked = np.empty(n), np.empty(n)
    varied, first = np.zeros(len(weights.through), np.bool_), near.kind[members[0]]
    for s in members:
        note_difference(near.kind[s], first, weights, varied)
    for w in range(len(varied)):
        begin, view = weights.first[w], weights.through[w]
        if not varied[w]:
            worst = max(worst, carriers / n * weights.strength[begin + weights.at[first, view]])
            continue
        for p in range(n):
            odds[p] = weights.odds[begin + weights.at[near.kind[members[p]], view]]
        posteriors(odds, carriers, linked)
        for p in range(n):
            strength = weights.strength[begin + weights.at[near.kind[members[p]], view]]
            worst = max(worst, linked[p] * strength * (1.0 + MARGIN))
    return worst
