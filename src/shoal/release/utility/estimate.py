"""Answers to count queries: exactly from a table, and as estimated from a release alone.

An estimate is the sum over groups of (values asked for) x (share of the group's people who match);
the form says what that share is. What a published value stands for when it is a set event's label
or the pooled value: `Published.value_shares`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from shoal.arrays import Bools, Floats
from shoal.data.table import Table
from shoal.data.table.survey import UNITS
from shoal.groups.ragged import Ragged
from shoal.release.forms import form_named
from shoal.release.utility.errors import Spread
from shoal.release.utility.kernels import count_cells, offsets, packed
from shoal.release.utility.published import Published
from shoal.release.utility.workload import Queries

BLOCK = 2048
"""Queries that are answered together: their bits of one signature fit the fastest cache."""


def exact_counts(table: Table, queries: Queries, *, weighted: bool = False) -> Floats:
    """How many rows of the table each query really selects; or of how many people of the
    population, by survey weights."""
    signature, member, rows = table.member_cells
    start = Ragged.of_owners(signature, len(table.signatures)).start
    counts = rows.astype(np.float64)
    if weighted:
        assert table.weights is not None
        counts = table.weights / UNITS
    coded = table.signatures + offsets(queries.allowed)

    def answer(block: slice) -> Floats:
        weights = np.ascontiguousarray(queries.sensitive_allowed[:, block].T, dtype=np.float64)
        bits = packed(queries.allowed, block)
        return count_cells(coded, start, np.ascontiguousarray(member), counts, bits, weights)

    return _in_blocks(len(queries), answer)


def estimate_counts(published: Published, queries: Queries) -> Floats:
    """How many rows each query selects, as a recipient of the release would estimate it."""
    return answer_queries(published, *_asked(published, queries))


def estimate_errors(published: Published, queries: Queries) -> Iterator[float]:
    """The standard error of each of these estimates, for queries about few different events."""
    allowed, weights = _asked(published, queries)
    form, known = form_named(published.form), dict[bytes, Spread]()
    for number, parts in enumerate(weights):
        spread = known.get(parts.tobytes()) or published.chances.asked(parts)
        known[parts.tobytes()] = spread
        one = [some[:, number : number + 1] for some in allowed]
        yield spread.standard_error(form.matching(published, one))


def _asked(published: Published, queries: Queries) -> tuple[list[Bools], Floats]:
    """Predicates over the published domains, and which part of each published value a query asks
    for."""
    allowed = [
        _rows_for(column.labels, known, of)
        for column, known, of in zip(
            published.columns, queries.labels, queries.allowed, strict=True
        )
    ]
    shares = published.value_shares(queries.sensitive_labels)
    weights = (shares @ queries.sensitive_allowed.astype(np.float64)).T
    return allowed, np.ascontiguousarray(weights)


def answer_queries(published: Published, allowed: Sequence[Bools], weights: Floats) -> Floats:
    """Estimates for predicates over the published domains (domain x queries, per QI), and a weight
    for each query and published value."""
    answer = form_named(published.form).answers(published, allowed, weights)
    return _in_blocks(len(weights), answer)


def _rows_for(published: tuple[str, ...], known: tuple[str, ...], allowed: Bools) -> Bools:
    """The predicate rows of a published domain, out of those of the queries' domain."""
    if published == known:
        return allowed
    position = {label: code for code, label in enumerate(known)}
    places = np.array([position.get(label, -1) for label in published])
    return np.asarray(allowed[places] & (places >= 0)[:, None])


def _in_blocks(queries: int, answer: Callable[[slice], Floats]) -> Floats:
    blocks = [slice(at, min(at + BLOCK, queries)) for at in range(0, queries, BLOCK)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return np.concatenate(list(pool.map(answer, blocks)))
