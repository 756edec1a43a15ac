"""Absence: who is missing with the carriers that found no group.

Cells are left out whole, so that those who are missing are a matched sample too. Where chance left
a class with too many carriers among its missing, people of the class who are in no group are left
out with them, until at most one in r of them carries (or, under the honest limit, the class's own
share), or the whole class is missing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art.asked import Asked, Promise
from shoal.anonymizers.art.assembly import Assembly
from shoal.anonymizers.art.classes import Counts, Lack, class_counts

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def leave_out_more(groups: Assembly, asked: Asked, random: np.random.Generator) -> bool:
    """Withholds people who are in no group as long as that helps; whether nothing is lacking."""
    cells, kept = groups.cells, True
    for promise in asked.promises:
        if not _lost(groups, promise).any():
            continue
        lack = Lack(asked.knowledge, *_lacking(groups, asked, promise))
        filler = np.flatnonzero((cells.event < 0) & (cells.free > 0))
        while (pick := lack.pick(cells.signature[filler], cells.free[filler], random)) >= 0:
            groups.withhold(int(filler[pick]))
            lack.take(int(cells.signature[filler[pick]]))
        kept = kept and not lack.helps.any()
    return kept


def _lost(groups: Assembly, promise: Promise) -> Ints:
    """Of each signature: how many carriers of an event are in no group."""
    cells = groups.cells
    free = np.where(promise.holds[cells.value], cells.free, 0)
    return np.bincount(cells.signature, free, len(groups.table.signatures)).astype(np.int64)


def _shares(asked: Asked, promise: Promise) -> list[Floats]:
    """By view and class: how many of the missing may carry."""
    least = 1 / promise.r
    return [np.maximum(least, chance if asked.prior else 0.0) for chance in promise.chances]


def _lacking(groups: Assembly, asked: Asked, promise: Promise) -> tuple[Counts, int]:
    """How many more people of each class must be missing, and how many of all; below zero, how many
    fewer could be."""
    table, lost = groups.table, _lost(groups, promise)
    everybody = class_counts(asked.knowledge, table.signature_rows)
    carriers = class_counts(asked.knowledge, lost)
    missing = class_counts(asked.knowledge, groups.missing_people())
    lacking = [
        np.minimum(n, np.ceil(k / share - 1e-9).astype(np.int64)) - m
        for share, n, k, m in zip(
            _shares(asked, promise), everybody, carriers, missing, strict=True
        )
    ]
    enough = min(table.rows, int(np.ceil(promise.r * lost.sum() - 1e-9)))
    return lacking, enough - int(groups.missing_people().sum())
