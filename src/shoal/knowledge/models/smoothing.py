"""The kernel estimate: everybody's distribution as the mean of people like them.

Li, Li and Zhang ("Modeling and Integrating Background Knowledge in Data Anonymization", ICDE 2009)
describe an adversary by a bandwidth B per attribute: a small one for what they know precisely, a
large one for what they hardly know. Numbers are weighed by Epanechnikov's kernel, B being a share
of the attribute's range. Other attributes have no distances here: a value that differs counts B
times as much as an equal one, so that B = 1 means that the attribute is not known at all.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import IntArray
from shoal.data.table import Table
from shoal.errors import InputError, unknown
from shoal.groups.ragged import Ragged
from shoal.knowledge.knowledge import table_distribution
from shoal.knowledge.models.kernels import kernel_sums

BANDWIDTH = 0.3
"""Of every attribute that none is given for."""
BLOCK = 512
"""So many signatures are a task of their own."""

Bandwidth = float | Mapping[str, float]


@dataclass(frozen=True)
class Kernel:
    """The kernel estimate as a model."""

    bandwidth: Bandwidth = BANDWIDTH
    """Of all attributes, or of some by name."""

    name = "kernel"


def kernel_estimate(
    table: Table, bandwidth: Bandwidth = BANDWIDTH, *, fold: IntArray | None = None
) -> NDArray[np.float64]:
    """signatures x values: the kernel estimate for every signature, from all signatures, or from
    those of other folds only; the whole table's distribution where nobody is near enough."""
    widths = _widths(table, bandwidth)
    signature, value, rows = table.cells
    count = len(table.signatures)
    start = Ragged.of_owners(signature, count).start
    folds = np.full(count, -1, np.int32) if fold is None else fold.astype(np.int32)
    numeric = np.array([column.numeric for column in table.qi])
    sums = np.zeros((count, len(table.values)))

    def fill(first: int) -> None:
        last = min(first + BLOCK, count)
        kernel_sums(places, numeric, widths, folds, start, value, rows, first, last, sums)

    places = _places(table)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(fill, range(0, count, BLOCK)))
    total = sums.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        return np.where(total > 0, sums / total, table_distribution(table))


def _widths(table: Table, bandwidth: Bandwidth) -> NDArray[np.float64]:
    given = bandwidth if isinstance(bandwidth, Mapping) else dict.fromkeys(table.spec.qi, bandwidth)
    for name, width in given.items():
        if name not in table.spec.qi:
            problem = f'A bandwidth is given for "{name}", which is no QI'
            raise unknown("bandwidth", problem, name, table.spec.qi)
        if not 0 < width <= 1:
            raise InputError(
                "bandwidth",
                f'The bandwidth {width} of "{name}" is not a share.',
                "Give a number above 0 (known exactly) up to 1 (hardly known).",
            )
    return np.array([given.get(name, BANDWIDTH) for name in table.spec.qi], np.float64)


def _places(table: Table) -> NDArray[np.float64]:
    """signatures x QIs: numbers as shares of their range, NaN where missing; codes of others."""
    columns = []
    for column, codes in zip(table.qi, table.signatures.T, strict=True):
        domain = np.arange(len(column), dtype=np.float64)
        if column.numeric:
            domain = column.values.cast(float).to_numpy()
            span = np.nanmax(domain) - np.nanmin(domain) if np.isfinite(domain).any() else 0.0
            domain = domain / span if span > 0 else domain * 0.0
        columns.append(domain[codes])
    return np.column_stack(columns)
