"""Cutting boxes of signatures into smaller ones, while every part is large enough (Mondrian).

A box is a run of `order`. Attributes are tried from the widest down: an ordered one is halved
between two of its values, one with a hierarchy falls into the children of the lowest node above
its values. The first cut whose parts all have k rows and l distinct values is made.

Symbols: M signatures with q attributes; a an attribute, s a signature, p a part of a box.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Bools, Floats, IntArray, Ints
from shoal.compiling import kernel


class Domains(NamedTuple):
    """The attributes' domains end to end: code c of attribute a stands at offset[a] + c."""

    offset: Ints
    levels: Ints
    """Levels of an attribute's hierarchy, or 0 for an ordered attribute."""
    position: Floats
    """Ordered: where the code lies in its domain, from 0 to 1."""
    node: Ints
    """levels x codes, with a hierarchy: the code's node at each level."""
    width: Floats
    """levels x codes, with a hierarchy: how much of the domain that node covers, 0 to 1."""


class Content(NamedTuple):
    """What the signatures hold: rows, and distinct values (those of s from value_start[s] on)."""

    rows: Ints
    value_start: Ints
    value: Ints


@kernel
def cut_classes(codes: IntArray, domains: Domains, content: Content, k: int, l: int) -> IntArray:
    """The class of each signature, numbered from 0."""
    M = len(codes)
    order = np.arange(M)
    classes = np.empty(M, np.int32)
    starts, ends = np.empty(M + 1, np.int64), np.empty(M + 1, np.int64)
    starts[0], ends[0] = 0, M
    waiting, made = 1, 0
    while waiting > 0:
        waiting -= 1
        start, end = starts[waiting], ends[waiting]
        box = order[start:end]
        part = _cut(codes, domains, content, box, k, l)
        if len(part) == 0:
            for s in box:
                classes[s] = made
            made += 1
            continue
        bounds = np.cumsum(np.bincount(part))
        sorted_box = box[np.argsort(part, kind="mergesort")]
        for i in range(len(box)):
            box[i] = sorted_box[i]
        for p in range(len(bounds) - 1, -1, -1):
            starts[waiting] = start + (bounds[p - 1] if p > 0 else 0)
            ends[waiting] = start + bounds[p]
            waiting += 1
    return classes


@kernel
def _cut(codes: IntArray, domains: Domains, content: Content, box: Ints, k: int, l: int) -> Ints:
    """The part of each signature of the box by the first cut that is allowed, or nothing."""
    q = codes.shape[1]
    rows = content.rows[box]
    if rows.sum() < 2 * k:
        return np.empty(0, np.int64)
    level, width = np.zeros(q, np.int64), np.empty(q)
    for a in range(q):
        level[a], width[a] = _extent(codes, domains, box, a)
    for _ in range(q):
        a = int(np.argmax(width))
        if width[a] <= 0.0:
            break
        if domains.levels[a] == 0:
            part = _halves(codes[:, a][box], rows)
        else:
            children = domains.node[level[a] - 1][domains.offset[a] + codes[:, a][box]]
            part = np.searchsorted(np.unique(children), children)
        if _allowed(part, rows, content, box, k, l):
            return part
        width[a] = 0.0
    return np.empty(0, np.int64)


@kernel
def _extent(codes: IntArray, domains: Domains, box: Ints, a: int) -> tuple[int, float]:
    """The level of the lowest node above the box (0 if ordered), and how wide the box is."""
    offset = domains.offset[a]
    if domains.levels[a] == 0:
        low, high = codes[box[0], a], codes[box[0], a]
        for s in box:
            low, high = min(low, codes[s, a]), max(high, codes[s, a])
        return 0, domains.position[offset + high] - domains.position[offset + low]
    first, level = offset + codes[box[0], a], 0
    for s in box:
        while domains.node[level, offset + codes[s, a]] != domains.node[level, first]:
            level += 1
    return level, domains.width[level, first]


@kernel
def _halves(values: IntArray, rows: Ints) -> Ints:
    """0 up to some value and 1 above it, where that divides the rows most evenly."""
    order = np.argsort(values)
    total = rows.sum()
    below, best, border = 0, -1, values[order[0]]
    for i in range(len(order) - 1):
        below += rows[order[i]]
        value = values[order[i]]
        if value != values[order[i + 1]] and min(below, total - below) > best:
            best, border = min(below, total - below), value
    upper: Bools = values > border
    return upper.astype(np.int64)


@kernel
def _allowed(part: Ints, rows: Ints, content: Content, box: Ints, k: int, l: int) -> bool:
    """Whether every part has at least k rows and l distinct values."""
    parts = part.max() + 1
    size = np.zeros(parts, np.int64)
    for i in range(len(box)):
        size[part[i]] += rows[i]
    if size.min() < k:
        return False
    if l <= 1:
        return True
    held = 0
    for s in box:
        held += content.value_start[s + 1] - content.value_start[s]
    pairs, n = np.empty(held, np.int64), 0
    for i in range(len(box)):
        for j in range(content.value_start[box[i]], content.value_start[box[i] + 1]):
            pairs[n] = content.value[j] * parts + part[i]
            n += 1
    distinct = np.bincount(np.unique(pairs) % parts, minlength=parts)
    return bool(distinct.min() >= l)
