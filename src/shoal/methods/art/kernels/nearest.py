"""The nearest of many, in order: a selection and a sort that take little time to compile.

NumPy's own, inside a kernel, would be compiled with all their options and error messages.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Ints, Singles
from shoal.compiling import search_part


@search_part
def nearest_first(distance: Singles, cells: Ints) -> None:
    """Sorts distances, and their cells with them; of equal ones the smaller cell comes first."""
    found = len(cells)
    gap = 1
    while gap < found:
        gap = 3 * gap + 1
    while gap > 1:  # Shell's sort
        gap = gap // 3
        for i in range(gap, found):
            far, cell, j = distance[i], cells[i], i
            while j >= gap:
                other = distance[j - gap]
                if other < far or (other == far and cells[j - gap] < cell):
                    break
                distance[j], cells[j] = other, cells[j - gap]
                j -= gap
            distance[j], cells[j] = far, cell


@search_part
def smallest_but(left: Singles, skipped: int) -> np.float32:
    """The smallest number but for so many smaller ones (quickselect, in place)."""
    low, high = 0, len(left) - 1
    while True:
        # Not the middle, where a list that falls and then rises has its smallest number.
        pivot = left[low + (high - low) // 4]
        below, i, above = low, low, high
        while i <= above:
            number = left[i]
            if number < pivot:
                left[i], left[below] = left[below], number
                below += 1
                i += 1
            elif number > pivot:
                left[i], left[above] = left[above], number
                above -= 1
            else:
                i += 1
        if skipped < below:
            high = below - 1
        elif skipped > above:
            low = above + 1
        else:
            return np.float32(pivot)
