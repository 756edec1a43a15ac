"""One value against the rest: the conditional Bernoulli design.

`count` of N tuples have x; tuple j prefers x with odds o_j. Then
    p(t_j:x) = o_j e_{c-1}(o without j) / e_c(o),    e = elementary symmetric polynomials.

Tilting all odds by one factor changes nothing, so choose it such that the tilted probabilities
p_j = o_j/(1+o_j) add up to c. The e_k are then the probabilities g_k of a Poisson-binomial sum
whose mode is c: nothing overflows, and terms farther than WINDOW standard deviations from c are
below any rounding error. Taking one tuple out of g is a division by (1-p_j) + p_j z, which is
stable upwards when p_j <= 1/2 and downwards when p_j > 1/2. Work O(N sigma), memory O(c + sigma).

Chen, Dempster and Liu (1994) on the design; the tilt and the two-way division are ours.
"""

from __future__ import annotations

import math

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.compiling import kernel, part

WINDOW, MARGIN = 12.0, 60.0
NEWTON_STEPS = 200


@kernel
def conditional_bernoulli(prefer: Floats, refuse: Floats, sizes: Ints, count: int) -> Floats:
    """p(tuple of s has x) for each signature s, from the weights of having x and of not having it.

    A refuse weight of 0 forces x, a prefer weight of 0 forbids it. NaN everywhere: no world.
    """
    S = len(sizes)
    posterior = np.empty(S)
    open_tuples, left = 0, count
    for s in range(S):
        posterior[s] = 0.0
    for s in range(S):
        if refuse[s] == 0.0:
            posterior[s] = 1.0
            left -= sizes[s]
            if prefer[s] == 0.0:
                left = -1
                break
        elif prefer[s] > 0.0:
            open_tuples += sizes[s]
    if left < 0 or left > open_tuples:
        posterior[:] = np.nan
        return posterior
    if left == 0:
        return posterior

    at = np.empty(S, np.int64)
    logit, number = np.empty(S), np.empty(S, np.int64)
    found = 0
    for s in range(S):
        if refuse[s] > 0.0 and prefer[s] > 0.0:
            at[found], number[found] = s, sizes[s]
            logit[found] = np.log(prefer[s]) - np.log(refuse[s])
            found += 1
    share = np.empty(found)
    by_logits(logit[:found], number[:found], left, share)
    for k in range(found):
        posterior[at[k]] = share[k]
    return posterior


@part
def by_logits(logit: Floats, sizes: Ints, count: int, posterior: Floats) -> float:
    """Fills in the posterior of each signature by the logarithms of its odds, all of them finite,
    where 0 < count <= N; and gives the logarithm of e_c."""
    S = len(sizes)
    tuples = 0
    smallest, largest = np.inf, -np.inf
    for s in range(S):
        tuples += sizes[s]
        smallest, largest = min(smallest, logit[s]), max(largest, logit[s])
    if count == 1 and smallest < largest:
        total = 0.0
        for s in range(S):
            total += sizes[s] * np.exp(logit[s] - largest)
        for s in range(S):
            posterior[s] = np.exp(logit[s] - largest) / total
        return float(np.log(total) + largest)
    if count == tuples or smallest == largest:
        value = math.lgamma(tuples + 1.0) - math.lgamma(count + 1.0)
        value -= math.lgamma(tuples - count + 1.0)
        for s in range(S):
            posterior[s] = count / tuples
            value += posterior[s] * sizes[s] * logit[s]
        return value

    tilt = tilted(logit, sizes, count)
    share, rest = np.empty(S), np.empty(S)
    variance, value = 0.0, -count * tilt
    likely = False
    for s in range(S):
        share[s] = sigmoid(logit[s] + tilt)
        likely = likely or share[s] > 0.5
        rest[s] = sigmoid(-logit[s] - tilt)
        variance += sizes[s] * share[s] * rest[s]
        value += sizes[s] * (max(0.0, logit[s] + tilt) - np.log(max(share[s], rest[s])))
    reach = int(WINDOW * np.sqrt(variance) + MARGIN)
    # What lies above the count is asked for where somebody is taken out downwards alone.
    g = np.empty((min(count + reach, tuples) if likely else count) + 1)
    _poisson_binomial(share, rest, sizes, reach, g)
    low = max(0, count - reach)
    for s in range(S):
        h = 0.0
        if share[s] <= 0.5:
            for k in range(low, count):
                h = (g[k] - share[s] * h) / rest[s]
        else:
            for k in range(len(g) - 1, count - 1, -1):
                h = (g[k] - rest[s] * h) / share[s]
        posterior[s] = min(1.0, max(0.0, share[s] * h / g[count]))
    return float(value + np.log(g[count]))


@part
def sigmoid(z: float) -> float:
    power = float(np.exp(-abs(z)))
    return 1.0 / (1.0 + power) if z >= 0.0 else power / (1.0 + power)


@part
def tilted(logit: Floats, sizes: Ints, count: int) -> float:
    """The t with sum of sigmoid(logit + t) = count: Newton steps kept inside a bracket."""
    tuples = 0
    smallest, largest = np.inf, -np.inf
    for s in range(len(sizes)):
        tuples += sizes[s]
        smallest, largest = min(smallest, logit[s]), max(largest, logit[s])
    centre = np.log(count / (tuples - count))
    low, high = centre - largest, centre - smallest
    t = 0.5 * (low + high)
    for _ in range(NEWTON_STEPS):
        total, slope = 0.0, 0.0
        for s in range(len(sizes)):
            p = sigmoid(logit[s] + t)
            total += sizes[s] * p
            slope += sizes[s] * p * (1.0 - p)
        gap = count - total
        if abs(gap) <= 1e-9 * count:
            break
        if gap > 0.0:
            low = t
        else:
            high = t
        step = t + gap / slope if slope > 0.0 else low
        t = step if low < step < high else 0.5 * (low + high)
    return float(t)


@kernel
def _poisson_binomial(share: Floats, rest: Floats, sizes: Ints, reach: int, g: Floats) -> None:
    """Fills g with P(sum = k), zero where k is farther than `reach` from the running mean.

    share, rest: p and 1 - p of each signature's tuples.
    """
    g[:] = 0.0
    g[0] = 1.0
    mean, floor, ceiling = 0.0, 0, 0
    for s in range(len(sizes)):
        if share[s] == 0.0:
            continue
        for _ in range(sizes[s]):
            mean += share[s]
            ceiling = min(min(len(g) - 1, ceiling + 1), int(mean) + reach)
            for k in range(ceiling, floor, -1):
                g[k] = rest[s] * g[k] + share[s] * g[k - 1]
            g[floor] *= rest[s]
            while floor < mean - reach - 1.0:
                g[floor] = 0.0
                floor += 1
