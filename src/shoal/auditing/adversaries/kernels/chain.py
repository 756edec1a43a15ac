"""An estimate for groups that are too large to be exact: a Markov chain over possible worlds.

Start in a world with weight; propose to exchange the values of two random tuples; accept with the
Metropolis ratio of the worlds' weights. The share of time that a signature's tuples hold x is an
estimate of p(t:x). Means over batches of sweeps (N proposals each) give its standard error.

Exchanges alone do not reach every world: of three tuples that may hold xy, yz and zx no two can
exchange. So one proposal in ROTATE passes values on along three or more tuples. A way from world to
world falls apart into rounds that meet each signature and each value once, so that rounds of up to
min(S, V) tuples reach every world.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.compiling import kernel

ROTATE = 8


@kernel
def swap_chain(
    weights: Floats,
    tuple_signature: Ints,
    tuple_value: Ints,
    value_event: Ints,
    events: int,
    batches: int,
    sweeps: int,
    seed: int,
) -> Floats:
    """batches x S x events: share of a signature's tuples that hold the event, per batch mean.

    `tuple_value` is the starting world (it must have weight) and is changed in place.
    """
    np.random.seed(seed)
    S, N = len(weights), len(tuple_signature)
    size, held = np.zeros(S), np.zeros((S, events))
    for j in range(N):
        size[tuple_signature[j]] += 1.0
        if value_event[tuple_value[j]] >= 0:
            held[tuple_signature[j], value_event[tuple_value[j]]] += 1.0
    means = np.zeros((batches, S, events))
    chosen = np.empty(min(weights.shape), np.int64)
    for batch in range(-1, batches):  # batch -1 is burnt
        for _ in range(sweeps):
            for _ in range(N):
                if len(chosen) > 2 and np.random.randint(ROTATE) == 0:
                    _rotate(weights, tuple_signature, tuple_value, value_event, held, chosen)
                    continue
                i, j = np.random.randint(N), np.random.randint(N)
                s, t = tuple_signature[i], tuple_signature[j]
                v, w = tuple_value[i], tuple_value[j]
                if s == t or v == w:
                    continue
                there = weights[s, w] * weights[t, v]
                if there < weights[s, v] * weights[t, w] * np.random.random():
                    continue
                if there == 0.0:
                    continue
                tuple_value[i], tuple_value[j] = w, v
                e, f = value_event[v], value_event[w]
                if e >= 0:
                    held[s, e] -= 1.0
                    held[t, e] += 1.0
                if f >= 0:
                    held[t, f] -= 1.0
                    held[s, f] += 1.0
            if batch >= 0:
                means[batch] += held
        if batch >= 0:
            for s in range(S):
                means[batch, s] /= size[s] * sweeps
    return means


@kernel
def _rotate(
    weights: Floats,
    tuple_signature: Ints,
    tuple_value: Ints,
    value_event: Ints,
    held: Floats,
    chosen: Ints,
) -> None:
    """Proposes that each of three or more random tuples takes the next one's value.

    weights: distributions x values.
    tuple_signature, tuple_value: of each tuple, its distribution and the value that it has now.
    value_event: the event of each value, or -1.
    held: by distribution and event, how many have it now; changed with the values.
    chosen: scratch for the tuples drawn; its length is the most that are.
    """
    length = 3
    while length < len(chosen) and np.random.randint(2) == 0:
        length += 1
    for k in range(length):
        chosen[k] = np.random.randint(len(tuple_signature))
        for earlier in range(k):
            if chosen[earlier] == chosen[k]:
                return
    ratio = 1.0
    for k in range(length):
        row = weights[tuple_signature[chosen[k]]]
        ratio *= row[tuple_value[chosen[(k + 1) % length]]] / row[tuple_value[chosen[k]]]
    if ratio == 0.0 or ratio < np.random.random():
        return
    first = tuple_value[chosen[0]]
    for k in range(length):
        j = chosen[k]
        old = tuple_value[j]
        new = first if k == length - 1 else tuple_value[chosen[k + 1]]
        tuple_value[j] = new
        if value_event[old] >= 0:
            held[tuple_signature[j], value_event[old]] -= 1.0
        if value_event[new] >= 0:
            held[tuple_signature[j], value_event[new]] += 1.0
