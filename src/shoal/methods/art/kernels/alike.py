"""How many of a signature's people make a group that nobody can tell apart."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Bools, Floats, Ints
from shoal.compiling import kernel


@kernel
def choose_alike(
    start: Ints, free: Ints, value: Ints, carries: Bools, strength: Floats, least: int, chosen: Ints
) -> None:
    """For each signature, how many people of each of its cells form one group, of at least `least`;
    0 if none do.

    The people of one signature are alike in every view, so that whoever reads their group sees an
    event in proportion to how many carry it: strength times carriers must not exceed the group.
    All carriers are taken and as many others as they need. Where others are too few, carriers are
    left out one by one, of the event that lacks most.

    start: the first cell of each signature, and the number of cells; free, value: of each cell;
    carries: values x events; strength: signatures x events, one over the limit; chosen: written.
    """
    events = carries.shape[1]
    held = np.empty(events, np.int64)
    for s in range(len(start) - 1):
        held[:] = 0
        size = others = 0
        for cell in range(start[s], start[s + 1]):
            chosen[cell] = free[cell]
            size += free[cell]
            carrying = False
            for e in range(events):
                if carries[value[cell], e]:
                    held[e] += free[cell]
                    carrying = True
            if not carrying:
                others += free[cell]
        while size > 0:
            worst = _most_linked(held, strength[s])
            if held[worst] / size * strength[s, worst] <= 1.0:
                break
            best = -1
            for cell in range(start[s], start[s + 1]):
                if carries[value[cell], worst] and chosen[cell] > 0:
                    if best < 0 or chosen[cell] > chosen[best]:
                        best = cell
            chosen[best] -= 1
            size -= 1
            for e in range(events):
                held[e] -= carries[value[best], e]
        # Others who are not needed stay out, and all if there is no carrier or too few of them.
        worst = _most_linked(held, strength[s])
        if size < least or not held.any():
            chosen[start[s] : start[s + 1]] = 0
            continue
        smallest = max(size - others, int(held[worst] * strength[s, worst]), least)
        while smallest > 0 and held[worst] / smallest * strength[s, worst] > 1.0:
            smallest += 1
        _leave_out(size - smallest, start[s], start[s + 1], value, carries, chosen)


@kernel
def _most_linked(held: Ints, strength: Floats) -> int:
    """The event whose share is most above its limit, or nearest to it."""
    worst = 0
    for e in range(1, len(held)):
        if held[e] * strength[e] > held[worst] * strength[worst]:
            worst = e
    return worst


@kernel
def _leave_out(
    spare: int, first: int, last: int, value: Ints, carries: Bools, chosen: Ints
) -> None:
    """Leaves out `spare` people without an event, of the commonest values first."""
    while spare > 0:
        best = -1
        for cell in range(first, last):
            if chosen[cell] > 0 and not carries[value[cell]].any():
                if best < 0 or chosen[cell] > chosen[best]:
                    best = cell
        chosen[best] -= 1
        spare -= 1
