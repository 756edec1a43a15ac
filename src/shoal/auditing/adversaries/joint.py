"""The joint adversary: equations 1 to 3 of the paper, exactly, and certified bounds of them for
groups of any size; and the binary one, who tells one event from the rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Bools, Floats, Ints, Whole
from shoal.auditing.adversaries.kernels.averages import average_bounds
from shoal.auditing.adversaries.kernels.chain import swap_chain
from shoal.auditing.adversaries.kernels.swap import swap_bounds
from shoal.auditing.adversaries.kernels.worlds import joint_cost, joint_exact
from shoal.errors import InputError
from shoal.knowledge.kernels.bernoulli import conditional_bernoulli

# One A-group as a caller gives it, checked and compressed to distinct rows and values.


@dataclass(frozen=True, eq=False)
class WeighedGroup:
    """Distinct distributions (restricted to the values present) with sizes, values with counts."""

    weights: Floats
    sizes: Ints
    counts: Ints
    present: Ints
    """The value codes that occur in the group; the columns of `weights`."""
    member: Ints
    """For each tuple, its row in `weights`."""

    @classmethod
    def of(cls, distributions: ArrayLike, values: ArrayLike) -> WeighedGroup:
        given = np.asarray(distributions, dtype=np.float64)
        codes = np.asarray(values)
        if given.ndim != 2 or codes.shape != (len(given),) or not len(codes):
            raise InputError(
                "group-shape",
                f"The distributions have shape {given.shape} and the values {codes.shape}.",
                "Give an N x V array and the N value codes of the same tuples.",
            )
        if not np.issubdtype(codes.dtype, np.integer) or codes.min() < 0:
            raise InputError(
                "group-values", "The values are no codes.", "Give whole numbers from 0 to V-1."
            )
        if codes.max() >= given.shape[1]:
            raise InputError(
                "group-values",
                f"Value code {codes.max()} has no column among the {given.shape[1]}.",
                "Give codes below V.",
            )
        if not np.isfinite(given).all() or given.min() < 0 or given.sum(axis=1).max() > 1 + 1e-9:
            raise InputError(
                "group-distribution",
                "A row of the distributions is no distribution.",
                "Give probabilities from 0 to 1 that add up to at most 1 in each row.",
            )
        present, counts = np.unique(codes, return_counts=True)
        weights, member, sizes = np.unique(
            given[:, present], axis=0, return_inverse=True, return_counts=True
        )
        return cls(weights, sizes, counts, present, member.ravel())

    def spread(self, by_row: Floats, width: int) -> Floats:
        """S x present results as the N x V matrix that the caller thinks in."""
        full = np.zeros((len(self.member), width))
        full[:, self.present] = by_row[self.member]
        return full


def no_world() -> InputError:
    return InputError(
        "no-world",
        "No possible world has weight: the values cannot be handed out to these tuples.",
        "Check the distributions for zeros that contradict the published values.",
    )


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
    group = WeighedGroup.of(distributions, values)
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
    group = WeighedGroup.of(distributions, values)
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


# Estimates of joint posteriors for groups that are too large to be exact: never a certificate.

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
    group = WeighedGroup.of(distributions, values)
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
