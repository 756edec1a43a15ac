"""Kernel sums over all pairs of signatures."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Bools, Floats, IntArray, Ints
from shoal.compiling import kernel


@kernel
def kernel_sums(
    place: Floats,
    numeric: Bools,
    bandwidth: Floats,
    fold: IntArray,
    cell_start: Ints,
    cell_value: IntArray,
    cell_rows: Ints,
    first: int,
    last: int,
    out: Floats,
) -> None:
    """Writes into `out` (signature, value), for the signatures `first` to `last`, how many rows of
    all others have each value, each row weighted by how near its signature is.

    place (signature, attribute): a number as a share of its attribute's range, or a code; NaN is
    like no number. The weight is a product over attributes: Epanechnikov's 1 - (d/B)^2 of two
    numbers that are less than B apart; 1 of two equal codes, B of two that differ. Signatures of
    one fold do not inform one another; the fold -1 is none.
    """
    S, A = place.shape
    for i in range(first, last):
        for j in range(S):
            if fold[i] >= 0 and fold[i] == fold[j]:
                continue
            weight = 1.0
            for a in range(A):
                apart = abs(place[i, a] - place[j, a])
                if numeric[a] and apart < bandwidth[a]:
                    weight *= 1.0 - (apart / bandwidth[a]) ** 2
                elif numeric[a] and apart >= bandwidth[a]:
                    weight = 0.0
                    break
                elif np.isnan(apart):
                    if not (np.isnan(place[i, a]) and np.isnan(place[j, a])):
                        weight *= bandwidth[a]
                elif apart > 0.0:
                    weight *= bandwidth[a]
            if weight > 0.0:
                for c in range(cell_start[j], cell_start[j + 1]):
                    out[i, cell_value[c]] += weight * cell_rows[c]
