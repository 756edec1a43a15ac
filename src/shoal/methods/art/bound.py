"""ART as the paper has it: merge the closest A-group until Theorem 1's bound holds.

Step 1: every tuple is an A-group. Step 2: for each sensitive value, a group that violates the bound
in some view merges with the closest A-group without a shared event, until its size reaches N_o' in
every view. What the paper leaves open: single tuples are the A-groups that are merged (a finished
group stays), ties go to the first signature, and a group that cannot succeed is given up and its
carrier suppressed. Its releases meet Theorem 1; the joint adversary still breaches some of them.
"""

from __future__ import annotations

import numpy as np

from shoal.groups import Progress
from shoal.knowledge import Knowledge, event_chances
from shoal.methods.art.assembly import Assembly
from shoal.methods.art.kernels.bound import merge_closest


def merge_by_bound(
    groups: Assembly, knowledge: Knowledge, *, largest: int, progress: Progress
) -> None:
    """Groups the carriers by the paper's condition; those who find no group stay free."""
    cells, table = groups.cells, groups.table
    chance = np.zeros((len(table.signatures), len(table.events), len(knowledge.views)))
    for w, view in enumerate(knowledge.views):
        chance[:, :, w] = event_chances(view, table)[view.index]
    signature, event = cells.signature.astype(np.int64), cells.event.astype(np.int64)
    carriers = np.flatnonzero(cells.event >= 0)
    tuples = np.repeat(carriers, cells.free[carriers])
    chosen = np.empty(largest + 2, np.int64)
    for done, start in enumerate(tuples):
        if cells.free[start] <= 0:
            continue
        size = merge_closest(
            int(start), chance, signature, event, cells.free, table.event_r, largest, chosen
        )
        if size > 0:
            members = chosen[:size].copy()
            np.subtract.at(cells.free, members, 1)
            groups.add(members, "bound")
        progress("merging", done + 1, len(tuples))
