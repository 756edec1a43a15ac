"""ART, step 5: groups of several events, each checked with its exact joint posterior."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art_cells import Assembly
from shoal.grouping import Progress
from shoal.kernels.mixed import grow_mixed, join_groups
from shoal.knowledge import Knowledge
from shoal.table import IntArray, Table

NEIGHBOURS = 96
DIRECTIONS = 24
CHUNK = 256


def mix_events(groups: Assembly, knowledge: Knowledge, *, seed: int, progress: Progress) -> None:
    """Groups the free carriers with one another (and with free filler); the rest stays free."""
    cells, table = groups.cells, groups.table
    waiting = int(cells.free[cells.event >= 0].sum())
    if not waiting:
        return
    smallest = math.ceil(float(table.event_r.min()))
    largest = min(3 * math.ceil(float(table.event_r.max())) + 4, 24)
    if smallest > largest:
        return
    carriers = np.unique(cells.signature[(cells.event >= 0) & (cells.free > 0)])
    near = _neighbours(table, knowledge, carriers, seed)
    rows = np.concatenate([view.distributions for view in knowledge.views])
    first_row = np.cumsum([0] + [len(view.distributions) for view in knowledge.views])[:-1]
    index = np.stack([view.index for view in knowledge.views])
    signature, value = cells.signature.astype(np.int64), cells.value.astype(np.int64)
    starts = np.searchsorted(signature, np.arange(len(table.signatures) + 1)).astype(np.int64)
    left = np.bincount(value, weights=cells.free, minlength=len(table.values)).astype(np.int64)
    members = np.zeros((waiting, largest), np.int64)
    sizes = np.zeros(waiting, np.int64)
    home = np.full(len(table.signatures), -1, np.int64)
    older = np.full(waiting, -1, np.int64)
    order = np.arange(len(index))
    judged = (index, first_row, rows, table.value_event.astype(np.int64), table.event_r, order)
    made = 0
    for _ in range(3):
        tuples = _order(groups, left)
        before = int(cells.free[cells.event >= 0].sum())
        for first in range(0, len(tuples), CHUNK):
            made = grow_mixed(
                tuples[first : first + CHUNK],
                near,
                starts,
                signature,
                value,
                cells.free,
                left,
                *judged,
                largest,
                members,
                sizes,
                home,
                older,
                made,
            )
            progress("mixing events", first, len(tuples))
        if int(cells.free[cells.event >= 0].sum()) in (0, before):
            break
    tuples = _order(groups, left)
    for first in range(0, len(tuples), CHUNK):
        join_groups(
            tuples[first : first + CHUNK],
            near,
            signature,
            value,
            cells.free,
            left,
            *judged,
            members,
            sizes,
            home,
            older,
        )
        progress("joining groups", first, len(tuples))
    for g in range(made):
        groups.add(members[g, : sizes[g]].copy(), "mixed")


def _order(groups: Assembly, left: NDArray[np.int64]) -> NDArray[np.int64]:
    """Free carriers as repeated cells, frequent values first: they need the most partners."""
    cells = groups.cells
    carriers = np.flatnonzero((cells.event >= 0) & (cells.free > 0))
    carriers = carriers[np.argsort(-left[cells.value[carriers]], kind="stable")]
    return np.repeat(carriers, cells.free[carriers])


def _neighbours(table: Table, knowledge: Knowledge, wanted: IntArray, seed: int) -> IntArray:
    """The signatures nearest to each of the `wanted` ones, by their distributions in all views seen
    from a few random directions: good enough to propose partners, which are then checked exactly.
    Rows of other signatures hold -1."""
    from scipy.spatial import KDTree

    random = np.random.default_rng(seed)
    place = np.zeros((len(table.signatures), DIRECTIONS), np.float32)
    for view in knowledge.views:
        directions = random.standard_normal((view.distributions.shape[1], DIRECTIONS))
        place += (np.sqrt(view.distributions) @ directions).astype(np.float32)[view.index]
    count = min(NEIGHBOURS, len(place))
    near = np.full((len(place), count), -1, np.int32)
    near[wanted] = KDTree(place).query(place[wanted], k=count)[1].reshape(len(wanted), count)
    return near
