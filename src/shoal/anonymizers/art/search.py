"""The search for groups of one event value's carriers: who is hidden where, until all is done."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art.kernels.hide import Candidates, Terms, hide
from shoal.anonymizers.art.pools import Ints, Pools

THOROUGH, QUICK = (8000, 300), (2000, 100)
"""Cells of a pool that are looked at for one carrier, and how many of them are tried."""
SCARCE = 0.25
"""Above this part of what there is, partners are scarce: all pools are compared."""
TRIALS = 20_000
"""Otherwise as many pools per carrier as this many trials in all allow."""
THRIFT, MOST_THRIFT = 2.3, 0.1
"""How thrifty groups are: per square of the part of all odds that is needed, and at most. Thrift
makes groups a little less alike, and is only worth it as far as partners are scarce."""
NOBODY = np.zeros(0, np.int64)


class Search:
    """Groups of carriers, who are numbered in the order in which they are hidden."""

    def __init__(self, pools: Pools, r: float, cover: float | None, largest: int) -> None:
        self.pools, self.r, self.largest = pools, r, largest
        self.cover = 1 / r if cover is None else cover
        self.anchors = smallest_need_first(pools)
        self.pressure = pressure(pools)
        self.worth = pools.supply / self.pressure
        """What a pool was worth when everybody was free."""
        self.pool = np.full(len(self.anchors), -1, np.int64)
        """Where each carrier is hidden, or -1."""
        self.partners: list[Ints] = [NOBODY] * len(self.anchors)
        """Their cells, as the pools number them."""
        used = use(pools) * (r - 1)
        self.thrift = min(THRIFT * used**2, MOST_THRIFT)
        every = len(pools.start) - 1
        self._tries = every if used > SCARCE else max(1, TRIALS // max(1, len(self.anchors)))
        self.width, self.length = QUICK if self._tries == 1 else THOROUGH

    def hide(self, carriers: Ints, largest: int | None = None) -> None:
        """Looks for a group for each carrier in turn, among the rows that are free; `largest` is
        the most partners that one may have, if that is to be fewer than usual."""
        pools = self.pools
        pool, begin, members = hide(
            self.anchors[carriers],
            pools.anchor_odds,
            pools.anchor_demand,
            self.candidates(),
            pools.supply,
            self.pressure,
            pools.supply / self.pressure,
            self.terms(largest or self.largest),
            self._tries,
        )
        members = members[: begin[-1]].copy()
        self.pool[carriers] = pool
        for i, carrier in enumerate(carriers):
            self.partners[carrier] = members[begin[i] : begin[i + 1]]

    def candidates(self) -> Candidates:
        """The pools' cells, as the kernels read them."""
        pools = self.pools
        return Candidates(pools.odds, pools.demand, pools.level, pools.start, pools.free)

    def terms(self, largest: int) -> Terms:
        """What is asked of a group of at most `largest` partners."""
        return Terms(
            float(self.r), float(self.cover), float(self.thrift), largest, self.width, self.length
        )

    def place(self, carrier: int, pool: int, partners: Ints) -> None:
        """Hides a carrier among given partners, who are free."""
        self.pool[carrier], self.partners[carrier] = pool, partners
        np.subtract.at(self.pools.free, partners, 1)
        self.pools.supply[pool] -= self.pools.odds[partners].sum(axis=0, dtype=np.float64)
        np.maximum(self.pools.supply[pool], 1e-9, out=self.pools.supply[pool])

    def take_apart(self, carriers: Ints) -> None:
        """Frees the partners of carriers, who are left over then."""
        for i in carriers[self.pool[carriers] >= 0]:
            np.add.at(self.pools.free, self.partners[i], 1)
            odds = self.pools.odds[self.partners[i]]
            self.pools.supply[self.pool[i]] += odds.sum(axis=0, dtype=np.float64)
            self.pool[i], self.partners[i] = -1, NOBODY


def smallest_need_first(pools: Pools) -> Ints:
    """Every free carrier, as an anchor, in the order in which they are hidden.

    Who needs little goes first: partners who are right for them are of little use to others, while
    those with large odds can do with many partners of small ones.
    """
    order = np.argsort(pools.anchor_need(), kind="stable")
    return np.repeat(order, pools.anchor_rows[order])


def pressure(pools: Pools) -> NDArray[np.float64]:
    """pools x views: how much the odds of each view are wanted, 1 on average over views.

    What all carriers together would need of a pool differs by view; the third power makes the
    views that run out first decide which pool a carrier is better hidden in.
    """
    demand, rows = np.empty_like(pools.supply), pools.anchor_rows[:, None]
    for w in range(demand.shape[1]):
        mine = pools.anchor_odds[:, :, w] * rows
        demand[:, w] = mine.sum(axis=0, dtype=np.float64)
    wanted = (demand / pools.supply) ** 3
    mean = wanted.mean(axis=1, keepdims=True)
    return np.asarray(np.divide(wanted, mean, out=np.ones_like(wanted), where=mean > 0))


def use(pools: Pools) -> float:
    """What all carriers need per unit of r-1, each in the best pool, against what there is, in the
    view where that is most."""
    largest, rows = 0.0, pools.anchor_rows
    for w in range(pools.supply.shape[1]):
        mine = pools.anchor_odds[:, :, w]
        needed = np.where(mine > 0, mine, np.inf).min(axis=1, initial=np.inf)
        demand = (needed * rows)[np.isfinite(needed)].sum(dtype=np.float64)
        largest = max(largest, float(demand / pools.supply[:, w].sum()))
    return largest
