"""Tables like a given one, for an insider who practises on releases of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.data.table import Table
from shoal.data.table.table import Cells


def resampled(table: Table, rng: np.random.Generator, *, rows: int | None = None) -> Table:
    """As many people (or so many), drawn with replacement; only the signatures that occur are
    kept."""
    signature, member, held = table.member_cells
    drawn = rng.multinomial(rows or table.rows, held / held.sum())
    kept = np.flatnonzero(drawn)
    present, index = np.unique(signature[kept], return_inverse=True)
    some = Cells(signature[kept], member[kept], drawn[kept])
    return replace(
        table,
        signatures=table.signatures[present],
        member_cells=some._replace(signature=index.astype(np.int32)),
        weights=table.weights_of(some),
        people=None,
        native=None,
    )
