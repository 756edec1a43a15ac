"""Dealing: a grouping as counts is given rows of the table, against a plain dealing of lists."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.engines.dealing import Dealer, deal
from shoal.groups import Grouping
from shoal.groups.suppressed import lost_members


def random_grouping(seed: int) -> tuple[Table, Grouping]:
    """Groups of some rows, the rest alone or suppressed, some values changed."""
    random = np.random.default_rng(seed)
    rows = 80
    frame = pl.DataFrame(
        {"q": random.integers(0, 4, rows), "v": ["a", "b", "c", *random.choice([*"abc"], rows - 3)]}
    )
    table = Table.from_frame(frame, Spec(qi=["q"], sensitive="v", protect=["a"], r=2))
    signature, value, _ = table.cells
    lines = []
    for cell, free in enumerate(table.cells[2].tolist()):
        while free > 2 and random.random() < 0.8:
            taken = int(random.integers(1, min(free, 4)))
            lines.append((int(random.integers(0, 5)), cell, taken))
            free -= taken
    used = sorted({group for group, _, _ in lines})
    cell = np.array([c for _, c, _ in lines])
    group = np.array([used.index(g) for g, _, _ in lines], np.int32)
    taken = np.array([n for _, _, n in lines])
    left = table.cells[2] - np.bincount(cell, taken, len(value)).astype(np.int64)
    alone = np.flatnonzero((left > 0) & (table.value_event[value] < 0))
    cells = np.append(cell, alone)
    grouping = Grouping.of_lines(
        table,
        np.append(group, len(used) + np.arange(len(alone))).astype(np.int32),
        signature[cells],
        value[cells],
        np.append(taken, np.ones(len(alone), np.int64)),
        copies=np.append(np.ones(len(used), np.int64), left[alone]),
        shown=random.permutation(value[cells]) if seed % 2 else None,
    )
    return table, grouping


@pytest.mark.parametrize("seed", range(12))
def test_every_group_gets_the_people_that_it_counts(seed: int) -> None:
    table, grouping = random_grouping(seed)
    dealt = deal(table, grouping, seed=seed)
    shown = grouping.value if grouping.shown is None else grouping.shown
    expected: Counter[tuple[int, ...]] = Counter()
    for line, group in enumerate(grouping.group):
        for copy in range(grouping.copies[group]):
            number = int(grouping.first_number[group]) + copy
            key = (number, grouping.signature[line], grouping.value[line], shown[line])
            expected[tuple(int(part) for part in key)] += int(grouping.rows[line])
    kept = np.flatnonzero(dealt.group >= 0)
    found = Counter(
        zip(
            dealt.group[kept].tolist(),
            table.row_signature[kept].tolist(),
            table.row_value[kept].tolist(),
            dealt.value[kept].tolist(),
            strict=True,
        )
    )
    assert found == expected
    assert len(kept) == grouping.published


def test_which_of_equal_rows_is_taken_is_drawn() -> None:
    table, grouping = random_grouping(0)
    drawn = {tuple(deal(table, grouping, seed=seed).group.tolist()) for seed in range(5)}
    assert len(drawn) == 5
    again = deal(table, grouping, seed=3).group
    assert again.tolist() == deal(table, grouping, seed=3).group.tolist()


@pytest.mark.parametrize("seed", range(6))
def test_rows_are_dealt_in_parts_as_at_once(seed: int) -> None:
    table, grouping = random_grouping(seed)
    whole = deal(table, grouping, seed=seed)
    dealer = Dealer(table, grouping, seed=seed)
    parts = [
        dealer.deal(table.row_signature[first : first + 7], table.row_member[first : first + 7])
        for first in range(0, table.rows, 7)
    ]
    groups, values, weights = (np.concatenate(one) for one in zip(*parts, strict=True))
    assert groups.tolist() == whole.group.tolist()
    assert values.tolist() == whole.value.tolist()
    assert np.isnan(weights).all()
    assert whole.weight is None


def test_everybody_of_a_cell_is_as_likely_in_any_place() -> None:
    """Five alike rows for a group of two, one alone and two suppressed: 20,000 draws."""
    frame = pl.DataFrame({"q": ["a"] * 5 + ["b"], "v": ["x"] * 5 + ["y"]})
    table = Table.from_frame(frame, Spec(qi=["q"], sensitive="v", protect=["y"], r=2))
    zero = np.zeros(2, np.int32)
    grouping = Grouping.of_lines(
        table, np.array([0, 1], np.int32), zero, zero, np.array([2, 1], np.int64)
    )
    draws = 20_000
    counts = np.zeros((5, 3))
    for seed in range(draws):
        group = deal(table, grouping, seed=seed).group[:5]
        counts[np.arange(5), group] += 1
    expected = np.array([2, 1, 2]) / 5
    assert (abs(counts / draws - expected) < 4 * np.sqrt(0.25 / draws)).all()


def test_the_members_that_are_suppressed_are_those_that_were_drawn() -> None:
    """A label stands for three values; who of them is missing is drawn from counts, and the rows
    that are dealt agree with it."""
    random = np.random.default_rng(0)
    frame = pl.DataFrame({"q": random.choice([*"ab"], 60), "v": random.choice([*"xyzw"], 60)})
    spec = Spec(qi=["q"], sensitive="v", protect=[["x", "y", "z"]], r=2)
    table = Table.from_frame(frame, spec)
    signature, value, rows = table.cells
    lines = np.zeros(len(rows), np.int32)
    grouping = Grouping.of_lines(table, lines, signature, value, rows // 2)
    for seed in range(10):
        gone = deal(table, grouping, seed=seed).group < 0
        member_signature, member, _ = table.member_cells
        lost = lost_members(table, grouping, seed=seed)
        found = Counter(zip(table.row_signature[gone], table.row_member[gone], strict=True))
        assert [found[key] for key in zip(member_signature, member, strict=True)] == lost.tolist()
