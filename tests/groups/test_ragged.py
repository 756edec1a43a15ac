"""Entries by their owners, and some groups of a partition, against loops and dictionaries."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

from shoal.auditing.kernels import count_held, count_people
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.groups import Grouping
from shoal.groups.partition import Partition
from shoal.groups.ragged import Counts, Ragged


@pytest.mark.parametrize("seed", range(20))
def test_entries_by_their_owners_are_those_of_lists(seed: int) -> None:
    """Owners without an entry among them."""
    random = np.random.default_rng(seed)
    lengths = random.integers(0, 4, random.integers(0, 9)) * random.integers(0, 2)
    numbers = random.integers(-5, 5, lengths.sum()) / 4
    lists: list[list[float]] = [part.tolist() for part in np.split(numbers, lengths.cumsum()[:-1])]
    lists = lists if len(lengths) else []
    owner = [i for i, mine in enumerate(lists) for _ in mine]
    ragged = Ragged.of_owners(np.array(owner, np.int64), len(lists))
    assert ragged.start.tolist() == Ragged.of_lengths(lengths).start.tolist()
    assert ragged.owner.tolist() == ragged.spread(np.arange(len(lists))).tolist() == owner
    assert ragged.nth.tolist() == [n for mine in lists for n in range(len(mine))]
    assert ragged.owner_of(np.arange(len(numbers))).tolist() == owner
    assert ragged.summed(numbers).tolist() == [sum(mine) for mine in lists]
    assert ragged.summed(numbers[:, None]).tolist() == [[sum(mine)] for mine in lists]
    assert ragged.largest(numbers).tolist() == [max(mine, default=0) for mine in lists]
    assert ragged.least(numbers).tolist() == [min(mine, default=0) for mine in lists]
    assert ragged.any(numbers > 0).tolist() == [max(mine, default=0) > 0 for mine in lists]
    before = [sum(mine[:n]) for mine in lists for n in range(len(mine))]
    assert ragged.before(numbers).tolist() == before
    which = random.integers(0, max(1, len(lists)), 5 if lists else 0)
    of, place = ragged.entries(which)
    assert of.tolist() == [n for n, i in enumerate(which) for _ in lists[i]]
    assert numbers[place].tolist() == [one for i in which for one in lists[i]]


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
    line, pairs = Counts.placed(left, right, rows, 11)
    expected: Counter[tuple[int, int]] = Counter()
    for one in zip(left.tolist(), right.tolist(), rows.tolist(), strict=True):
        expected[one[:2]] += one[2]
    found = list(zip(pairs.owner.tolist(), pairs.code.tolist(), strict=True))
    assert found == sorted(expected)
    assert pairs.count.tolist() == [expected[one] for one in found]
    assert pairs.count.dtype == rows.dtype
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
    pairs = range(part.pairs.start[group], part.pairs.start[group + 1])
    values = slice(part.values.start[group], part.values.start[group + 1])
    held = [
        (
            part.signature[p],
            part.pairs.count[p],
            part.events.code[part.events.start[p] : part.events.start[p + 1]].tolist(),
            part.events.count[part.events.start[p] : part.events.start[p + 1]].tolist(),
            part.worlds.code[part.worlds.start[p] : part.worlds.start[p + 1]].tolist(),
            part.worlds.count[part.worlds.start[p] : part.worlds.start[p + 1]].tolist(),
        )
        for p in pairs
    ]
    numbers = part.group_number[group], part.copies[group]
    return *numbers, held, part.values.code[values].tolist(), part.values.count[values].tolist()


@pytest.mark.parametrize("seed", range(5))
def test_some_groups_are_what_they_were(seed: int) -> None:
    _, part = partition(seed)
    for chosen in (np.arange(0, part.groups, 3), np.zeros(0, np.int64), np.arange(part.groups)):
        some = part.some(chosen)
        assert [contents(some, g) for g in range(some.groups)] == [
            contents(part, int(g)) for g in chosen
        ]
        for name in ("pairs", "values", "events", "worlds"):
            for mine, told in zip(
                getattr(some, name).arrays, getattr(part, name).arrays, strict=True
            ):
                assert mine.dtype == told.dtype == np.int32


@pytest.mark.parametrize("seed", range(5))
def test_people_and_carriers_of_pairs(seed: int) -> None:
    table, part = partition(seed)
    held = table.holds(0)
    shown = count_held(*part.values.arrays, held)
    people, carriers, inside = [], [], np.zeros(len(table.signatures))
    for g in range(part.groups):
        values = range(part.values.start[g], part.values.start[g + 1])
        mine = sum(int(part.values.count[v]) for v in values if held[part.values.code[v]])
        assert shown[g] == mine
        for p in range(part.pairs.start[g], part.pairs.start[g + 1]):
            people.append(int(part.pairs.count[p] * part.copies[g]))
            entries = slice(part.events.start[p], part.events.start[p + 1])
            carriers.append(int(part.events.count[entries].sum() * part.copies[g]))
            inside[part.signature[p]] += people[-1] if mine else 0
    assert part.pair_people.tolist() == people
    some = np.random.default_rng(seed).permutation(len(people))[:7]
    assert part.people_of(some).tolist() == [people[p] for p in some]
    assert part.cases == sum(carriers)
    assert part.cases_of(some) == sum(carriers[p] for p in some)
    arrays = part.pairs.start, part.copies, part.signature, part.pairs.count
    found = count_people(*arrays, shown, len(table.signatures))
    np.testing.assert_array_equal(found, inside)


def test_a_group_of_billions_keeps_the_larger_numbers() -> None:
    cells = pl.DataFrame({"q": ["a"] * 2, "v": ["x", "y"], "rows": [2, 3_000_000_000]})
    spec = Spec(qi=("q",), sensitive="v", protect=("x",), r=3, min_support=1)
    table = Table.from_cells(cells, spec)
    part = Partition.of(table, Grouping.of_classes(table, np.zeros(1, np.int32)))
    assert part.pairs.count.tolist() == [3_000_000_002]
    assert part.values.count.tolist() == [2, 3_000_000_000]
