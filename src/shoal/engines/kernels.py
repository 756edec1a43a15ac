"""The rows of a table by cell, in one pass."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.compiling import kernel


@kernel
def rows_by_cell(
    rows: NDArray[np.int32],
    row_signature: NDArray[np.int32],
    row_value: NDArray[np.int32],
    signature_start: NDArray[np.int64],
    cell_value: NDArray[np.int32],
    cell_start: NDArray[np.int64],
) -> NDArray[np.int32]:
    """The rows sorted by cell, within a cell in the order in which they are given.

    The cells of signature s are `signature_start[s]` to `signature_start[s+1]`, with rising
    values; the rows of cell c go to `cell_start[c]` to `cell_start[c+1]`.
    """
    ordered = np.empty(len(rows), np.int32)
    filled = cell_start[:-1].copy()
    for row in rows:
        low = signature_start[row_signature[row]]
        high = signature_start[row_signature[row] + 1] - 1
        while low < high:
            middle = (low + high) // 2
            if cell_value[middle] < row_value[row]:
                low = middle + 1
            else:
                high = middle
        ordered[filled[low]] = row
        filled[low] += 1
    return ordered
