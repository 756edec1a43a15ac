"""Everybody's worst case: lines made from pairs, against lines written down row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from shoal.auditing.audit import audit
from shoal.auditing.verdict import Audit
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.groups import Grouping
from shoal.groups.partition import Partition


def audited(seed: int) -> tuple[Table, list[int], Audit]:
    random = np.random.default_rng(seed)
    rows = 40
    frame = pl.DataFrame(
        {
            "q": random.choice(["a", "b", "c"], rows),
            "p": random.integers(0, 2, rows),
            "v": random.choice(["x", "y", "z", "w"], rows),
        }
    )
    spec = Spec(qi=("q", "p"), sensitive="v", protect=("x", "y"), r=3, min_support=4)
    table = Table.from_frame(frame, spec)
    groups = np.where(random.random(rows) < 0.1, -1, random.integers(0, 18, rows)).tolist()
    return table, groups, audit(table, groups)


def row_by_row(found: Audit, groups: list[int]) -> list[dict[str, Any]]:
    """From the pairs alone, one row after the other."""
    risks, lines = found.risks, []
    held = {int(pair): place for place, pair in enumerate(risks.held)}
    nothing: dict[str, Any] = {"event": None, "view": None, "adversary": None, "kind": None}
    nothing |= {"problematic": False, "undecided": False}
    zero = {"before": 0.0, "posterior": 0.0, "exposure": 0.0}
    for row, group in enumerate(groups):
        line: dict[str, Any] = {"row": row, "group": None if group < 0 else str(group)}
        line |= {**nothing, **(dict.fromkeys(zero) if group < 0 else zero)}
        line |= {"known_before": None, "known_exposure": None}
        if group >= 0:
            place = held.get(int(risks.people.pair[row]))
            if place is not None:
                line |= risks.worst.row(place, named=True)
            line |= risks.known.row(int(risks.table.row_signature[row]), named=True)
        lines.append(line)
    return lines


@pytest.mark.parametrize("seed", range(6))
def test_lines_of_rows(seed: int) -> None:
    _, groups, found = audited(seed)
    assert sorted(found.frame.to_dicts(), key=lambda line: line["row"]) == [
        {name: line[name] for name in found.frame.columns} for line in row_by_row(found, groups)
    ]
    some = np.array([7, 0, 31])
    assert found.risks.of_rows(some).to_dicts() == found.frame[some].to_dicts()
    group, signature = found.risks.people.dealt[some], found.risks.table.row_signature[some]
    assert_frame_equal(found.risks.of_people(some, group, signature), found.frame[some])


@pytest.mark.parametrize("seed", range(6))
def test_the_most_exposed(seed: int) -> None:
    _, _, found = audited(seed)
    linked = found.frame.filter(pl.col("posterior") > 0)
    ordered = linked.sort("exposure", "row", descending=[True, False])
    for count in (0, 1, 5, 1000):
        assert found.worst_people(count).to_dicts() == ordered.head(count).to_dicts()
    first = linked.sort("exposure", "posterior", "row", descending=[True, True, False]).row(0)
    assert found.risks.people.first_of(found.risks.worst_pairs())[0] == first[0]
    assert found.worst is not None
    assert found.worst.row == first[0]


def test_nobody_is_exposed_where_no_event_is_published() -> None:
    table, groups, _ = audited(1)
    without = np.where(table.row_event >= 0, -1, groups)
    found = audit(table, without)
    assert len(found.risks.worst_pairs()) == 0
    assert found.worst is None
    assert found.worst_people(3).is_empty()


@pytest.mark.parametrize("seed", range(6))
def test_rows_alone_without_an_event_are_only_counted(seed: int) -> None:
    table, groups, found = audited(seed)
    alone = {
        group
        for row, group in enumerate(groups)
        if group >= 0 and groups.count(group) == 1 and table.row_event[row] < 0
    }
    numbers = sorted(set(groups) - {-1})
    rows = np.array([numbers.index(g) if g >= 0 else -1 for g in groups], np.int32)
    part = Partition.of(table, Grouping.of_rows(table, rows))
    assert part.alone == len(alone)
    assert part.all_groups == len(numbers) == found.groups
    assert {numbers[number] for number in part.group_number} == set(numbers) - alone
    pairs = part.find_pairs(rows, table.row_signature)
    assert [pair < 0 for pair in pairs] == [g < 0 or g in alone for g in groups]
