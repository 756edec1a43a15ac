"""Whom public statistics alone link to an event above 1/r, before anything is published.

It is what `shoal plan` says, event by event, made fast enough to stand beside a form: views are
walked from few attributes to many, and people whose class fell below min_support are left behind,
since no class within it can have more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import IntArray
from shoal.data.table import Table, factorize
from shoal.errors import InputError
from shoal.knowledge import Knowledge
from shoal.knowledge.attributes import attribute_codes, attribute_sets
from shoal.planning.supply import Supply

Tree = dict[str, Any]
MOST_CELLS = 10**8
"""Events times signatures: some bytes are held for each."""


class NotWanted(Exception):  # noqa: N818
    """Nobody waits for the answer any more."""


def known_before(table: Table, wanted: Callable[[], bool] = lambda: True) -> NDArray[np.int64]:
    """By event: people whose probability of it is above 1/r in some view. It ends with NotWanted
    once it is not `wanted` any more."""
    if table.several is not None or table.spec.knowledge is not None:
        return Supply.of(table, Knowledge.of(table)).known_before
    if len(table.events) * len(table.signatures) > MOST_CELLS:
        raise InputError(
            "events-many",
            f"{len(table.events):,} events are protected, more than can be counted here.",
            "Pick those that matter; `shoal plan` counts them all, with more memory.",
        )
    return _Walk.of(table, wanted).run()


@dataclass(eq=False)
class _Walk:
    table: Table
    codes: dict[str, tuple[IntArray, int]]
    signature: IntArray
    """Of each cell whose value is protected, as are the next two."""
    event: IntArray
    rows: NDArray[np.int64]
    known: NDArray[np.bool_]
    """events x signatures"""
    common: NDArray[np.intp]
    """Events that everybody is linked to of whom nothing else is known."""
    wanted: Callable[[], bool]

    @classmethod
    def of(cls, table: Table, wanted: Callable[[], bool]) -> _Walk:
        names = {name for view in attribute_sets(table) for name in view}
        coded = {name: attribute_codes(table, name) for name in names}
        signature, value, rows = table.cells
        event = table.value_event[value]
        mine = event >= 0
        share = table.event_rows / table.rows
        return cls(
            table,
            {name: (codes, len(labels)) for name, (codes, labels) in coded.items()},
            signature[mine],
            event[mine],
            rows[mine],
            np.zeros((len(table.events), len(table.signatures)), bool),
            np.flatnonzero(share * table.event_r > 1.0),
            wanted,
        )

    def run(self) -> NDArray[np.int64]:
        everybody = np.arange(len(self.table.signatures))
        seen = self._below(_tree(attribute_sets(self.table)), everybody, everybody * 0, 1)
        if not seen:
            self.known[self.common] = True
        return (self.known @ self.table.signature_rows).astype(np.int64)

    def _below(self, tree: Tree, alive: Any, classes: Any, size: int) -> bool:
        """Walks the views that begin alike; whether any of them knows a class."""
        seen = False
        for name, deeper in tree.items():
            if name == "":
                continue
            if not self.wanted():
                raise NotWanted
            if not len(self.rows):  # everybody is known to be linked to every event
                return True
            codes, width = self.codes[name]
            group, keys = factorize([classes, codes[alive]], [size, width])
            support = np.bincount(group, self.table.signature_rows[alive], len(keys))
            kept = support >= self.table.min_support
            if not kept.any():
                continue
            stays = kept[group]
            mine, own = alive[stays], (np.cumsum(kept) - 1)[group[stays]]
            if "" in deeper:
                seen = True
                self._look(mine, own, support[kept])
            seen |= self._below(deeper, mine, own, int(kept.sum()))
        return seen

    def _look(self, alive: Any, classes: Any, support: NDArray[Any]) -> None:
        """One view: its classes, and who is above the limit in them."""
        where = np.full(len(self.table.signatures), -1)
        where[alive] = classes
        at, events = where[self.signature], len(self.table.events)
        here = at >= 0
        counts = np.bincount(
            at[here] * events + self.event[here], self.rows[here], len(support) * events
        ).reshape(len(support), events)
        hot = counts / support[:, None] * self.table.event_r > 1.0
        for event in np.flatnonzero(hot.any(axis=0)):
            self.known[event, alive[hot[:, event][classes]]] = True
        for event in self.common:
            self.known[event, where < 0] = True
        self._leave_out(np.flatnonzero(self.known.all(axis=1)))

    def _leave_out(self, settled: NDArray[np.intp]) -> None:
        """Looks no longer at events of which there is nothing left to find out."""
        open_ = ~np.isin(self.event, settled)
        if not open_.all():
            self.signature, self.event = self.signature[open_], self.event[open_]
            self.rows = self.rows[open_]
            self.common = np.setdiff1d(self.common, settled)


def _tree(views: Any) -> Tree:
    """The views by their first attribute, then the second, and so on; "" marks that one ends."""
    tree: Tree = {}
    for view in views:
        here = tree
        for name in view:
            here = here.setdefault(name, {})
        here[""] = {}
    return tree
