"""Trading: carriers who found no group get the partners that they need from carriers who need less.

A carrier is left over when those before it took the rows that are like it. It may then take them
back: the group that it would have if everybody were free is made, the groups that lose a partner
are taken apart, and their carriers, chosen among those with the least need, are hidden anew among
what is free now. That counts if all of them find a group, or all but one who needs less than the
carrier it was done for, and who is left over in its place: needs fall along such a chain, so that
it ends. Otherwise everything is put back.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from shoal.anonymizers.art.kernels.hide import hide_in_pool
from shoal.anonymizers.art.pools import Ints
from shoal.anonymizers.art.search import NOBODY, Search

ROUNDS = 40
"""Most carriers for whom a trade is looked for."""
OFFERS = 4
"""Most pools that are tried for one of them."""


@dataclass(frozen=True, eq=False)
class _Offer:
    """A group for a carrier, and the carriers who would have to give rows for it."""

    pool: int
    partners: Ints
    givers: Ints


def trade(search: Search) -> None:
    """Hides carriers who are left over, as far as trading can."""
    left = deque(np.flatnonzero(search.pool < 0).tolist())
    for _ in range(ROUNDS):
        if not left:
            return
        carrier = left.popleft()
        offers = sorted(_offers(search, carrier), key=lambda offer: len(offer.givers))
        for offer in offers[:OFFERS]:
            instead = _accepted(search, carrier, offer)
            if instead is not None:
                left.extendleft(instead)
                break


def _offers(search: Search, carrier: int) -> list[_Offer]:
    pools, offers = search.pools, []
    mine = pools.anchor_odds[search.anchors[carrier]]
    demand = pools.anchor_demand[search.anchors[carrier]]
    chosen = np.empty(search.largest + 1, np.int64)
    for y in np.flatnonzero(mine[:, 0] > 0):
        owners = np.flatnonzero(search.pool == y)
        held = np.concatenate([NOBODY, *(search.partners[i] for i in owners)])
        owner = np.repeat(owners, [len(search.partners[i]) for i in owners])
        everybody = pools.free + np.bincount(held, minlength=len(pools.free))
        size, _ = hide_in_pool(
            mine[y],
            demand[y],
            int(y),
            search.candidates()._replace(free=everybody),
            search.terms(search.largest),
            1,
            search.worth[y],
            np.inf,
            chosen,
        )
        if size >= 0:
            partners = chosen[:size].copy()
            offers.append(_Offer(int(y), partners, givers(partners, pools.free, held, owner)))
    return offers


def givers(wanted: Ints, free: Ints, held: Ints, owner: Ints) -> Ints:
    """Owners of `held` cells who have to give theirs up so that all `wanted` ones are free; those
    with small numbers first. `owner` is in ascending order."""
    chosen: set[int] = set()
    for cell, count in zip(*np.unique(wanted, return_counts=True), strict=True):
        short = int(count - free[cell])
        holders = owner[held == cell] if short > 0 else NOBODY
        short -= sum(int(holder) in chosen for holder in holders)
        for holder in holders:
            if short <= 0:
                break
            if int(holder) not in chosen:
                chosen.add(int(holder))
                short -= int((holders == holder).sum())
    return np.array(sorted(chosen), np.int64)


def _accepted(search: Search, carrier: int, offer: _Offer) -> list[int] | None:
    """Takes an offer; who is left over instead, or None if it was not worth it and is undone."""
    before = [(int(i), int(search.pool[i]), search.partners[i]) for i in offer.givers]
    search.take_apart(offer.givers)
    search.place(carrier, offer.pool, offer.partners)
    without = None
    for giver in offer.givers[::-1]:  # those with the largest need first
        search.hide(np.array([giver]), search.largest // 2)
        if search.pool[giver] < 0:
            if without is not None or giver > carrier:
                break
            without = int(giver)
    else:
        return [] if without is None else [without]
    search.take_apart(np.append(offer.givers, carrier))
    for giver, pool, partners in before:
        search.place(giver, pool, partners)
    return None
