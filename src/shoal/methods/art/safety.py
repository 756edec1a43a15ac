"""Whether every posterior of a group is within its limit, by the closed form (kernels/links.py)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Floats
from shoal.methods.art.asked import Asked
from shoal.methods.art.cells import Cells
from shoal.methods.art.kernels.links import drop_linked
from shoal.methods.art.members import Members

TOLERANCE = 1e-12


def safe_groups(lines: Members, cells: Cells, x: int, y: int, asked: Asked) -> NDArray[np.bool_]:
    """Which groups of x and y are safe."""
    start, cell, number = lines.start, lines.cell, lines.number
    signature = cells.signature[cell]
    carriers = lines.summed(np.where(cells.value[cell] == x, number, 0)).astype(np.int64)
    safe = np.ones(len(start) - 1, bool)
    if not len(safe):
        return safe
    # People of one signature are alike to everybody.
    alike = lines.largest(signature) == lines.least(signature)
    mixed = np.flatnonzero(~alike)
    some = lines.some(mixed)
    kinds, kind = np.unique(signature[start[:-1][alike]], return_inverse=True)
    strongest = np.zeros(len(kinds))
    found, others = np.ones(len(mixed), bool), cells.signature[some.cell]
    for index, odds, strength, known in _columns(asked, x, y):
        np.maximum(strongest, strength[index[kinds]], out=strongest)
        drop_linked(
            some.start,
            index[others],
            some.number,
            carriers[mixed],
            odds,
            strength,
            known,
            TOLERANCE,
            found,
        )
    sizes = lines.summed(number)[alike]
    safe[alike] = carriers[alike] / sizes * strongest[kind] <= 1.0
    safe[mixed] = found
    return safe


def _columns(
    asked: Asked, x: int, y: int
) -> Iterator[tuple[NDArray[np.integer], Floats, Floats, Floats]]:
    """Column by column: where people stand by their signatures, and there the odds of x against y,
    one over the limit, and the probabilities that a reader knows of them."""
    if asked.masks is not None:
        for block in asked.masks.blocks(x):
            everybody = np.arange(len(block.odds), dtype=np.int32)
            for view in range(block.odds.shape[1]):
                odds, strength, *rest = (
                    np.ascontiguousarray(one[:, view])
                    for one in (block.odds, block.strength, block.chance, *block.values)
                )
                yield everybody, odds, strength, np.column_stack(rest)
        return
    for column in asked.columns(x, np.array([y], np.int32)):
        known = np.column_stack([column.chance, column.values])
        yield column.view.index, column.odds[:, 0].copy(), column.strength, known
