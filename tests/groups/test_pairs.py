"""Pairs among lines, and some groups of a partition, against loops and dictionaries."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

from shoal.auditing.kernels import count_held, count_people
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.groups import Grouping
from shoal.groups.pairs import count_pairs
from shoal.groups.partition import Partition


@pytest.mark.parametrize("order", ["sorted", "torn", "any"])
@pytest.mark.parametrize("seed", range(10))
def test_pairs_are_those_of_a_dictionary(order: str, seed: int) -> None:
    """Lines in order, in order of their left numbers alone, or in none."""
    random = np.random.default_rng(seed)
    lines = int(random.integers(0, 40))
    left, right = random.integers(0, 9, lines), random.integers(0, 5, lines).astype(np.int32)
    rows = random.integers(1, 4, lines).astype(np.int32 if seed % 2 else np.int64)
    if order != "any":
        by = np.argsort(left, kind="stable") if order == "torn" else np.lexsort((right, left))
        left, right, rows = left[by], right[by], rows[by]
    before = left.copy(), right.copy(), rows.copy()
    line, pairs = count_pairs(left, right, rows, 11)
    expected: Counter[tuple[int, int]] = Counter()
    for one in zip(left.tolist(), right.tolist(), rows.tolist(), strict=True):
        expected[one[:2]] += one[2]
    owner = np.repeat(np.arange(11), np.diff(pairs.start))
    found = list(zip(owner.tolist(), pairs.right.tolist(), strict=True))
    assert found == sorted(expected)
    assert pairs.rows.tolist() == [expected[one] for one in found]
    assert pairs.rows.dtype == rows.dtype
    assert [found[place] for place in line] == list(zip(left.tolist(), right.tolist(), strict=True))
    for one, other in zip((left, right, rows), before, strict=True):
        np.testing.assert_array_equal(one, other)


def partition(seed: int) -> tuple[Table, Partition]:
    random = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "q": random.choice(["a", "b", "c"], 60),
            "v": random.choice(["x", "y", "z"], 60, p=[0.2, 0.4, 0.4]),
        }
    )
    spec = Spec(qi=("q",), sensitive="v", protect=("x",), r=3, min_support=5)
    table = Table.from_frame(frame, spec)
    group = np.unique(random.integers(0, 25, 60), return_inverse=True)[1].astype(np.int32)
    made = Grouping.of_rows(table, group)
    copies = random.integers(1, 4, len(made.copies))
    lines = made.group, made.signature, made.value, made.rows
    return table, Partition.of(table, Grouping.of_lines(table, *lines, copies=copies))


def contents(part: Partition, group: int) -> tuple[object, ...]:
    """All that is said of one group."""
    pairs = range(part.group_start[group], part.group_start[group + 1])
    values = slice(part.value_start[group], part.value_start[group + 1])
    held = [
        (
            part.pair_signature[p],
            part.pair_size[p],
            part.carrier_event[part.carrier_start[p] : part.carrier_start[p + 1]].tolist(),
            part.carrier_count[part.carrier_start[p] : part.carrier_start[p + 1]].tolist(),
            part.world_value[part.world_start[p] : part.world_start[p + 1]].tolist(),
            part.world_count[part.world_start[p] : part.world_start[p + 1]].tolist(),
        )
        for p in pairs
    ]
    numbers = part.group_number[group], part.copies[group]
    return *numbers, held, part.value_code[values].tolist(), part.value_count[values].tolist()


@pytest.mark.parametrize("seed", range(5))
def test_some_groups_are_what_they_were(seed: int) -> None:
    _, part = partition(seed)
    for chosen in (np.arange(0, part.groups, 3), np.zeros(0, np.int64), np.arange(part.groups)):
        some = part.some(chosen)
        assert [contents(some, g) for g in range(some.groups)] == [
            contents(part, int(g)) for g in chosen
        ]
        for name in ("group_start", "pair_size", "value_start", "carrier_start", "world_count"):
            assert getattr(some, name).dtype == getattr(part, name).dtype == np.int32


@pytest.mark.parametrize("seed", range(5))
def test_people_and_carriers_of_pairs(seed: int) -> None:
    table, part = partition(seed)
    held = table.holds(0)
    shown = count_held(part.value_start, part.value_code, part.value_count, held)
    people, carriers, inside = [], [], np.zeros(len(table.signatures))
    for g in range(part.groups):
        values = range(part.value_start[g], part.value_start[g + 1])
        mine = sum(int(part.value_count[v]) for v in values if held[part.value_code[v]])
        assert shown[g] == mine
        for p in range(part.group_start[g], part.group_start[g + 1]):
            people.append(int(part.pair_size[p] * part.copies[g]))
            entries = slice(part.carrier_start[p], part.carrier_start[p + 1])
            carriers.append(int(part.carrier_count[entries].sum() * part.copies[g]))
            inside[part.pair_signature[p]] += people[-1] if mine else 0
    assert part.pair_people.tolist() == people
    some = np.random.default_rng(seed).permutation(len(people))[:7]
    assert part.people_of(some).tolist() == [people[p] for p in some]
    assert part.carriers == sum(carriers)
    assert part.carriers_of(some) == sum(carriers[p] for p in some)
    arrays = part.group_start, part.copies, part.pair_signature, part.pair_size
    found = count_people(*arrays, shown, len(table.signatures))
    np.testing.assert_array_equal(found, inside)


def test_a_group_of_billions_keeps_the_larger_numbers() -> None:
    cells = pl.DataFrame({"q": ["a"] * 2, "v": ["x", "y"], "rows": [2, 3_000_000_000]})
    spec = Spec(qi=("q",), sensitive="v", protect=("x",), r=3, min_support=1)
    table = Table.from_cells(cells, spec)
    part = Partition.of(table, Grouping.of_classes(table, np.zeros(1, np.int32)))
    assert part.pair_size.tolist() == [3_000_000_002]
    assert part.value_count.tolist() == [2, 3_000_000_000]
