"""Lines of groups in the order of their cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.compiling import kernel


@kernel
def sort_lines(
    start: NDArray[np.int64], cell: NDArray[np.int32], number: NDArray[np.integer]
) -> None:
    """Puts the lines of each group in the order of `cell`, in place: they are few, or nearly in
    order. `start` is where those of each group begin, and their length."""
    for g in range(len(start) - 1):
        for i in range(start[g] + 1, start[g + 1]):
            one, many, place = cell[i], number[i], i
            while place > start[g] and cell[place - 1] > one:
                cell[place], number[place] = cell[place - 1], number[place - 1]
                place -= 1
            cell[place], number[place] = one, many
