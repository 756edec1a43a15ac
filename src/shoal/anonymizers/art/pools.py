"""The filler rows that carriers of one event value can be hidden among, by pool, with their odds.

A *pool* is the filler cells of one value, or all signatures if values are published pooled; the
odds of a cell are G(x)/G(y), of the event value x against the pool's y, in every view. They are
held once, in single precision: everything else here is by cell, by carrier or by view.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art.cells import Cells
from shoal.knowledge import Knowledge, with_pool
from shoal.table import Table

Ints = NDArray[np.int64]
SMALLEST = np.float32(1e-30)
"""Odds below this count as this in the mean of their logarithms."""


class Pools:
    """The pools for the carriers of the value `x`."""

    anchor_cell: Ints
    """The cells of the carriers who are still free; an *anchor* is a position in it."""
    anchor_odds: NDArray[np.float32]
    """anchors x pools x views; 0 in all views where a pool is no option."""
    odds: NDArray[np.float32]
    """cells x views; a pool's cells lie from start[y] to start[y+1], sorted by level."""
    level: NDArray[np.float32]
    """The mean log odds of a cell."""
    free: Ints
    supply: NDArray[np.float64]
    """pools x views: the odds of all rows of a pool that are free, added up."""

    def __init__(
        self, table: Table, cells: Cells, knowledge: Knowledge, x: int, *, pooled: bool
    ) -> None:
        self._table, self._cells, self._knowledge, self._x = table, cells, knowledge, x
        other = len(table.values)
        choices = np.array([other]) if pooled else np.flatnonzero(table.value_event < 0)
        filler = np.flatnonzero((cells.event < 0) & (cells.free > 0))
        # Cells are in order of signature: one pooled cell is a run of them.
        runs = _runs(cells.signature[filler]) if pooled else np.arange(len(filler) + 1)
        value = np.full(len(runs) - 1, other) if pooled else cells.value[filler]
        signature = cells.signature[filler[runs[:-1]]]
        level, usable = self._levels(signature, value)
        order = np.lexsort((level, value))
        order = order[usable[order]]
        self._behind, self._first, self._last = filler, runs[:-1][order], runs[1:][order]
        rows = np.concatenate([[0], np.cumsum(cells.free[filler])])
        self.free = rows[self._last] - rows[self._first]
        self.level = level[order].astype(np.float32)
        self.start = np.searchsorted(value[order], np.append(choices, other + 1)).astype(np.int64)
        self._fill_odds(signature[order], value[order])
        self.anchor_cell = np.flatnonzero((cells.value == x) & (cells.free > 0))
        self._fill_anchor_odds(choices)

    @property
    def anchor_rows(self) -> Ints:
        """How many free carriers each anchor stands for."""
        return np.asarray(self._cells.free[self.anchor_cell])

    def anchor_need(self) -> NDArray[np.float64]:
        """How many average filler rows a carrier's odds are worth, on average over views; odds are
        those against having no event. About r times as many partners does the carrier need."""
        cells, filler = self._cells, self._behind
        rows = np.bincount(cells.signature[filler], cells.free[filler], len(self._table.signatures))
        need = np.zeros(len(self.anchor_cell))
        for _, index, chance in self._by_view():
            odds = _odds(chance, np.arange(len(chance)), self._x, np.array(-1))[index]
            there = np.isfinite(odds)
            mean = (odds[there] * rows[there]).sum() / max(1.0, rows.sum())
            need += odds[cells.signature[self.anchor_cell]] / max(mean, SMALLEST)
        return need / len(self._knowledge.views)

    def take(self, members: Ints) -> Ints:
        """Takes one row per member out of the table's free cells; the cells that they come from:
        where several stand behind a member, the one with most rows left."""
        free, chosen = self._cells.free, self._behind[self._first[members]]
        alone = self._last[members] - self._first[members] == 1
        np.subtract.at(free, chosen[alone], 1)
        for i in np.flatnonzero(~alone):
            behind = self._behind[self._first[members[i]] : self._last[members[i]]]
            chosen[i] = behind[np.argmax(free[behind])]
            free[chosen[i]] -= 1
        return chosen

    def _by_view(self) -> Iterator[tuple[int, NDArray[np.int32], NDArray[np.float64]]]:
        for w, view in enumerate(self._knowledge.views):
            yield w, view.index, with_pool(view, self._table)

    def _levels(
        self, signature: NDArray[np.int32], value: NDArray[np.integer]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The mean log odds of cells, and which of them have finite odds in every view."""
        level, usable = np.zeros(len(signature)), np.ones(len(signature), bool)
        for _, index, chance in self._by_view():
            odds = _odds(chance, index[signature], self._x, value)
            usable &= np.isfinite(odds)
            level += np.log(np.maximum(odds, SMALLEST, out=odds), out=odds)
        return level / len(self._knowledge.views), usable

    def _fill_odds(self, signature: NDArray[np.int32], value: NDArray[np.integer]) -> None:
        pools = len(self.start) - 1
        self.odds = np.empty((len(signature), len(self._knowledge.views)), np.float32)
        self.supply = np.empty((pools, self.odds.shape[1]))
        pool = np.repeat(np.arange(pools), np.diff(self.start))
        for w, index, chance in self._by_view():
            odds = _odds(chance, index[signature], self._x, value)
            self.odds[:, w] = odds
            self.supply[:, w] = np.bincount(pool, odds * self.free, minlength=pools) + 1e-9

    def _fill_anchor_odds(self, choices: NDArray[np.integer]) -> None:
        signature = self._cells.signature[self.anchor_cell]
        shape = (len(signature), len(choices))
        self.anchor_odds = np.empty((*shape, self.odds.shape[1]), np.float32)
        option = np.ones(shape, bool)
        for w, index, chance in self._by_view():
            odds = _odds(chance, index[signature][:, None], self._x, choices)
            option &= np.isfinite(odds) & (odds > 0)
            self.anchor_odds[:, :, w] = odds
        self.anchor_odds[~option] = 0.0


def _odds(
    chance: NDArray[np.float64], row: NDArray[np.integer], x: int, y: NDArray[np.integer]
) -> NDArray[np.float32]:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.asarray(chance[row, x] / chance[row, y], np.float32)


def _runs(numbers: NDArray[np.integer]) -> Ints:
    """Where each stretch of equal numbers begins, and where the last ends."""
    return np.append(np.flatnonzero(np.diff(numbers, prepend=-1)), len(numbers)).astype(np.int64)
