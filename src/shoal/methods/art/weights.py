"""What each member of a group counts as: their chance, to whoever knows the sample and all counts.

Of a cell of the matched sample with c carriers, whoever knows how it was drawn believes the chances
of a conditional Bernoulli design (kernels/links.py) with the odds that people have inside the
sample. Nobody counts as more than their limit; what is cut off goes to the others of the cell.
People added by need count as nothing, unless the cell is too rich for its limits: then the group is
taken for the cell.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats
from shoal.methods.art.asked import Asked
from shoal.methods.art.cells import Cells
from shoal.methods.art.kernels.links import weigh
from shoal.methods.art.members import Members


def member_weights(members: Members, cells: Cells, asked: Asked, rate: float) -> Floats:
    """Of each line; not a number in groups that share equally."""
    weight = np.full(len(members.cell), np.nan)
    carries = cells.event[members.cell] >= 0
    carriers = members.summed(np.where(carries, members.number, 0)).astype(np.int64)
    event = np.full(len(carriers), -1)
    event[members.owner[carries]] = cells.event[members.cell[carries]]
    for number in np.unique(event[event >= 0]):
        mine = np.flatnonzero(event == number)
        some = members.some(mine)
        signature = cells.signature[some.cell]
        answer = np.full(len(some.cell), np.nan)
        weigh(
            some.start,
            some.number,
            some.is_sampled,
            asked.sample_odds(int(number), rate * float(asked.table.event_r[number]))[signature],
            asked.most_counted(int(number))[signature],
            carriers[mine],
            answer,
        )
        weight[(event == number)[members.owner]] = answer
    return weight
