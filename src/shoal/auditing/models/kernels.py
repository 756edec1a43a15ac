"""Everybody's belief before and after, for (B,t)-privacy."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats, IntArray, Ints
from shoal.compiling import kernel


@kernel
def largest_change(
    pair_start: Ints,
    pair_signature: IntArray,
    pair_size: Ints,
    value_start: Ints,
    value_code: IntArray,
    value_count: Ints,
    prior: Floats,
) -> float:
    """The largest Jensen-Shannon divergence, in bits, between anybody's prior and posterior.

    The posterior is the paper's omega estimate: each value of a group goes to its people in
    proportion to their priors of it, and a person's parts are scaled to add up to 1. A value that
    nobody of a group can have by its prior goes to all alike.
    """
    largest = 0.0
    for g in range(len(pair_start) - 1):
        v0, v1 = value_start[g], value_start[g + 1]
        total, people = np.zeros(v1 - v0), 0
        for j in range(pair_start[g], pair_start[g + 1]):
            people += pair_size[j]
            for v in range(v0, v1):
                total[v - v0] += pair_size[j] * prior[pair_signature[j], value_code[v]]
        part = np.empty(v1 - v0)
        for j in range(pair_start[g], pair_start[g + 1]):
            for v in range(v0, v1):
                share = 1.0 / people
                if total[v - v0] > 0.0:
                    share = prior[pair_signature[j], value_code[v]] / total[v - v0]
                part[v - v0] = value_count[v] * share
            whole = part.sum()
            within, change = 0.0, 0.0
            for v in range(v0, v1):
                p = prior[pair_signature[j], value_code[v]]
                q = part[v - v0] / whole if whole > 0.0 else value_count[v] / people
                within += p
                middle = (p + q) / 2.0
                if p > 0.0:
                    change += p * np.log2(p / middle)
                if q > 0.0:
                    change += q * np.log2(q / middle)
            # A value that the group lacks has p against p/2: one bit for each unit of p.
            largest = max(largest, (change + max(0.0, 1.0 - within)) / 2.0)
    return largest
