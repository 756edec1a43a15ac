"""Injector's second loop: finding buckets for rows that are left over.

Symbols: B buckets, l rows that a bucket must have for each event, k a kind (injection.py), b a
bucket, v an event or E for none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Bools, Ints, Words
from shoal.compiling import kernel
from shoal.methods.injector.kernels.injection import Kinds, add, disjoint, has


class Buckets(NamedTuple):
    """Buckets under construction; the rows of b are head[b], after[head[b]], .., up to -1."""

    head: Ints
    after: Ints
    held: Words
    """The events in each bucket."""
    barred: Words
    """The events that are impossible for one of its rows."""


@kernel
def attach(rows: Ints, chosen: Ints, kind: Ints, kinds: Kinds, buckets: Buckets) -> None:
    """Adds rows to buckets."""
    for row, b in zip(rows, chosen):
        k = kind[row]
        if kinds.event[k] < kinds.E:
            add(buckets.held[b], kinds.event[k])
        for word in range(kinds.denied.shape[1]):
            buckets.barred[b, word] |= kinds.denied[k, word]
        buckets.after[row] = buckets.head[b]
        buckets.head[b] = row


@kernel
def join_compatible(
    rows: Ints, starts: Ints, tries: int, kind: Ints, kinds: Kinds, buckets: Buckets
) -> Bools:
    """Adds each row to the first bucket, from its own start on, that lacks its event and all of
    whose rows it is compatible with; says which rows found one."""
    B = len(buckets.head)
    joined = np.zeros(len(rows), np.bool_)
    chosen = np.empty(1, np.int64)
    for i in range(len(rows)):
        k = kind[rows[i]]
        v = kinds.event[k]
        if v < kinds.E and has(kinds.denied[k], v):
            continue
        for step in range(min(tries, B)):
            b = (starts[i] + step) % B
            if not disjoint(kinds.denied[k], buckets.held[b]):
                continue
            if v < kinds.E and (has(buckets.held[b], v) or has(buckets.barred[b], v)):
                continue
            chosen[0] = b
            attach(rows[i : i + 1], chosen, kind, kinds, buckets)
            joined[i] = True
            break
    return joined


@kernel
def propose(
    rows: Ints,
    starts: Ints,
    seen: Ints,
    tries: int,
    kind: Ints,
    kinds: Kinds,
    buckets: Buckets,
    l: int,
) -> Ints:
    """For each row the next bucket that could stay fine with it, no bucket for two rows at once;
    -2 if the row has to wait for another, -1 if none is left. `seen` counts the buckets passed."""
    B = len(buckets.head)
    claimed = np.zeros(B, np.bool_)
    proposed = np.full(len(rows), -1)
    for i in range(len(rows)):
        while seen[i] < min(tries, B):
            b = (starts[i] + seen[i]) % B
            if _hopeful(kind[rows[i]], b, kind, kinds, buckets, l):
                if claimed[b]:
                    proposed[i] = -2
                    break
                claimed[b], proposed[i] = True, b
                seen[i] += 1
                break
            seen[i] += 1
    return proposed


@kernel
def _hopeful(k: int, b: int, kind: Ints, kinds: Kinds, buckets: Buckets, l: int) -> bool:
    """Whether, by the edges alone, a row of kind k could have l values in bucket b, and the rows
    that could have its event would be l; and the event is not in b already."""
    v = kinds.event[k]
    if v < kinds.E and has(buckets.held[b], v):
        return False
    own = 1 if v == kinds.E or not has(kinds.denied[k], v) else 0
    values, holders = own, own
    row = buckets.head[b]
    while row >= 0:
        other = kind[row]
        u = kinds.event[other]
        if u == kinds.E or not has(kinds.denied[k], u):
            values += 1
        if v == kinds.E or not has(kinds.denied[other], v):
            holders += 1
        row = buckets.after[row]
    return values >= l and holders >= l


@kernel
def members(chosen: Ints, buckets: Buckets) -> tuple[Ints, Ints]:
    """The rows of some buckets, one after the other, and how many each has."""
    counts = np.zeros(len(chosen), np.int64)
    for i in range(len(chosen)):
        row = buckets.head[chosen[i]]
        while row >= 0:
            counts[i] += 1
            row = buckets.after[row]
    rows = np.empty(counts.sum(), np.int64)
    place = 0
    for b in chosen:
        row = buckets.head[b]
        while row >= 0:
            rows[place] = row
            place += 1
            row = buckets.after[row]
    return rows, counts
