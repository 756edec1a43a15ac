"""Workload: random count queries over a table, `COUNT(*) WHERE pred(A1) AND .. AND pred(X)`.

Each query restricts `dimensions` (the paper's qd) random QIs and the sensitive attribute X. A
predicate allows b = ceil(|A| * s^(1/(qd+1))) distinct random values of the attribute's domain, so
that under independence a query selects about the share s of the rows.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Bools, Floats
from shoal.data.spec import checked_whole
from shoal.data.table import Column, Table
from shoal.data.table.survey import UNITS
from shoal.errors import InputError
from shoal.groups.generalization import has_order, missing_code
from shoal.groups.ragged import Ragged
from shoal.release.forms import form_named
from shoal.release.utility.errors import Spread
from shoal.release.utility.kernels import answer_cells, offsets, packed
from shoal.release.utility.published import Published

MAX_CELLS = 1 << 31
CHUNK = 1 << 22


@dataclass(frozen=True, eq=False)
class Queries:
    """Drawn queries: for each attribute, the values that each query allows."""

    attributes: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    """The domain of each QI."""
    allowed: tuple[Bools, ...]
    """Per QI; all true where a query does not restrict it."""
    sensitive_labels: tuple[str, ...]
    sensitive_allowed: Bools

    def __len__(self) -> int:
        return int(self.sensitive_allowed.shape[1])


@dataclass(frozen=True, kw_only=True)
class Workload:
    """How queries are drawn. The same table and workload give the same queries."""

    queries: int = 10_000
    dimensions: int | None = None
    """How many QIs a query restricts (the paper's qd); None means all."""
    selectivity: float = 0.05
    """The share of the rows that a query is expected to select (the paper's s)."""
    contiguous: bool = False
    """Numeric QIs and dates get one range of values instead of scattered ones."""
    seed: int = 0

    def __post_init__(self) -> None:
        checked_whole("queries", self.queries)
        if self.dimensions is not None:
            checked_whole("dimensions", self.dimensions)
        if not 0 < self.selectivity <= 1:
            raise InputError(
                "selectivity",
                f"selectivity is {self.selectivity!r}.",
                "Give a share above 0 and up to 1, such as 0.05.",
            )

    def draw(self, table: Table) -> Queries:
        """The workload's queries over a table."""
        rng = np.random.default_rng([self.seed, 0])
        qd = self.qd(table)
        chosen = self._chosen_attributes(len(table.qi), qd, rng)
        allowed = []
        for column, restricted in zip(table.qi, chosen.T, strict=True):
            ranges = self.contiguous and has_order(column)
            picked = self._predicates(column, rng, qd=qd, ranges=ranges)
            picked |= ~restricted
            allowed.append(picked)
        return Queries(
            attributes=table.spec.qi,
            labels=tuple(column.labels for column in table.qi),
            allowed=tuple(allowed),
            sensitive_labels=table.members.labels,
            sensitive_allowed=self._predicates(table.members, rng, qd=qd, ranges=False),
        )

    def draw_protected(self, table: Table) -> Queries:
        """The same queries, each asking for one protected event (a random one if several)."""
        queries = self.draw(table)
        rng = np.random.default_rng([self.seed, 1])
        code = {label: position for position, label in enumerate(table.members.labels)}
        holds = np.zeros((len(table.members), len(table.events)), dtype=bool)
        for position, event in enumerate(table.events):
            holds[[code[value] for value in event.values], position] = True
        asked = rng.integers(len(table.events), size=self.queries)
        return replace(queries, sensitive_allowed=holds[:, asked])

    def qd(self, table: Table) -> int:
        """The number of QIs that a query restricts."""
        qis = len(table.qi)
        if self.dimensions is not None and self.dimensions > qis:
            raise InputError(
                "query-dimensions",
                f"Queries over {self.dimensions} QIs were asked for, and the table has {qis}.",
                f"Give a number from 1 to {qis}.",
            )
        return self.dimensions or qis

    def width(self, domain: int, *, qd: int) -> int:
        """How many values of a domain of that size a predicate allows: the paper's b."""
        # The small step back keeps a product that is whole but for rounding from growing by one.
        share: float = self.selectivity ** (1 / (qd + 1))
        wanted = math.ceil(domain * share - 1e-9)
        return min(domain, max(1, wanted))

    def _chosen_attributes(self, qis: int, qd: int, rng: np.random.Generator) -> Bools:
        order = np.argsort(rng.random((self.queries, qis)), axis=1)
        return np.asarray(np.argsort(order, axis=1) < qd)

    def _predicates(
        self, column: Column, rng: np.random.Generator, *, qd: int, ranges: bool
    ) -> Bools:
        size = len(column)
        if size * self.queries > MAX_CELLS:
            raise InputError(
                "workload-size",
                f'"{column.name}" has {size:,} values, too many for {self.queries:,} queries.',
                "Ask fewer queries, or round the values.",
            )
        width = self.width(size, qd=qd)
        if ranges:
            return self._ranges(size, missing_code(column), width, rng)
        picked = np.zeros((size, self.queries), dtype=bool)
        step = max(1, CHUNK // size)
        for start in range(0, self.queries, step):
            stop = min(start + step, self.queries)
            order = np.argsort(rng.random((size, stop - start)), axis=0)
            np.put_along_axis(picked[:, start:stop], order[:width], True, axis=0)
        return picked

    def _ranges(self, size: int, ordered: int, width: int, rng: np.random.Generator) -> Bools:
        """One run of values per query; a missing value lies in no range."""
        width = min(width, ordered)
        first = rng.integers(ordered - width + 1, size=self.queries)
        codes = np.arange(size)[:, None]
        return np.asarray((codes >= first) & (codes < first + width))


# Answers to count queries: exactly from a table, and as estimated from a release alone.
#
# An estimate is the sum over groups of (values asked for) x (share of the group's people who
# match); the form says what that share is. What a published value stands for when it is a set
# event's label or the pooled value: `Published.value_shares`.

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
        return answer_cells(coded, start, np.ascontiguousarray(member), counts, bits, weights)

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
