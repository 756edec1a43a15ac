"""Dealing: which row of a table is in which group.

People of one line of a grouping are alike in all that is published, so that any row with that
signature and value will do. Chance decides, and the key of chance is the run's secret seed: rows
can be dealt in parts, in the order in which they are read, and come out the same each time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

import numpy as np

from shoal.arrays import Floats, IntArray, Ints
from shoal.data.table import Table
from shoal.engines.counting import CountedRows
from shoal.engines.engine import Dealt, Part
from shoal.engines.kernels import deal_some
from shoal.groups import Grouping
from shoal.groups.ragged import Ragged
from shoal.groups.suppressed import cell_key, cell_keys, cells_of_members, lost_members

PART = 1 << 16
"""So many rows are dealt at a time."""


class Dealer:
    """Deals the rows of a table, the next ones each time it is called."""

    def __init__(self, table: Table, grouping: Grouping, *, seed: int) -> None:
        keys = cell_keys(table)
        of_line = np.searchsorted(keys, cell_key(table, grouping.signature, grouping.value))
        order = np.argsort(of_line, kind="stable")
        lines, people = Ragged.of_owners(of_line, len(keys)), grouping.people[order]
        shown = grouping.value if grouping.shown is None else grouping.shown
        weight = grouping.weight
        signature, member, rows = table.member_cells
        cell, kept = cells_of_members(table), rows - lost_members(table, grouping, seed=seed)
        by_cell, before = np.argsort(cell, kind="stable"), np.empty_like(kept)
        before[by_cell] = Ragged.of_owners(cell, len(keys)).before(kept[by_cell])
        self._table, self._members = table, np.int64(len(table.members))
        self._keys = signature * self._members + member
        self._arrays = (
            _key(seed),
            np.zeros(len(rows), np.int64),
            rows,
            kept,
            before,
            cell,
            lines.summed(people),
            lines.start,
            lines.before(people) + people,
            grouping.rows[order],
            grouping.first_number[grouping.group][order],
            shown[order],
            np.full(len(order), np.nan) if weight is None else weight[order],
        )

    def deal(self, signature: IntArray, member: IntArray) -> tuple[Ints, IntArray, Floats]:
        """The groups of the next rows, the values that they show, and their weights, from their
        codes."""
        place = np.searchsorted(self._keys, signature * self._members + member)
        group, weight = np.empty(len(place), np.int64), np.full(len(place), np.nan)
        published = self._table.member_value[member]
        deal_some(place, *self._arrays, group, published, weight)
        return group, published, weight


def deal(table: Table, grouping: Grouping, *, seed: int = 0) -> Dealt:
    """The groups of all rows of a table whose rows are here."""
    dealer = Dealer(table, grouping, seed=seed)
    group, value, weight = dealer.deal(table.row_signature, table.row_member)
    told = None if grouping.weight is None else weight
    return Dealt(group.astype(np.int32), value, told)


def dealt_parts(table: Table, grouping: Grouping, *, seed: int) -> Iterator[Part] | None:
    """The rows of a table, dealt some after the other in their order; None where they are away."""
    if table.people is None and not isinstance(table.source, CountedRows):
        return None
    coded = table.source.coded(table) if table.people is None else [table.people]
    return _parts(Dealer(table, grouping, seed=seed), coded, told=grouping.weight is not None)


def _parts(
    dealer: Dealer, coded: Iterable[tuple[IntArray, IntArray]], *, told: bool
) -> Iterator[Part]:
    for signature, member in coded:
        for first in range(0, len(signature), PART):
            some = slice(first, first + PART)
            group, _, weight = dealer.deal(signature[some], member[some])
            yield Part(signature[some], group, weight if told else None)


def _key(seed: int) -> np.uint64:
    """64 bits that tell nothing of the seed's other uses."""
    digest = hashlib.sha256(f"deal {seed}".encode()).digest()
    return np.uint64(int.from_bytes(digest[:8], "little"))
