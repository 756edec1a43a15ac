"""Everybody's chance by all counts together, from lists of all worlds: slow and obvious.

A world says who carries the event. It is possible if every group has its cases. Two beliefs about
the possible worlds are told apart:
- *maximum entropy*: every stratum has its cases in expectation;
- *exact*: only worlds in which every stratum has its cases count, each as much as another.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def possible_worlds(groups: Sequence[Sequence[int]], cases: Sequence[int], people: int) -> Floats:
    """worlds x people: 1 for whoever carries. Each group is a list of people."""
    ways = [list(combinations(group, count)) for group, count in zip(groups, cases, strict=True)]
    worlds = []
    for way in product(*ways):
        world = np.zeros(people)
        world[[one for some in way for one in some]] = 1.0
        worlds.append(world)
    return np.array(worlds)


def by_entropy(worlds: Floats, strata: NDArray[np.bool_], known: Floats, ridge: float) -> Floats:
    """The chance of each person: worlds as likely as exp(theta x cases of the strata), theta by
    Newton's method on the list of worlds. `strata` is strata x people."""
    counts = worlds @ strata.T
    theta = np.zeros(len(known))

    def state(at: Floats) -> tuple[float, Floats]:
        score = counts @ at
        share = np.exp(score - score.max())
        value = np.log(share.sum()) + score.max() - known @ at + ridge / 2 * at @ at
        return float(value), share / share.sum()

    for _ in range(500):
        value, share = state(theta)
        mean = share @ counts
        slope = mean - known + ridge * theta
        if np.abs(slope).max() < 1e-11:
            break
        spread = (counts - mean).T @ ((counts - mean) * share[:, None])
        step = np.linalg.solve(spread + ridge * np.eye(len(known)), -slope)
        length = 1.0
        while length > 1e-9 and state(theta + length * step)[0] > value + 1e-4 * length * (
            slope @ step
        ):
            length /= 2
        theta = theta + length * step
    return np.asarray(state(theta)[1] @ worlds)


def by_all_counts(worlds: Floats, strata: NDArray[np.bool_], known: Floats) -> Floats:
    """The chance of each person if every stratum has exactly its cases."""
    agree = (worlds @ strata.T == known).all(axis=1)
    return np.asarray(worlds[agree].mean(axis=0))
