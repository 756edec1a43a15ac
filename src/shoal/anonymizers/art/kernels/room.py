"""How many carriers of each class the groups have room for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.compiling import kernel

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@kernel
def room_by_class(
    start: Ints,
    cell: Ints,
    number: Ints,
    copies: Ints,
    holds: Bools,
    row: NDArray[np.integer],
    classes: int,
) -> tuple[Ints, Bools]:
    """Of each class: how many of it can carry, over all groups; and whether some group has no more
    people of it than carriers.

    start: where the lines of each group begin in the next two, and their length. cell, number: how
    many people of which cell. holds, row: whether a cell's people carry, and their class.
    """
    room, there = np.zeros(classes, np.int64), np.zeros(classes, np.int64)
    full = np.zeros(classes, np.bool_)
    for g in range(len(copies)):
        carriers = 0
        for i in range(start[g], start[g + 1]):
            carriers += number[i] * holds[cell[i]]
        if carriers == 0:
            continue
        for i in range(start[g], start[g + 1]):
            there[row[cell[i]]] += number[i]
        for i in range(start[g], start[g + 1]):
            one = row[cell[i]]
            if there[one] > 0:
                room[one] += copies[g] * min(there[one], carriers)
                full[one] |= there[one] <= carriers
                there[one] = 0
    return room, full
