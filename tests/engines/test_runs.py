"""Published tables as counts: they spell out the lines that they stand for, wherever one starts."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.engines import GID, Runs, gather


def random_runs(seed: int) -> Runs:
    random = np.random.default_rng(seed)
    groups = int(random.integers(1, 9))
    lengths = random.integers(1, 5, groups)
    lines = pl.DataFrame(
        {
            "name": random.choice(["a", "b", "c"], lengths.sum()),
            "place": np.arange(lengths.sum()),
        }
    )
    times = random.integers(1, 4, lengths.sum())
    copies = random.choice([1, 1, 2, 7], groups)
    return Runs.numbered(np.repeat(np.arange(groups), lengths), copies, times, lines)


def spelled(runs: Runs) -> list[tuple[int, str, int]]:
    """The slow twin: line by line."""
    made = []
    for g in range(len(runs.copies)):
        for copy in range(runs.copies[g]):
            for line in range(runs.start[g], runs.start[g + 1]):
                row = (int(runs.first[g] + copy), *runs.lines.row(line))
                made += [row] * int(runs.times[line])
    return made


@pytest.mark.parametrize("seed", range(20))
def test_runs_spell_out_their_lines(seed: int) -> None:
    runs = random_runs(seed)
    expected = spelled(runs)
    assert runs.frame().rows() == expected
    assert runs.frame().columns == runs.columns == [GID, "name", "place"]
    assert runs.height == len(expected)
    assert runs.weight.sum() == len(expected)
    assert runs.slice(0, 0).rows() == []
    for count in (1, 2, 5, 1000):
        assert [row for part in runs.slices(count) for row in part.rows()] == expected
    for first in range(len(expected)):
        assert runs.slice(first, 3).rows() == expected[first : first + 3]


@pytest.mark.parametrize("seed", range(20))
def test_runs_can_be_cut_anywhere(seed: int) -> None:
    runs = random_runs(seed)
    total = int(runs.copies.sum())
    cuts = np.flatnonzero(np.random.default_rng(seed).random(total) < 0.4) + 1
    cut = runs.split(cuts)
    assert set(cuts) | set(runs.first) == set(cut.first)
    assert cut.frame().equals(runs.frame())


@pytest.mark.parametrize("seed", range(20))
def test_gids_may_have_gaps_and_begin_anywhere(seed: int) -> None:
    random = np.random.default_rng(seed)
    whole = random_runs(seed).frame()
    shifted = whole.with_columns((pl.col(GID) - random.integers(0, 9)).cast(pl.Int32))
    frame = shifted.filter(pl.col(GID) % 4 != 0)
    runs = gather([frame], frame.schema)
    cuts = np.unique(random.integers(-9, 30, 12))
    assert runs.split(cuts).frame().equals(frame)
    assert runs.gids.tolist() == frame[GID].unique().sort().to_list()


def test_a_gid_that_comes_again_among_copies_is_put_in_order() -> None:
    frame = pl.DataFrame({GID: [1, 2, 3, 2], "name": ["a", "a", "a", "b"]})
    runs = gather([frame], frame.schema).in_order()
    assert runs.gids.tolist() == [1, 2, 3]
    assert runs.frame().rows() == [(1, "a"), (2, "a"), (2, "b"), (3, "a")]


def test_a_written_table_is_runs_of_one_copy() -> None:
    frame = random_runs(3).frame()
    runs = Runs.of(frame)
    assert runs.frame().equals(frame)
    assert (runs.copies == 1).all()
    empty = Runs.of(frame.clear())
    assert empty.height == 0
    assert [part.rows() for part in empty.slices()] == [[]]


def test_gids_past_two_billion_take_64_bits() -> None:
    lines = pl.DataFrame({"name": ["a", "b"]})
    copies = np.array([2**31 - 1, 2])
    runs = Runs.numbered(np.array([0, 1]), copies, np.array([1, 1]), lines)
    assert runs.slice(2**31 - 2, 3).rows() == [
        (2**31 - 1, "a"),
        (2**31, "b"),
        (2**31 + 1, "b"),
    ]
    assert runs.slice(0, 1)[GID].dtype == pl.Int64
