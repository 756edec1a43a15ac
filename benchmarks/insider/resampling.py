"""Tables like a given one, for an insider who practises on releases of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.table import Table
from shoal.table.table import Cells


def resampled(table: Table, rng: np.random.Generator) -> Table:
    """As many people, drawn with replacement; only the signatures that occur are kept."""
    signature, member, rows = table.member_cells
    drawn = rng.multinomial(table.rows, rows / rows.sum())
    kept = np.flatnonzero(drawn)
    present, index = np.unique(signature[kept], return_inverse=True)
    return replace(
        table,
        signatures=table.signatures[present],
        member_cells=Cells(index.astype(np.int32), member[kept], drawn[kept]),
        people=None,
        native=None,
    )
