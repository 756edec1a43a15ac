"""Anatomy: bucketization into groups where no event occurs twice.

A group of at least l rows in which every event occurs at most once links nobody to an event with
more than 1/l, if all its rows look alike to the adversary. Taking each group from the l most
frequent events that are left keeps the frequent ones from piling up at the end. Nothing is
generalized or lost; what rows look like is not considered, which is what ART improves on.

Xiao, Tao: "Anatomy: Simple and Effective Privacy Preservation", VLDB 2006.

1. Refuse the table if an event has more than n/l rows.
2. Hash the rows by event, each bucket in random order.
3. While at least l buckets have rows, make a group of one row from each of the l largest.
4. Put each row that is left into a random group without its event.

Symbols: n rows, l the size of a group and the diversity that it gives.

Departures from the paper:
- Rows that carry no event conflict with nothing. They make one bucket, the pool; where fewer than
  l buckets have rows in step 3, all of them give one and the pool gives the rest.
- The paper's lemmas survive that: at most one row of an event is left over, fewer than l rows in
  all, and each finds a group. Suppose that of event x, the fullest, d >= 2 rows are left beside G
  groups and R rows in all. Events and pool together are too few for a group, so R < d l. If every
  group took x, then G + d > G + R/l = n/l, against step 1. Else at the last group without x, l
  buckets at least as large gave a row; l-1 of them are events, which have lost no more than x
  since, so they and x still have rows: enough for a group. As R < l, there are floor(n/l) groups,
  and an event with a row left over is in fewer.
- l follows from r where it is not given: the spec's r, rounded up (the largest of the events').
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.arrays import IntArray, Ints
from shoal.data.table import Table
from shoal.groups import Grouping, Progress, silent
from shoal.groups.ragged import Ragged
from shoal.methods.anatomy.kernels import deal
from shoal.methods.parameters import check_eligible, whole


@dataclass(frozen=True)
class Anatomy:
    """Bucketization with every event at most once in a group of at least l rows."""

    name: ClassVar[str] = "anatomy"

    l: int | None = None  # noqa: E741
    """The diversity of a group; None means the spec's r, rounded up."""

    def anonymize(self, table: Table, *, seed: int = 0, progress: Progress = silent) -> Grouping:
        """Groups all rows of the table; an InputError if an event is too frequent for l."""
        diversity = whole("l", self.l, table)
        rng = np.random.default_rng(seed)
        check_eligible(table, diversity)  # 1
        progress("grouping", 0, table.rows)
        rows, start = _hashed(table, rng)  # 2
        by_size = np.argsort(-np.diff(start), kind="stable")
        groups = deal(rows, start, by_size, diversity)  # 3
        residue = np.flatnonzero(groups < 0)
        _place(residue, groups, table.by_cell.event, rng)  # 4
        progress("grouping", table.rows, table.rows)
        claims = {
            "l": diversity,
            "guarantee": f"each group has at least {diversity} rows and every event at most once",
            "residue": len(residue),
        }
        return Grouping.of_people(table, groups, claims=claims)


def _hashed(table: Table, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """The rows by bucket, and where each bucket starts; the last bucket is the pool."""
    pool = len(table.events)
    narrow = np.int16 if pool < np.iinfo(np.int16).max else np.int32
    bucket = np.where(table.by_cell.event < 0, pool, table.by_cell.event).astype(narrow)
    shuffled = rng.permutation(table.rows)
    rows = shuffled[np.argsort(bucket[shuffled], kind="stable")]
    counts = np.bincount(bucket, minlength=pool + 1)
    return rows, Ragged.of_lengths(counts).start


def _place(residue: Ints, groups: IntArray, row_event: IntArray, rng: np.random.Generator) -> None:
    """Puts each left-over row into a random group that lacks its event."""
    count = int(groups.max()) + 1
    for row in residue:
        event = row_event[row]
        lacking = np.ones(count, dtype=bool)
        if event >= 0:
            lacking[groups[(row_event == event) & (groups >= 0)]] = False
        groups[row] = rng.choice(np.flatnonzero(lacking))
