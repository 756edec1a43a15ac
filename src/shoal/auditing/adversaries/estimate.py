"""Estimates of joint posteriors for groups that are too large to be exact: never a certificate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Bools, Floats, Ints
from shoal.auditing.adversaries.group import Group, no_world
from shoal.auditing.adversaries.kernels.chain import swap_chain

BATCHES, SWEEPS = 32, 16
MERGED = 4
CONFIDENCE = 0.99
LIKELIEST = 1000
"""Up to so many tuples a chain starts in the likeliest world, where steep distributions would hold
it far from there for long; the search takes memory N^2 and time N^3, so larger groups start in any
possible one."""


@dataclass(frozen=True, eq=False)
class JointEstimate:
    """Estimated posteriors with an interval that covers each of them with `confidence`."""

    posterior: Floats
    low: Floats
    high: Floats
    confidence: float


def joint_estimate(
    distributions: ArrayLike,
    values: ArrayLike,
    *,
    confidence: float = CONFIDENCE,
    batches: int = BATCHES,
    sweeps: int = SWEEPS,
    seed: int = 0,
) -> JointEstimate:
    """Estimates every joint posterior by a swap chain (arguments as in `joint_posterior`).

    >>> import shoal
    >>> found = shoal.joint_estimate([[0.1, 0.9], [0.2, 0.8], [0.2, 0.8]], [0, 1, 1], seed=1)
    >>> bool((found.low[:, 0] < 0.41).all()), bool((found.high[:, 0] > 0.18).all())
    (True, True)
    """
    group = Group.of(distributions, values)
    start = possible_world(
        group.weights, group.member, np.searchsorted(group.present, np.asarray(values))
    )
    event = np.arange(len(group.present))
    means = swap_chain(group.weights, group.member, start, event, len(event), batches, sweeps, seed)
    width = np.shape(distributions)[1]
    middle, low, high = interval(means, group.sizes, sweeps=sweeps, confidence=confidence)
    return JointEstimate(
        group.spread(middle, width), group.spread(low, width), group.spread(high, width), confidence
    )


def interval(
    means: Floats, sizes: Ints, *, sweeps: int, confidence: float
) -> tuple[Floats, Floats, Floats]:
    """Mean and confidence interval over batches (first axis) of a chain.

    Batch means are nearly independent, so Student's t applies; where the chain is slow they are
    not, and the spread of four batches taken as one shows it. A value that the chain rarely meets
    has too little spread to be trusted; the standard error is therefore never taken below that of
    independent draws, one per signature and four sweeps.
    """
    from scipy.special import stdtrit  # SciPy takes a second to load: only where it is used

    batches = len(means)
    middle = means.mean(axis=0)
    error = means.std(axis=0, ddof=1) / np.sqrt(batches)
    if batches >= 2 * MERGED:
        long = batches // MERGED
        merged = means[: long * MERGED].reshape(long, MERGED, *means.shape[1:]).mean(axis=1)
        error = np.maximum(error, merged.std(axis=0, ddof=1) / np.sqrt(long))
    draws = batches * sweeps / 4.0
    shrunk = (middle * draws + 1.0) / (draws + 2.0)
    floor = np.sqrt(shrunk * (1.0 - shrunk) / (draws * np.sqrt(sizes)[:, None]))
    reach = stdtrit(batches - 1, 0.5 + confidence / 2) * np.maximum(error, floor)
    return middle, np.clip(middle - reach, 0, 1), np.clip(middle + reach, 0, 1)


def possible_world(weights: Floats, member: Ints, codes: Ints) -> Ints:
    """A world with weight to start from: the one given, or else one that is looked for."""
    if (weights[member, codes] > 0).all():
        return codes.astype(np.int64)
    if len(member) <= LIKELIEST:
        return _likeliest_world(weights, member, codes)
    return _some_world(weights, member, codes)


def _likeliest_world(weights: Floats, member: Ints, codes: Ints) -> Ints:
    """The world of the largest weight: an assignment of N values to N tuples."""
    from scipy.optimize import linear_sum_assignment

    with np.errstate(divide="ignore"):
        cost = -np.log(weights)[member][:, codes]
    impossible = ~np.isfinite(cost)
    cost[impossible] = 1e9
    rows, chosen = linear_sum_assignment(cost)
    if impossible[rows, chosen].any():
        raise no_world()
    return np.asarray(codes[chosen], np.int64)


def _some_world(weights: Floats, member: Ints, codes: Ints) -> Ints:
    """Any world with weight. Tuples with the same distribution are alike, so that only how many of
    them hold each value has to be found; the values are then dealt in the order of the tuples."""
    signatures, values = weights.shape
    sizes = np.bincount(member, minlength=signatures)
    counts = np.bincount(codes, minlength=values)
    flow = largest_flow(weights > 0, sizes, counts)
    if flow.sum() < len(member):
        raise no_world()
    world = np.empty(len(member), np.int64)
    world[np.argsort(member, kind="stable")] = np.repeat(
        np.tile(np.arange(values), signatures), flow.ravel()
    )
    return world


def has_world(weights: Floats, sizes: Ints, counts: Ints) -> bool:
    """Whether some world has weight. Tuples that can have the same values are one node."""
    if (weights > 0).all():
        return True
    allowed, node = np.unique(weights > 0, axis=0, return_inverse=True)
    tuples = np.bincount(node.ravel(), weights=sizes).astype(np.int64)
    return bool(largest_flow(allowed, tuples, counts).sum() == sizes.sum())


def largest_flow(allowed: Bools, sizes: Ints, counts: Ints) -> Ints:
    """S x V: how many tuples of each signature hold each value, none where it is not allowed.

    A largest flow from the signatures (each has as many tuples as its size) to the values (each
    takes as many as its count); if it leaves a tuple over, no world has weight.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    signatures, values = allowed.shape
    source, sink = signatures + values, signatures + values + 1
    row, column = np.nonzero(allowed)
    tail = np.concatenate(
        [np.full(signatures, source), row, np.arange(signatures, signatures + values)]
    )
    head = np.concatenate([np.arange(signatures), signatures + column, np.full(values, sink)])
    room = np.concatenate([sizes, np.minimum(sizes[row], counts[column]), counts])
    network = csr_array((room.astype(np.int32), (tail, head)), shape=(sink + 1, sink + 1))
    flow = maximum_flow(network, source, sink).flow
    return np.asarray(flow[:signatures, signatures:source].toarray(), np.int64)
