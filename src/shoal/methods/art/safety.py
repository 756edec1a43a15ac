"""Whether every posterior of a group is within its limit, by the closed form (kernels/links.py)."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Bools
from shoal.methods.art.asked import Asked
from shoal.methods.art.cells import Cells
from shoal.methods.art.kernels.links import drop_linked
from shoal.methods.art.members import Members

TOLERANCE = 1e-12


def safe_groups(lines: Members, cells: Cells, x: int, y: int, asked: Asked) -> Bools:
    """Which groups of x and y are safe."""
    start, cell, number_of = lines.start, lines.cell, lines.number
    signature = cells.signature[cell]
    carriers = lines.summed(np.where(cells.value[cell] == x, number_of, 0)).astype(np.int64)
    safe = np.ones(len(start) - 1, bool)
    if not len(safe):
        return safe
    # People of one signature are alike to everybody.
    alike = lines.largest(signature) == lines.least(signature)
    mixed = np.flatnonzero(~alike)
    kinds, kind = np.unique(signature[start[:-1][alike]], return_inverse=True)
    strongest = np.zeros(len(kinds))
    left, some = mixed, lines.some(mixed)
    found, others = np.ones(len(left), bool), cells.signature[some.cell]
    columns, refused = asked.columns(x, y), asked.refused
    for number in sorted(range(len(columns)), key=lambda column: -refused[column]):
        _, index, odds, strength, known, _ = columns[number]
        np.maximum(strongest, strength[index[kinds]], out=strongest)
        drop_linked(
            some.start,
            index[others],
            some.number,
            carriers[left],
            odds,
            strength,
            known,
            TOLERANCE,
            found,
        )
        if not found.all():
            refused[number] += len(left) - int(found.sum())
            left, some = left[found], some.some(np.flatnonzero(found))
            found, others = np.ones(len(left), bool), cells.signature[some.cell]
    sizes = lines.summed(number_of)[alike]
    safe[alike] = carriers[alike] / sizes * strongest[kind] <= 1.0
    safe[mixed] = False
    safe[left] = True
    return safe
