"""ART's groups as lines of a grouping: in order, each cell of a group once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.groups import Grouping
from shoal.methods.art.assembly import Assembly
from shoal.methods.art.cells import Cells


@pytest.mark.parametrize("seed", range(10))
def test_a_grouping_is_that_of_its_lines_in_any_order(seed: int) -> None:
    """With cells that stand twice in a group, groups that are gone, kinds that are pooled."""
    random = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {"q": random.choice(list("abcd"), 400), "v": random.choice(list("xyzw"), 400)}
    )
    spec = Spec(qi=("q",), sensitive="v", protect=("y",), r=3, min_support=5)
    table = Table.from_frame(frame, spec)
    cells = Cells.of(table)
    groups = Assembly(table, cells)
    count = len(cells.free)
    for kind in ("pure", "pooled", "alike"):
        owner = np.sort(np.append(np.arange(5), random.integers(0, 5, 9)))
        cell, number = random.integers(0, count, 14), random.integers(1, 3, 14)
        groups.add_many(owner, cell, number, random.integers(1, 3, 5), kind)  # type: ignore[arg-type]
    cells.free[:] = np.maximum(cells.free, 0)
    groups.dissolve(3)
    found = groups.grouping(hidden=("pooled", "alike"))

    members = groups.lines(np.arange(15))
    kept = np.flatnonzero(np.diff(members.start) > 0)
    assert kept.tolist() == [0, 1, 2, *range(4, 15)]
    alone = np.flatnonzero((cells.event < 0) & (cells.free > 0))
    assert len(alone)
    every = np.append(members.cell, alone)
    owner = np.append(np.searchsorted(kept, members.owner), len(kept) + np.arange(len(alone)))
    expected = Grouping.of_lines(
        table,
        owner.astype(np.int32),
        cells.signature[every],
        cells.value[every],
        np.append(members.number, np.ones(len(alone), np.int64)),
        copies=found.copies,
    )
    for name in ("group", "signature", "value", "rows"):
        one, other = getattr(found, name), getattr(expected, name)
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    assert found.copies[len(kept) :].tolist() == cells.free[alone].tolist()
    assert found.pooled is not None
    assert found.pooled.tolist() == [i >= 5 for i in kept] + [False] * len(alone)


def test_one_copy_of_a_group_is_singled_out_and_joined() -> None:
    frame = pl.DataFrame({"q": [*"aabbccdd"] * 9, "v": [*"xyxyxyxy"] * 9})
    spec = Spec(qi=("q",), sensitive="v", protect=("x",), r=3, min_support=5)
    groups = Assembly(table := Table.from_frame(frame, spec), cells := Cells.of(table))
    owner, cell = np.array([0, 0, 1, 1]), np.array([0, 1, 2, 3])
    groups.add_many(owner, cell, np.array([1, 2, 1, 1]), np.array([3, 1]), "pure")
    before = cells.free.copy()
    first, second = groups.single_out(np.array([0, 1]))
    assert second == 1, "a group without copies is itself"
    groups.join(int(first), 5)
    lines, copies = groups.all_lines()
    assert copies.tolist() == [2, 1, 1]
    people = [sorted(groups.members(g).tolist()) for g in range(3)]
    assert people == [[0, 1, 1], [2, 3], [0, 1, 1, 5]]
    assert (before - cells.free).tolist() == [0, 0, 0, 0, 0, 1, 0, 0]
    more = lines.some(np.array([1, 0]))
    found = [np.repeat(more.cell[a:b], more.number[a:b]).tolist() for a, b in pairwise(more.start)]
    assert found == [[2, 3], [0, 1, 1]]
