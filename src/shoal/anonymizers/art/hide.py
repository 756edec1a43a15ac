"""Row by row: every carrier in a group with filler of one value, or of pooled values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.anonymizers.art.asked import Asked
from shoal.anonymizers.art.assembly import Assembly
from shoal.anonymizers.art.cells import Cells
from shoal.anonymizers.art.pools import Ints, Pools
from shoal.anonymizers.art.search import Search
from shoal.anonymizers.art.trade import trade
from shoal.grouping import Progress

CHUNK = 64
"""Carriers between two reports of progress."""


def hide_among_filler(
    groups: Assembly,
    asked: Asked,
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

    def advance(carriers: int) -> None:
        nonlocal done
        done += carriers
        progress("hiding carriers" if not pooled else "pooling", done, total)

    for value in sorted(values, key=lambda v: -waiting[v] * table.event_r[table.value_event[v]]):
        if waiting[value]:
            # What is held for one value is let go before the next.
            _hide_carriers(groups, asked, int(value), cover, largest, advance, pooled=pooled)


def _hide_carriers(
    groups: Assembly,
    asked: Asked,
    value: int,
    cover: float | None,
    largest: int,
    advance: Callable[[int], None],
    *,
    pooled: bool,
) -> None:
    table, cells = groups.table, groups.cells
    pools = Pools(asked, cells, value, pooled=pooled)
    search = Search(pools, float(table.event_r[table.value_event[value]]), cover, largest)
    carriers = np.arange(len(search.anchors))
    for first in range(0, len(carriers), CHUNK):
        some = carriers[first : first + CHUNK]
        search.hide(some)
        advance(len(some))
    if not pooled:
        trade(search)
    for members in _taken(search, cells):
        groups.add(members, "pooled" if pooled else "pure")


def _taken(search: Search, cells: Cells) -> list[Ints]:
    """The groups found, as cells, the carrier's first; takes their rows out of the free ones."""
    hidden = np.flatnonzero(search.pool >= 0)
    if not len(hidden):
        return []
    carriers = search.pools.anchor_cell[search.anchors[hidden]]
    np.subtract.at(cells.free, carriers, 1)
    partners = [search.partners[i] for i in hidden]
    ends = np.cumsum([len(one) for one in partners], dtype=np.int64)
    first = np.concatenate([[0], ends[:-1]])
    members = np.insert(search.pools.take(np.concatenate(partners)), first, carriers)
    return np.split(members, ends[:-1] + np.arange(1, len(ends)))
