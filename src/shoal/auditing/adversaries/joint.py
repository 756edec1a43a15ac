"""The joint adversary: equations 1 to 3 of the paper, exactly, and certified bounds of them for
groups of any size; and the binary one, who tells one event from the rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats, Ints, Whole
from shoal.auditing.adversaries.estimate import has_world
from shoal.auditing.adversaries.group import Group, no_world
from shoal.auditing.adversaries.kernels.averages import average_bounds
from shoal.auditing.adversaries.kernels.swap import swap_bounds
from shoal.auditing.adversaries.kernels.worlds import joint_cost, joint_exact
from shoal.errors import InputError
from shoal.knowledge.kernels.bernoulli import conditional_bernoulli

JOINT_BUDGET = 2e7
"""Elementary steps that one exact joint computation may take (about 20 ms)."""


def joint_posterior(
    distributions: ArrayLike, values: ArrayLike, *, budget: float = JOINT_BUDGET
) -> Floats:
    """p(t_j:v) for every tuple and value of an A-group, as an N x V matrix.

    `distributions` is an N x V array, each tuple's distribution over the V values; `values` are the
    N published value codes, whose order says nothing. Exact or an InputError: a group that would
    take more than `budget` steps has `joint_bounds` and `joint_estimate`.

    Of three people, one has the first of two values, which one in ten of the first person's kind
    and one in five of the others' kind have:

    >>> import shoal
    >>> shoal.joint_posterior([[0.1, 0.9], [0.2, 0.8], [0.2, 0.8]], [0, 1, 1])[:, 0].round(3)
    array([0.182, 0.409, 0.409])
    """
    group = Group.of(distributions, values)
    steps = min(joint_cost(group.sizes, group.counts))
    if steps > budget:
        raise InputError(
            "group-too-large",
            f"The exact posterior of this group would take {steps:.1e} steps, "
            f"over the budget of {budget:.1e}.",
            "Raise budget, or use joint_bounds or joint_estimate.",
        )
    posterior = joint_exact(group.weights, group.sizes, group.counts)
    if np.isnan(posterior).any():
        raise no_world()
    return group.spread(posterior, np.shape(distributions)[1])


def joint_bounds(distributions: ArrayLike, values: ArrayLike) -> tuple[Floats, Floats]:
    """Lower and upper bounds of every joint posterior (arguments as in `joint_posterior`).

    >>> import shoal
    >>> low, high = shoal.joint_bounds([[0.1, 0.9], [0.2, 0.8], [0.2, 0.8]], [0, 1, 1])
    >>> bool((low[:, 0] <= [0.182, 0.410, 0.410]).all())
    True
    >>> bool((high[:, 0] >= [0.181, 0.409, 0.409]).all())
    True
    """
    group = Group.of(distributions, values)
    if not has_world(group.weights, group.sizes, group.counts):
        raise no_world()
    each = np.arange(len(group.present))
    lower, upper = event_bounds(group.weights, group.sizes, group.counts, each, len(each))
    width = np.shape(distributions)[1]
    return group.spread(lower, width), group.spread(upper, width)


def event_bounds(
    weights: Floats, sizes: Ints, counts: Ints, column: Whole, events: int
) -> tuple[Floats, Floats]:
    """Certified bounds of p(tuple of s has event e), S x E: the narrower of those by averages and
    of those by swaps. `column` is the event of each value, or -1."""
    lower, upper = np.zeros((len(sizes), events)), np.zeros((len(sizes), events))
    for value in np.flatnonzero(column >= 0):
        low, high = swap_bounds(weights, sizes, counts, int(value))
        lower[:, column[value]] += low
        upper[:, column[value]] += high
    low, high = average_bounds(weights, sizes, counts, column.astype(np.int64), events)
    return np.maximum(lower, low), np.minimum(upper, high)


def binary_posterior(f: ArrayLike, count: int) -> Floats:
    """p(t_j:x) for every tuple of an A-group in which `count` tuples have x.

    `f` holds each tuple's global probability of x. A tuple with f = 0 never has x, one with f = 1
    always has it. Exact, in work proportional to the tuples times the spread of the count.

    >>> import shoal
    >>> shoal.binary_posterior([0.1, 0.2, 0.2], 1).round(3)
    array([0.182, 0.409, 0.409])
    """
    chances = np.asarray(f, dtype=np.float64)
    if chances.ndim != 1 or not len(chances) or not ((chances >= 0) & (chances <= 1)).all():
        raise InputError(
            "binary-f", "f is no list of probabilities.", "Give a probability per tuple."
        )
    if not 0 <= count <= len(chances) or count != int(count):
        raise InputError(
            "binary-count",
            f"{count} of {len(chances)} tuples cannot have the value.",
            "Give a whole number from 0 to the number of tuples.",
        )
    distinct, member, sizes = np.unique(chances, return_inverse=True, return_counts=True)
    posterior = conditional_bernoulli(distinct, 1.0 - distinct, sizes, int(count))
    if np.isnan(posterior).any():
        raise no_world()
    return np.asarray(posterior[member])
