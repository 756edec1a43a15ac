"""What pooled groups hold together: not told. That earlier versions told it is still checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
from tests.forging import edit, mend

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


def earlier(folder: Path, pooled: int) -> None:
    """A release as an earlier version wrote it."""

    def as_it_was(content: dict[str, Any]) -> None:
        content["software"] = "shoal 0.0.1"
        del content["spec"]["rare_unknown"]

    released(pooled).save(folder)
    lines_of(pooled).write_csv(folder / "members.csv")
    edit(folder, as_it_was)


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


Change = Callable[[pl.DataFrame], pl.DataFrame]
FORGERIES: dict[str, tuple[Change, bool]] = {
    "one more of one value, one less of another": (
        lambda told: told.with_columns(
            pl.col("count") + pl.Series([1, -1] + [0] * (told.height - 2))
        ),
        True,
    ),
    "one more": (
        lambda told: told.with_columns(pl.col("count") + pl.Series([1] + [0] * (told.height - 1))),
        False,
    ),
    "a value with an event": (
        lambda told: told.with_columns(value=pl.Series(["HIV", *told["value"][1:]])),
        False,
    ),
    "a value twice": (
        lambda told: pl.concat([told.head(1), told.with_columns(pl.col("count") - 1).head(1)]),
        False,
    ),
    "nobody of a value": (
        lambda told: pl.concat(
            [told, told.head(1).with_columns(value=pl.lit("zzz"), count=pl.lit(0, pl.Int64))]
        ),
        False,
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_values_of_pooled_groups_are_refused(name: str, tmp_path: Path) -> None:
    change, needs_table = FORGERIES[name]
    folder = tmp_path / "out"
    earlier(folder, 30)
    assert not failures(folder)
    assert not failures(folder, table=FRAME)
    file = folder / "members.csv"
    change(pl.read_csv(file)).write_csv(file)
    mend(folder)
    assert failures(folder, table=FRAME)
    assert bool(failures(folder)) is not needs_table


def test_what_few_groups_hold_may_not_be_told(tmp_path: Path) -> None:
    """Even if it is true."""
    folder = tmp_path / "out"
    earlier(folder, 9)
    assert "members" in failures(folder)
