"""Kinds of rows: same event, same impossible events. To Injector such rows are interchangeable.

Two kinds are incompatible if the event of one is impossible for the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Bools, IntArray, Ints, Words
from shoal.data.table import Table, factorize
from shoal.methods.injector.kernels.injection import Kinds, count_incompatible


@dataclass(frozen=True, eq=False)
class SortedRows:
    """The rows by kind."""

    kinds: Kinds
    kind: Ints
    """The kind of each row."""
    sizes: Ints
    rows: Ints
    """All rows by kind, in random order inside each."""
    denied: Bools
    """kinds x events, and a last column for none: what is impossible."""
    incompatible: Ints
    """With how many rows each kind is incompatible."""

    @classmethod
    def of(cls, table: Table, impossible: Bools, rng: np.random.Generator) -> SortedRows:
        events = len(table.events)
        profile, example = _profiles(_masks(impossible))
        own = np.where(table.by_cell.event < 0, events, table.by_cell.event).astype(np.int32)
        kind, keys = factorize([profile[table.by_cell.signature], own], [len(example), events + 1])
        event = (keys % (events + 1)).astype(np.int64)
        denied = np.zeros((len(keys), events + 1), dtype=bool)
        denied[:, :events] = impossible[example[(keys // (events + 1)).astype(np.int64)]]
        sizes = np.bincount(kind)
        shuffled = rng.permutation(table.rows)
        rows = shuffled[np.argsort(kind[shuffled], kind="stable")]
        kinds = Kinds(event, _masks(denied), events)
        incompatible = count_incompatible(sizes, event, denied)
        return cls(kinds, kind.astype(np.int64), sizes, rows, denied, incompatible)

    @property
    def order(self) -> Ints:
        """The kinds, those first that are incompatible with most rows."""
        return np.argsort(-self.incompatible, kind="stable")

    @property
    def contrary(self) -> Bools:
        """Kinds whose own event is impossible for them."""
        return self.denied[np.arange(len(self.sizes)), self.kinds.event]


def _profiles(masks: Words) -> tuple[IntArray, Ints]:
    """The distinct masks: that of each row, and for each of them a row that has it."""
    profile, count = np.zeros(len(masks), dtype=np.int32), 1
    for word in masks.T:
        values, code = np.unique(word, return_inverse=True)
        profile, keys = factorize([profile, code.astype(np.int32)], [count, len(values)])
        count = len(keys)
    example = np.empty(count, dtype=np.int64)
    example[profile] = np.arange(len(masks))
    return profile, example


def _masks(denied: Bools) -> Words:
    words = -(-denied.shape[1] // 64)
    wide = np.zeros((len(denied), words * 64), dtype=bool)
    wide[:, : denied.shape[1]] = denied
    return np.packbits(wide, axis=1, bitorder="little").view(np.dtype("<u8")).astype(np.uint64)
