"""What pooled groups hold together: not told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.datasets import hospital
from shoal.data.spec import OTHER, Spec
from shoal.data.table import Table
from shoal.groups import Grouping, Progress, silent
from shoal.release import Release
from shoal.release.verification.verify import verify
from tests.forging import mend

SPEC = Spec(qi=("sex", "region"), sensitive="diagnosis", protect=("HIV",), r=2, min_support=20)
FRAME = hospital(1_000, seed=3)


@dataclass(frozen=True)
class Pooling:
    """Groups of ten, so many of which are pooled."""

    pooled: int
    name: str = "pooling"

    def anonymize(self, table: Table, *, seed: int = 0, progress: Progress = silent) -> Grouping:
        groups = np.arange(table.rows, dtype=np.int32) // 10
        return Grouping.of_rows(table, groups, pooled=np.arange(groups[-1] + 1) < self.pooled)


def released(pooled: int) -> Release:
    return shoal.anonymize(FRAME, SPEC, method=Pooling(pooled), seed=1)


def failures(folder: Path, **given: object) -> list[str]:
    return [check.name for check in verify(folder, **given).checks if not check.passed]  # type: ignore[arg-type]


def lines_of(pooled: int) -> pl.DataFrame:
    held = FRAME.head(10 * pooled).filter(pl.col("diagnosis") != "HIV")["diagnosis"].value_counts()
    return held.sort("diagnosis").select(
        event=pl.lit(OTHER), value=pl.col("diagnosis"), count=pl.col("count").cast(pl.Int64)
    )


@pytest.mark.parametrize("pooled", [9, 30])
def test_what_pooled_groups_hold_is_not_told(pooled: int, tmp_path: Path) -> None:
    release = released(pooled)
    assert release.pooled_people > 0
    assert not release.members.height
    release.save(tmp_path / "out")
    assert not failures(tmp_path / "out", table=FRAME)
    lines_of(pooled).write_csv(tmp_path / "out" / "members.csv")
    mend(tmp_path / "out")
    assert "members" in failures(tmp_path / "out")
