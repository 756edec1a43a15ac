"""Answers to count queries: exactly from a table, and as estimated from a release alone.

Bucketized: the sum over groups of (values asked for) x (share of the group's tuples that match).
Generalized: the sum over classes of (values asked for) x the product over QIs of the share of the
range's domain values that the query allows. What a published value stands for when it is a set
event's label or the pooled value: `Published.value_shares`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from shoal.table import Table
from shoal.utility.kernels import count_cells, count_classes
from shoal.utility.published import Floats, Published
from shoal.utility.workload import Allowed, Queries

BLOCK = 2048
"""Queries that are answered together: their bits of one signature fit the fastest cache."""


def exact_counts(table: Table, queries: Queries) -> Floats:
    """How many rows of the table each query really selects."""
    signature, member, rows = table.member_cells
    start = np.searchsorted(signature, np.arange(len(table.signatures) + 1))
    counts = rows.astype(np.float64)
    coded = table.signatures + _offsets(queries.allowed)

    def answer(block: slice) -> Floats:
        weights = np.ascontiguousarray(queries.sensitive_allowed[:, block].T, dtype=np.float64)
        return count_cells(coded, start, member, counts, _packed(queries.allowed, block), weights)

    return _in_blocks(len(queries), answer)


def estimate_counts(published: Published, queries: Queries) -> Floats:
    """How many rows each query selects, as a recipient of the release would estimate it."""
    allowed = [
        _rows_for(column.labels, known, of)
        for column, known, of in zip(
            published.columns, queries.labels, queries.allowed, strict=True
        )
    ]
    shares = published.value_shares(queries.sensitive_labels)
    weights = (shares @ queries.sensitive_allowed.astype(np.float64)).T
    return answer_queries(published, allowed, np.ascontiguousarray(weights))


def answer_queries(published: Published, allowed: Sequence[Allowed], weights: Floats) -> Floats:
    """Estimates for predicates over the published domains (domain x queries, per QI), and a weight
    for each query and published value."""
    cells = published.cells

    def from_signatures(block: slice) -> Floats:
        bits = _packed(allowed, block)
        return count_cells(coded, cells.start, cells.value, cells.rows, bits, weights[block])

    def from_classes(block: slice) -> Floats:
        overlaps = [
            (cover.astype(np.float32) @ some[:, block].astype(np.float32))
            / cover.sum(axis=1, keepdims=True)
            for cover, some in zip(published.covers, allowed, strict=True)
        ]
        overlap = np.concatenate(overlaps).astype(np.float64)
        return count_classes(coded, cells.start, cells.value, cells.rows, overlap, weights[block])

    bucketized = published.form == "bucketized"
    coded = published.coded + _offsets(allowed if bucketized else published.covers)
    return _in_blocks(len(weights), from_signatures if bucketized else from_classes)


def _offsets(stacked: Sequence[NDArray[np.bool_]]) -> NDArray[np.int32]:
    """Where each QI starts when all are stacked into one matrix."""
    return np.append(0, np.cumsum([len(one) for one in stacked])[:-1]).astype(np.int32)


def _packed(allowed: Sequence[Allowed], block: slice) -> NDArray[np.uint64]:
    """Values of all QIs x words of 64 queries."""
    stacked = np.concatenate([one[:, block] for one in allowed])
    packed = np.packbits(stacked, axis=1, bitorder="little")
    padded = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view("<u8")


def _rows_for(published: tuple[str, ...], known: tuple[str, ...], allowed: Allowed) -> Allowed:
    """The predicate rows of a published domain, out of those of the queries' domain."""
    if published == known:
        return allowed
    position = {label: code for code, label in enumerate(known)}
    found = np.array([position.get(label, -1) for label in published])
    return np.asarray(allowed[found] & (found >= 0)[:, None])


def _in_blocks(queries: int, answer: Callable[[slice], Floats]) -> Floats:
    blocks = [slice(at, min(at + BLOCK, queries)) for at in range(0, queries, BLOCK)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return np.concatenate(list(pool.map(answer, blocks)))
