"""ART, steps 2 and 3: every carrier in a group with filler of one value, or of pooled values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art_cells import Assembly, Cells, extended
from shoal.grouping import Progress
from shoal.kernels.hide import hide
from shoal.knowledge import Knowledge
from shoal.table import Table

THOROUGH, QUICK = (8000, 300), (2000, 100)
"""Cells of a pool that are looked at for one carrier, and how many of them are tried."""
CHUNK = 64
SCARCE = 0.25
"""Above this part of what there is, partners are scarce: all pools are compared."""
TRIALS = 20_000
"""Otherwise as many pools per carrier as this many trials in all allow."""


def hide_among_filler(
    groups: Assembly,
    knowledge: Knowledge,
    *,
    cover: float | None,
    largest: int,
    progress: Progress,
    pooled: bool = False,
) -> None:
    """Hides the free carriers of every event; those who find nobody stay free."""
    cells, table = groups.cells, groups.table
    values = np.flatnonzero(table.value_event >= 0)
    waiting = {v: int(cells.free[cells.value == v].sum()) for v in values}
    total, done = sum(waiting.values()), 0
    for value in sorted(values, key=lambda v: -waiting[v] * table.event_r[table.value_event[v]]):
        if not waiting[value]:
            continue
        pools = _Pools(table, cells, knowledge, int(value), pooled=pooled)
        r = float(table.event_r[table.value_event[value]])
        anchors = pools.anchors
        scarce = pools.use * (r - 1) > SCARCE
        tries = len(pools.start) if scarce else max(1, TRIALS // len(anchors))
        window, length = QUICK if tries == 1 else THOROUGH
        for first in range(0, len(anchors), CHUNK):
            some = anchors[first : first + CHUNK]
            pool, begin, members = hide(
                some,
                pools.anchor_odds,
                pools.odds,
                pools.level,
                pools.start,
                pools.free,
                pools.supply,
                r,
                1 / r if cover is None else cover,
                largest,
                window,
                length,
                tries,
            )
            for i in np.flatnonzero(pool >= 0):
                partners = pools.take(members[begin[i] : begin[i + 1]])
                carrier = pools.anchor_cell[some[i]]
                cells.free[carrier] -= 1
                groups.add(np.concatenate([[carrier], partners]), "pooled" if pooled else "pure")
            done += len(some)
            progress("hiding carriers" if not pooled else "pooling", done, total)


class _Pools:
    """Filler cells by pool with their odds for one event value, in single precision."""

    def __init__(
        self, table: Table, cells: Cells, knowledge: Knowledge, x: int, *, pooled: bool
    ) -> None:
        self._cells = cells
        self._behind: dict[int, list[int]] | None = None
        filler = np.flatnonzero((cells.event < 0) & (cells.free > 0))
        width = len(table.values)
        if pooled:
            behind, pool_cell, free = _by_signature(cells, filler)
            self._behind = behind
            pool = np.full(len(pool_cell), width)
        else:
            pool_cell = filler
            pool, free = cells.value[filler], cells.free[filler]
        odds = np.empty((len(pool_cell), len(knowledge.views)), np.float32)
        self.anchor_cell = np.flatnonzero((cells.value == x) & (cells.free > 0))
        choices = [width] if pooled else [v for v in range(width) if table.value_event[v] < 0]
        self.anchor_odds = np.zeros(
            (len(self.anchor_cell), len(choices), len(knowledge.views)), np.float32
        )
        chance = np.zeros(len(self.anchor_cell))
        with np.errstate(divide="ignore", invalid="ignore"):
            for w, view in enumerate(knowledge.views):
                known = extended(view.distributions, table)
                row = view.index[cells.signature[pool_cell]]
                odds[:, w] = known[row, x] / known[row, pool]
                mine = known[view.index[cells.signature[self.anchor_cell]]]
                self.anchor_odds[:, :, w] = mine[:, [x]] / mine[:, choices]
                chance += np.log(mine[:, x]) - np.log(np.maximum(1e-300, 1.0 - mine[:, x]))
        hopeless = ~np.isfinite(self.anchor_odds).all(axis=2) | (self.anchor_odds <= 0).any(axis=2)
        self.anchor_odds[hopeless] = 0.0
        level = np.log(np.maximum(odds, np.float32(1e-30))).mean(axis=1)
        order = np.lexsort((level, pool))
        order = order[np.isfinite(odds[order]).all(axis=1)]
        self._cell = pool_cell[order]
        self.odds, self.level = np.ascontiguousarray(odds[order]), level[order]
        self.free = free[order].astype(np.int64)
        self.start = np.searchsorted(pool[order], [*choices, width + 1]).astype(np.int64)
        have = self.odds * self.free[:, None]
        self.supply = np.stack(
            [
                have[a:b].sum(axis=0, dtype=np.float64) + 1e-9
                for a, b in zip(self.start[:-1], self.start[1:], strict=True)
            ]
        )
        by_odds = np.argsort(chance, kind="stable")
        self.anchors = np.repeat(by_odds, cells.free[self.anchor_cell[by_odds]])
        # What all carriers need per unit of r-1, in their best pools, against what there is.
        needed = np.where(self.anchor_odds > 0, self.anchor_odds, np.inf).min(axis=1)
        needed[~np.isfinite(needed)] = 0.0
        demand = (needed * cells.free[self.anchor_cell][:, None]).sum(axis=0)
        self.use = float((demand / self.supply.sum(axis=0)).max()) if len(demand) else 0.0

    def take(self, members: NDArray[np.int64]) -> NDArray[np.int64]:
        """Takes one row per member out of the free cells; the cells that they come from."""
        if self._behind is None:
            chosen = self._cell[members]
            np.subtract.at(self._cells.free, chosen, 1)
            return chosen
        chosen = np.empty(len(members), np.int64)
        for i, member in enumerate(members):
            behind = self._behind[int(self._cells.signature[self._cell[member]])]
            chosen[i] = max(behind, key=lambda cell: self._cells.free[cell])
            self._cells.free[chosen[i]] -= 1
        return chosen


def _by_signature(
    cells: Cells, filler: NDArray[np.int64]
) -> tuple[dict[int, list[int]], NDArray[np.int64], NDArray[np.int64]]:
    """For pooling: the filler cells behind each signature, one of them to stand for it, rows."""
    behind: dict[int, list[int]] = {}
    for cell in filler:
        behind.setdefault(int(cells.signature[cell]), []).append(int(cell))
    first = np.array([members[0] for members in behind.values()], np.int64)
    free = np.array([cells.free[members].sum() for members in behind.values()], np.int64)
    return behind, first, free
