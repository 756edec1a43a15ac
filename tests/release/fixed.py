"""Releases whose groups are given, not sought: for what a method should not do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.groups import Grouping, Progress, silent

SEXES = pl.DataFrame(
    {"sex": ["m"] * 10 + ["w"] * 10, "v": ["x", "x"] + ["y"] * 8 + ["x"] * 2 + ["y"] * 8}
)
"""Two of ten men carry x, and two of ten women."""
SEXES_SPEC = Spec(qi=("sex",), sensitive="v", protect=("x",), r=3, min_support=5)
CERTAIN = (0, 1, *range(10, 18), 20, 21, 0, 0, 1, 1, 20, 20, 21, 21)
"""Each man with x is in a group with two women, and no other man is in a group with x."""
WIDE = (0, 1, 0, 0, 1, 1, *range(10, 14), 2, 3, 2, 2, 3, 3, *range(20, 24))
"""Six men and six women are in groups with x, two of them carriers."""


@dataclass(frozen=True)
class Fixed:
    """A method that makes the groups it was given; -1 stands for a row that is left out."""

    groups: tuple[int, ...]
    name: str = "fixed"

    def anonymize(self, table: Table, *, seed: int = 0, progress: Progress = silent) -> Grouping:
        _, numbers = np.unique([-1, *self.groups], return_inverse=True)
        return Grouping.of_rows(table, (numbers[1:] - 1).astype(np.int32))
