"""The filler rows that carriers of one event value can be hidden among, by pool, with their odds.

A *pool* is the filler cells of one value, or all signatures if values are published pooled. A
*column* is one reader's odds of the event value x against the pool's y in one view; the *demand* of
a person are its odds over its limit there: a group is safe in a column if the odds of all come to
the demand of each. All of it is held in single precision.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art.asked import Asked
from shoal.anonymizers.art.cells import Cells

Ints = NDArray[np.int64]
Singles = NDArray[np.float32]
SMALLEST = np.float32(1e-30)
"""Odds below this count as this in the mean of their logarithms."""


class Pools:
    """The pools for the carriers of the value `x`."""

    anchor_cell: Ints
    """The cells of the carriers who are still free; an *anchor* is a position in it."""
    anchor_odds: NDArray[np.float32]
    """anchors x pools x columns; 0 in all of them where a pool is no option."""
    anchor_demand: NDArray[np.float32]
    """The same of their demands."""
    odds: NDArray[np.float32]
    """cells x columns; a pool's cells lie from start[y] to start[y+1], sorted by level."""
    demand: NDArray[np.float32]
    """cells x columns."""
    level: NDArray[np.float32]
    """The mean log odds of a cell."""
    free: Ints
    supply: NDArray[np.float64]
    """pools x columns: the odds of all rows of a pool that are free, added up."""

    def __init__(self, asked: Asked, cells: Cells, x: int, *, pooled: bool) -> None:
        table = asked.table
        self._asked, self._cells, self._x = asked, cells, x
        other = len(table.values)
        choices = np.array([other]) if pooled else np.flatnonzero(table.value_event < 0)
        self._choices = choices.astype(np.int32)
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
        self._fill_anchor_odds()

    @property
    def anchor_rows(self) -> Ints:
        """How many free carriers each anchor stands for."""
        return np.asarray(self._cells.free[self.anchor_cell])

    def anchor_need(self) -> NDArray[np.float64]:
        """How many average filler rows a carrier's odds are worth, on average over views; odds are
        those against having no event. About r times as many partners does the carrier need."""
        cells, filler, table = self._cells, self._behind, self._asked.table
        rows = np.bincount(cells.signature[filler], cells.free[filler], len(table.signatures))
        need, pool = np.zeros(len(self.anchor_cell)), np.array([len(table.values)], np.int32)
        for column in self._asked.columns(self._x, pool):
            odds = column.odds[column.view.index, 0]
            there = np.isfinite(odds)
            mean = (odds[there] * rows[there]).sum() / max(1.0, rows.sum())
            need += odds[cells.signature[self.anchor_cell]] / max(mean, SMALLEST)
        return need / self._asked.width

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

    def _columns(self) -> Iterator[tuple[int, NDArray[np.integer], Singles, Singles]]:
        """Number, index, odds against each pool and strength of every column."""
        for w, one in enumerate(self._asked.columns(self._x, self._choices)):
            yield w, one.view.index, one.odds.astype(np.float32), one.strength.astype(np.float32)

    def _levels(
        self, signature: NDArray[np.int32], value: NDArray[np.integer]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The mean log odds of cells, and which of them have finite odds in every column."""
        level, usable = np.zeros(len(signature)), np.ones(len(signature), bool)
        pool = np.searchsorted(self._choices, value)
        for _, index, by_pool, _ in self._columns():
            odds = by_pool[index[signature], pool]
            usable &= np.isfinite(odds)
            level += np.log(np.maximum(odds, SMALLEST, out=odds), out=odds)
        return level / self._asked.width, usable

    def _fill_odds(self, signature: NDArray[np.int32], value: NDArray[np.integer]) -> None:
        pools = len(self._choices)
        self.odds = np.empty((len(signature), self._asked.width), np.float32)
        self.demand = np.empty_like(self.odds)
        self.supply = np.empty((pools, self._asked.width))
        pool = np.searchsorted(self._choices, value)
        for w, index, by_pool, strength in self._columns():
            row = index[signature]
            odds = by_pool[row, pool]
            self.odds[:, w] = odds
            self.demand[:, w] = odds * strength[row]
            self.supply[:, w] = np.bincount(pool, odds * self.free, minlength=pools) + 1e-9

    def _fill_anchor_odds(self) -> None:
        signature = self._cells.signature[self.anchor_cell]
        shape = (len(signature), len(self._choices))
        self.anchor_odds = np.empty((*shape, self._asked.width), np.float32)
        self.anchor_demand = np.empty_like(self.anchor_odds)
        option = np.ones(shape, bool)
        for w, index, by_pool, strength in self._columns():
            odds = by_pool[index[signature]]
            option &= np.isfinite(odds) & (odds > 0)
            self.anchor_odds[:, :, w] = odds
            self.anchor_demand[:, :, w] = odds * strength[index[signature], None]
        self.anchor_odds[~option] = 0.0


def _runs(numbers: NDArray[np.integer]) -> Ints:
    """Where each stretch of equal numbers begins, and where the last ends."""
    return np.append(np.flatnonzero(np.diff(numbers, prepend=-1)), len(numbers)).astype(np.int64)
