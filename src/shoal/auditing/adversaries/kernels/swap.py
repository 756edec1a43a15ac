"""Certified bounds on joint posteriors by exchanging the values of two tuples.

Let u and a be tuples, x a value held by c of N. Exchanging their values pairs the worlds where u
has x and a does not with those where a has x and u does not; the weights of a pair differ by a
factor between
    least_ua = min_y G_u(x) G_a(y) / (G_a(x) G_u(y))   and   most_ua = max_y of the same,
y running over the other values of the group. So with P(u) = p(t_u:x),
    p(u:x, a:not x) <= most_ua p(a:x, u:not x).
Sum over a. Given u:x exactly N-c others lack x; given u:not x exactly c others have it. Hence
    c (1 - P(u)) >= P(u) T,  T = sum of the N-c smallest 1/most_ua:   P(u) <= c / (c + T),
    (N-c) P(u) <= R (1 - P(u)),  R = sum of the c largest most_ua:    P(u) <= R / (N - c + R),
and the same with least_ua and the inequalities turned for the lower bounds.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.compiling import kernel

TINY = 1e-290
"""Below this a product of weights may have lost its digits, and a ratio of two says nothing."""


@kernel
def swap_bounds(weights: Floats, sizes: Ints, counts: Ints, x: int) -> tuple[Floats, Floats]:
    """Lower and upper bounds of p(tuple of s has x) for each signature s."""
    S, V = weights.shape
    N = 0
    for n in sizes:
        N += n
    c = counts[x]
    lower, upper = np.zeros(S), np.ones(S)
    if c == N:
        return np.ones(S), upper
    most, least, others = np.empty(S), np.empty(S), np.empty(S, np.int64)
    for u in range(S):
        if weights[u, x] == 0.0:
            upper[u] = 0.0
            continue
        for a in range(S):
            others[a] = sizes[a] - (1 if a == u else 0)
            most[a], least[a] = 0.0, np.inf
            for y in range(V):
                if y == x:
                    continue
                gain = weights[u, x] * weights[a, y]
                loss = weights[a, x] * weights[u, y]
                if gain < TINY or loss < TINY:
                    can_gain = weights[a, y] > 0.0
                    can_lose = weights[a, x] > 0.0 and weights[u, y] > 0.0
                    if not can_gain and not can_lose:
                        continue
                    if (can_gain and gain < TINY) or (can_lose and loss < TINY):
                        most[a], least[a] = np.inf, 0.0
                        continue
                ratio = gain / loss if loss > 0.0 else np.inf
                most[a], least[a] = max(most[a], ratio), min(least[a], ratio)
            if least[a] == np.inf and most[a] == 0.0:
                most[a], least[a] = np.inf, 0.0
        order = np.argsort(most)
        T = _sum_first(_inverse(most), others, order[::-1], N - c)
        R = _sum_first(most, others, order[::-1], c)
        upper[u] = c / (c + T)
        if R < np.inf:
            upper[u] = min(upper[u], R / (N - c + R))
        order = np.argsort(least)
        T = _sum_first(_inverse(least), others, order, N - c)
        R = _sum_first(least, others, order, c)
        if T < np.inf:
            lower[u] = c / (c + T)
        lower[u] = max(lower[u], R / (N - c + R) if R < np.inf else 1.0)
    return lower, upper


@kernel
def _inverse(ratios: Floats) -> Floats:
    inverse = np.empty(len(ratios))
    for a in range(len(ratios)):
        inverse[a] = 1.0 / ratios[a] if ratios[a] > 0.0 else np.inf
    return inverse


@kernel
def _sum_first(terms: Floats, sizes: Ints, order: Ints, wanted: int) -> float:
    """Sum of the first `wanted` terms in `order`, each signature standing for its tuples."""
    total, left = 0.0, wanted
    for s in order:
        take = min(left, sizes[s])
        if take > 0:
            total += take * terms[s]
            left -= take
    return total
