"""Arrays that grow, by loops: a slice that is assigned would be compiled with the text of its
errors, which takes longer than all else."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Ints
from shoal.compiling import part


@part
def widened(numbers: Ints, more: int) -> Ints:
    """The same with room for more columns."""
    made = np.empty((len(numbers), 2 * numbers.shape[1] + more), np.int64)
    for r in range(len(numbers)):
        for i in range(numbers.shape[1]):
            made[r, i] = numbers[r, i]
    return made
