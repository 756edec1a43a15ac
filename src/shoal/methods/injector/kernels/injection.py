"""Injector's first loop: filling buckets with compatible rows.

Rows with the same event and the same impossible events are alike, and make a *kind*. Sets of events
are bit masks, W words of 64 bits each.

Symbols: K kinds, E events, B buckets, l rows in a bucket, k a kind, e an event, v an event or E for
none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Bools, Ints, Words
from shoal.compiling import kernel, part


class Kinds(NamedTuple):
    """What the rows of each kind have in common."""

    event: Ints
    """Their event, or E for none."""
    denied: Words
    """The events that are impossible for them."""
    E: int


@part
def has(mask: Words, e: int) -> bool:
    """Whether e is in the mask."""
    return bool((mask[e >> 6] >> np.uint64(e & 63)) & np.uint64(1))


@part
def add(mask: Words, e: int) -> None:
    """Puts e into the mask."""
    mask[e >> 6] |= np.uint64(1) << np.uint64(e & 63)


@part
def disjoint(one: Words, other: Words) -> bool:
    """Whether two masks have nothing in common."""
    for word in range(len(one)):
        if one[word] & other[word] != np.uint64(0):
            return False
    return True


@kernel
def count_incompatible(sizes: Ints, event: Ints, denied: Bools) -> Ints:
    """With how many rows each kind is incompatible: those that have an event which it cannot have,
    and those that cannot have its event, less those that are both. `denied` is kinds x E + 1."""
    K, width = denied.shape
    having, cannot = np.zeros(width, np.int64), np.zeros((width, width), np.int64)
    unable = np.zeros(width, np.int64)
    for k in range(K):
        having[event[k]] += sizes[k]
        for e in range(width):
            if denied[k, e]:
                cannot[event[k], e] += sizes[k]
                unable[e] += sizes[k]
    found = np.zeros(K, np.int64)
    for k in range(K):
        found[k] = unable[event[k]]
        for e in range(width):
            if denied[k, e]:
                found[k] += having[e] - cannot[e, event[k]]
    return found


class _Lists(NamedTuple):
    """The kinds of each event (and of none), as linked lists: first[v], following[first[v]], .."""

    first: Ints
    following: Ints


@kernel
def fill_buckets(sizes: Ints, kinds: Kinds, order: Ints, l: int) -> Ints:
    """The kinds of the rows of each bucket, l for each.

    Kinds start buckets in the given order. Partners come in that order too; where that leads to a
    dead end they are sought once more, from the end. A kind that cannot fill a bucket now could
    hardly do so later, when fewer rows are left; its rows stay as partners for others.
    """
    stored, left = sizes.copy(), sizes.copy()
    value_left = np.zeros(kinds.E + 1, np.int64)
    for k in range(len(sizes)):
        value_left[kinds.event[k]] += sizes[k]
    total = sizes.sum()
    filled = np.empty(total // l * l, np.int64)
    forward, backward = _lists(order, kinds), _lists(order[::-1].copy(), kinds)
    B = 0
    for seed in order:
        while left[seed] > 0 and total >= l:
            bucket = filled[B * l : B * l + l]
            if not (
                _grow(bucket, seed, left, value_left, total - l, stored, kinds, forward)
                or _grow(bucket, seed, left, value_left, total - l, stored, kinds, backward)
            ):
                break
            for k in bucket:
                stored[k] -= 1
            B += 1
            total -= l
    return filled[: B * l]


@kernel
def _lists(order: Ints, kinds: Kinds) -> _Lists:
    first, last = np.full(kinds.E + 1, -1), np.full(kinds.E + 1, -1)
    following = np.full(len(kinds.event), -1)
    for k in order:
        v = kinds.event[k]
        if first[v] < 0:
            first[v] = k
        else:
            following[last[v]] = k
        last[v] = k
    return _Lists(first, following)


@kernel
def _grow(
    bucket: Ints,
    seed: int,
    left: Ints,
    value_left: Ints,
    spare: int,
    stored: Ints,
    kinds: Kinds,
    lists: _Lists,
) -> bool:
    """Fills a bucket from a seed; on a dead end gives everything back and says False."""
    E, W = kinds.E, kinds.denied.shape[1]
    held, barred = np.zeros(W, np.uint64), np.zeros(W, np.uint64)
    closed = np.zeros(E + 1, np.bool_)
    k = seed
    for count in range(len(bucket)):
        if count > 0:
            for e in range(E):
                closed[e] = value_left[e] == 0 or has(held, e) or has(barred, e)
            closed[E] = value_left[E] == 0
            k, v = -1, 0
            while k < 0 and v >= 0:
                v = _next_event(value_left, closed, len(bucket), spare)
                if v >= 0:
                    k = _compatible(lists, left, stored, kinds.denied, held, v)
                    closed[v] = True
        if k < 0:
            for taken in bucket[:count]:
                left[taken] += 1
                value_left[kinds.event[taken]] += 1
            return False
        bucket[count] = k
        left[k] -= 1
        value_left[kinds.event[k]] -= 1
        if kinds.event[k] < E:
            add(held, kinds.event[k])
        for word in range(W):
            barred[word] |= kinds.denied[k, word]
    return True


@kernel
def _next_event(value_left: Ints, closed: Bools, l: int, spare: int) -> int:
    """What the bucket should take next: an event that, left out, would have more than one in l of
    the `spare` rows that remain for other buckets; else none; else the most frequent event."""
    E = len(value_left) - 1
    most = -1
    for e in range(E):
        if not closed[e] and (most < 0 or value_left[e] > value_left[most]):
            most = e
    if not closed[E] and (most < 0 or value_left[most] * l <= spare):
        return E
    return most


@kernel
def _compatible(lists: _Lists, left: Ints, stored: Ints, denied: Words, held: Words, v: int) -> int:
    """The first kind of event v that may have every event in the bucket, or -1. Kinds of which
    nothing is stored leave the list."""
    before, k = -1, lists.first[v]
    while k >= 0:
        if stored[k] == 0:
            if before < 0:
                lists.first[v] = lists.following[k]
            else:
                lists.following[before] = lists.following[k]
        else:
            if left[k] > 0 and disjoint(denied[k], held):
                return int(k)
            before = k
        k = lists.following[k]
    return -1
