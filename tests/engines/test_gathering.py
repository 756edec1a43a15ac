"""Gathering published lines into runs: whatever they are, the runs spell them out again."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.engines import GID, Runs
from shoal.engines.runs import gather
from tests.engines.test_runs import random_runs


def in_parts(frame: pl.DataFrame, rows: int) -> Runs:
    parts = [frame.slice(first, rows) for first in range(0, frame.height, rows)]
    return gather(parts, frame.schema)


@pytest.mark.parametrize("seed", range(30))
def test_any_lines_are_spelled_out_again(seed: int) -> None:
    random = np.random.default_rng(seed)
    lines = int(random.integers(1, 40))
    gids = random.integers(1, 6, lines)
    frame = pl.DataFrame(
        {
            GID: np.sort(gids) if seed % 2 else gids,
            "a": [["x", "y", None][code] for code in random.integers(0, 3, lines)],
            "b": random.integers(0, 2, lines),
        },
        schema={GID: pl.Int32, "a": pl.String, "b": pl.Int64},
    )
    for rows in (1, 2, 7, 100):
        assert in_parts(frame, rows).frame().equals(frame)


@pytest.mark.parametrize("seed", range(20))
def test_copies_are_found_whatever_the_parts(seed: int) -> None:
    runs = random_runs(seed)
    frame = runs.frame()
    for rows in (1, 2, 3, 50):
        found = in_parts(frame, rows)
        assert found.frame().equals(frame)
        # Neighbours that happen to be alike are one, so that there may be fewer groups.
        assert len(found.copies) <= len(runs.copies)
        assert found.copies.sum() == runs.copies.sum()
    two = pl.DataFrame({"a": ["x", "y"]})
    many = Runs.numbered(np.array([0, 0]), np.array([500]), np.array([2, 1]), two)
    for rows in (1, 4, 1000):
        assert in_parts(many.frame(), rows).copies.tolist() == [500]


def test_a_table_without_lines_is_runs_of_nothing() -> None:
    schema = pl.Schema({GID: pl.Int32, "a": pl.String})
    found = gather([], schema)
    assert found.height == 0
    assert found.columns == [GID, "a"]


def test_a_line_without_a_gid_is_refused() -> None:
    frame = pl.DataFrame({GID: [1, None], "a": ["x", "y"]})
    with pytest.raises(pl.exceptions.ComputeError):
        gather([frame], frame.schema)
