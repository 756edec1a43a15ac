"""What making a release leaves behind that is no part of it: for the publisher alone."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from shoal.arrays import Floats, IntArray
from shoal.auditing.verdict import Audit
from shoal.data.table import Table
from shoal.engines import Dealt, Engine
from shoal.groups import Grouping
from shoal.release.ledger import Ledger
from shoal.release.people import People


@dataclass(frozen=True, eq=False)
class Run:
    """How a release was made."""

    table: Table
    """What it was made of."""
    grouping: Grouping
    """How many people of each cell are in which group."""
    audit: Audit
    """The audit behind the certificate."""
    seed: int
    """Where everything random came from."""
    engine: Engine
    """Who counted the table, and writes the release."""
    dealt: Dealt | None = None
    """Which rows are in which group, where rows are at hand."""
    models: dict[str, bytes] = field(default_factory=dict)
    """What models say of everybody, as files by name."""
    seconds: dict[str, float] = field(default_factory=dict)
    """How long each stage took: never saved, so that the same input gives the same bytes."""
    ledger: Ledger | None = None
    """The chain that the release belongs to, if one is kept."""
    people: People | None = None
    """Who they are, where rows are at hand."""

    @property
    def row_groups(self) -> IntArray | None:
        """The gid of every input row, -1 if suppressed."""
        if self.dealt is None:
            return None
        return np.where(self.dealt.group >= 0, self.dealt.group + 1, -1).astype(np.int32)

    @property
    def row_weights(self) -> Floats | None:
        """The weight of every input row, if anybody has one."""
        return None if self.dealt is None else self.dealt.weight
