"""All values at once: every posterior of a group, without enumerating its possible worlds.

The total weight of the worlds is the coefficient of prod_v y_v^{c_v} in
prod_s (sum_v G_s(v) y_v)^{n_s}. Multiplying the N linear forms one by one walks over the vectors
of values handed out so far; the largest c_v need not be kept, since the number of tuples so far
tells it. With the products before and after a signature's last tuple, every posterior is one dot
product. The same sum read the other way round (signatures filled by values) is the transposed
matrix, so the cheaper of the two sides is taken. All terms are non-negative: nothing cancels.

Work N V prod_{v not largest}(c_v + 1) on the value side.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.compiling import glue, kernel, part

SCALING_STEPS = 300
SCALED_ENOUGH = 0.5


@glue
def joint_cost(sizes: Ints, counts: Ints) -> tuple[float, float]:
    """Elementary steps of the exact computation on the value side and on the signature side."""
    N = 0.0
    for n in sizes:
        N += n
    return N * len(counts) * _states(counts), N * len(sizes) * _states(sizes)


@kernel
def _states(counts: Ints) -> float:
    product, largest = 1.0, 0
    for c in counts:
        product *= c + 1.0
        largest = max(largest, c)
    return product / (largest + 1.0)


@glue
def joint_exact(weights: Floats, sizes: Ints, counts: Ints) -> Floats:
    """p(tuple of s has v) as an S x V matrix; NaN everywhere when no world has weight."""
    by_value, by_signature = joint_cost(sizes, counts)
    scaled = balance(weights, sizes, counts)
    if by_value <= by_signature:
        forms, tuples, places = scaled, sizes, counts
    else:
        forms, tuples, places = np.empty((len(counts), len(sizes))), counts, sizes
        for v in range(len(counts)):
            for s in range(len(sizes)):
                # Rows sum to 1 here too, and s is expected about n_s times.
                forms[v, s] = scaled[s, v] / counts[v] * sizes[s]
    posterior = hand_out(forms, tuples, places)
    if by_value <= by_signature:
        return posterior
    for s in range(len(sizes)):
        for v in range(len(counts)):
            scaled[s, v] = posterior[v, s] * counts[v] / sizes[s]
    return scaled


@part
def balance(weights: Floats, sizes: Ints, counts: Ints) -> Floats:
    """Rows and columns rescaled so that rows sum to 1 and value v is expected about c_v times.

    Posteriors do not change; the numbers stay far from under- and overflow, as long as nearly as
    many tuples are expected to have each value as really have it.
    """
    S, V = weights.shape
    scaled = weights.copy()
    _rows_to_one(scaled)
    for _ in range(SCALING_STEPS):
        astray = 0.0
        for v in range(V):
            total = 0.0
            for s in range(S):
                total += sizes[s] * scaled[s, v]
            astray = max(astray, abs(total - counts[v]))
            if total > 0.0:
                for s in range(S):
                    scaled[s, v] = scaled[s, v] / total * counts[v]
        _rows_to_one(scaled)
        if astray <= SCALED_ENOUGH:
            break
    return scaled


@kernel
def _rows_to_one(weights: Floats) -> None:
    S, V = weights.shape
    for s in range(S):
        total = 0.0
        for v in range(V):
            total += weights[s, v]
        if total > 0.0:
            for v in range(V):
                weights[s, v] /= total


@part
def hand_out(weights: Floats, sizes: Ints, counts: Ints) -> Floats:
    S, V = weights.shape
    free = V - 1
    for v in range(V - 1, -1, -1):
        if counts[v] >= counts[free]:
            free = v
    stride = np.empty(V, np.int64)
    states = 1
    for v in range(V):
        stride[v] = 0
        if v != free:
            stride[v] = states
            states *= counts[v] + 1

    before, now, spare = np.empty((S, states)), np.empty(states), np.empty(states)
    now[:] = 0.0
    now[0] = 1.0
    for s in range(S):
        for copy in range(sizes[s]):
            if copy == sizes[s] - 1:
                for i in range(states):
                    before[s, i] = now[i]
            _multiply(now, spare, weights[s], counts, stride, free)
            now, spare = spare, now
        _rescale(now)

    posterior = np.empty((S, V))
    after = now
    after[:] = 0.0
    after[0] = 1.0
    for s in range(S - 1, -1, -1):
        total = 0.0
        for v in range(V):
            posterior[s, v] = weights[s, v] * _pair(before[s], after, counts[v], stride[v])
            total += posterior[s, v]
        if not total > 0.0:
            posterior[:] = np.nan
            return posterior
        for v in range(V):
            posterior[s, v] /= total
        for _ in range(sizes[s]):
            _multiply(after, spare, weights[s], counts, stride, free)
            after, spare = spare, after
        _rescale(after)
    return posterior


@kernel
def _multiply(
    old: Floats, new: Floats, form: Floats, counts: Ints, stride: Ints, free: int
) -> None:
    """new = old times one tuple's linear form.

    old, new: the weight of each state, how often each value but `free` was handed out so far.
    form: the tuple's weight of each value.
    counts, stride: of each value, how often it is published, and how far apart two states lie that
    differ by one of it.
    """
    for i in range(len(old)):
        new[i] = form[free] * old[i]
    for v in range(len(counts)):
        if v == free or form[v] == 0.0:
            continue
        width, weight = stride[v], form[v]
        length = width * counts[v]
        for start in range(0, len(old), length + width):
            for i in range(start, start + length):
                new[i + width] += weight * old[i]


@kernel
def _pair(before: Floats, after: Floats, count: int, stride: int) -> float:
    """Weight of all ways to complete `before` with one more v and then `after`."""
    last = len(before) - 1
    total = 0.0
    if stride == 0:
        for i in range(last + 1):
            total += before[i] * after[last - i]
        return total
    length = stride * count
    for start in range(0, last + 1, length + stride):
        for i in range(start, start + length):
            total += before[i] * after[last - stride - i]
    return total


@kernel
def _rescale(polynomial: Floats) -> None:
    largest = 0.0
    for value in polynomial:
        largest = max(largest, value)
    if largest > 0.0:
        for i in range(len(polynomial)):
            polynomial[i] /= largest
