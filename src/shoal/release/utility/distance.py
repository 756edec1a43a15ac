"""How far the distributions of attributes, and of pairs, moved between a table and its release.

The measure is total variation, half the sum of |p - q|: the largest difference that the share of
any set of values can have. A published range is spread evenly over what it covers, a group's
values over all of its tuples, as for count queries.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from shoal.arrays import Floats, IntArray, Ints, Whole
from shoal.data.table import Table
from shoal.release.forms import form_named
from shoal.release.utility.published import Published

MAX_PAIR = 4_000_000
"""Pairs with more combinations of values than this are left out."""


def variations(table: Table, published: Published) -> dict[str, float]:
    """The total variation of each attribute."""
    after = _Marginals(table, published)
    return {
        name: _distance(_counted(codes, table.member_cells.rows, size), after.single(i))
        for i, (name, codes, size) in enumerate(_coded(table))
    }


def _coded(table: Table) -> list[tuple[str, IntArray, int]]:
    """Each attribute with the codes of the table's cells, and how many there may be."""
    signature, member, _ = table.member_cells
    coded = zip(table.spec.qi, table.signatures[signature].T, map(len, table.qi), strict=True)
    return [*coded, (table.members.name, member, len(table.members))]


def total_variations(table: Table, published: Published) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Frames (attribute, total_variation) and (attribute, other, total_variation)."""
    names, codes, sizes = zip(*_coded(table), strict=True)
    rows, after = table.member_cells.rows, _Marginals(table, published)
    double = [
        (names[i], names[j], _distance(_counted(both, rows, size).reshape(moved.shape), moved))
        for i, j in combinations(range(len(names)), 2)
        if (size := sizes[i] * sizes[j]) <= MAX_PAIR
        for both, moved in [(codes[i] * sizes[j] + codes[j], after.pair(i, j))]
    ]
    kinds = {"attribute": pl.String, "total_variation": pl.Float64}
    return (
        pl.DataFrame([*variations(table, published).items()], schema=kinds, orient="row"),
        pl.DataFrame(
            double,
            schema={"attribute": pl.String, "other": pl.String, "total_variation": pl.Float64},
            orient="row",
        ),
    )


class _Marginals:
    """Expected counts over the table's domains, from the published tables alone."""

    def __init__(self, table: Table, published: Published) -> None:
        self.published, qis = published, len(published.columns)
        spread = [
            _spread(column.labels, known.labels)
            for column, known in zip(published.columns, table.qi, strict=True)
        ]
        spread = form_named(published.form).spread(published, spread)
        spread.append(published.value_shares(table.members.labels))
        self.spread, self.x = spread, qis
        start, value, rows = published.cells.arrays
        shape = published.cells.owners, len(published.values)
        self.values = sparse.csr_array((rows, value, start), shape=shape)
        self.rows = np.asarray(self.values.sum(axis=1)).ravel()

    def single(self, i: int) -> Floats:
        if i == self.x:
            counts = np.asarray(self.values.sum(axis=0)).ravel()
        else:
            counts = np.bincount(
                self.published.coded[:, i], weights=self.rows, minlength=len(self.spread[i])
            )
        return np.asarray(counts @ self.spread[i])

    def pair(self, i: int, j: int) -> Floats:
        units = np.arange(len(self.rows))
        left = _matrix(
            self.published.coded[:, i],
            units,
            np.ones(len(units)),
            (len(self.spread[i]), len(units)),
        )
        if j == self.x:
            joint = (left @ self.values).toarray()
        else:
            right = _matrix(
                units,
                self.published.coded[:, j],
                self.rows,
                (len(units), len(self.spread[j])),
            )
            joint = (left @ right).toarray()
        return np.asarray(self.spread[i].T @ joint @ self.spread[j])


def _matrix(
    row: Whole,
    column: Whole,
    weight: NDArray[np.number],
    shape: tuple[int, int],
) -> sparse.csr_array:
    return sparse.csr_array((weight.astype(np.float64), (row, column)), shape=shape)


def _spread(published: tuple[str, ...], known: tuple[str, ...]) -> Floats:
    """published x table domain: a published value stands for itself."""
    position = {label: code for code, label in enumerate(known)}
    spread = np.zeros((len(published), len(known)))
    for row, label in enumerate(published):
        if label in position:
            spread[row, position[label]] = 1.0
    return spread


def _counted(codes: IntArray, rows: Ints, size: int) -> Floats:
    return np.bincount(codes, weights=rows, minlength=size).astype(np.float64)


def _distance(before: Floats, after: Floats) -> float:
    p, q = before / before.sum(), after / max(after.sum(), 1e-300)
    return float(np.abs(p - q).sum() / 2)
