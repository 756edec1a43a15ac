"""What the commands are run on."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.data.datasets import HOSPITAL_EVENT, hospital


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table, the same one with groups, and a release of it."""
    folder = tmp_path_factory.mktemp("cli")
    frame = hospital(2000, 2)
    frame.write_csv(folder / "table.csv")
    spec = shoal.Spec(
        qi=("age", "sex", "region"),
        sensitive="diagnosis",
        protect=(shoal.Event(HOSPITAL_EVENT),),
        r=3,
    )
    # Labels of groups say nothing of values that are published as one.
    made = next(
        one
        for seed in range(20)
        if not (one := shoal.anonymize(frame, spec, seed=seed, smallest_group=1)).pooled_people
    )
    assert made.row_groups is not None
    labels = [f"g{gid}" if gid >= 0 else None for gid in made.row_groups]
    frame.with_columns(safe=pl.Series(labels), same=pl.lit("one")).write_csv(folder / "grouped.csv")
    made.save(folder / "release")
    return folder
