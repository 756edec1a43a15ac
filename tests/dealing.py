"""Groupings row by row, for tests that look at people."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.data.table import Table
from shoal.engines.dealing import deal
from shoal.groups import Grouping


def row_groups(table: Table, grouping: Grouping, seed: int = 0) -> NDArray[np.int32]:
    """The group of each row, -1 where it is suppressed."""
    return deal(table, grouping, seed=seed).group


def row_values(table: Table, grouping: Grouping, seed: int = 0) -> NDArray[np.int32]:
    """The value code that each row is published with, before pooling."""
    return deal(table, grouping, seed=seed).value
