"""What an adversary learns by counting over all groups, against a count written down."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
import pytest

from shoal.auditing.audit import audit
from shoal.spec import Spec
from shoal.table import Table


def by_hand(frame: pl.DataFrame, groups: list[int], events: str, r: int, support: int) -> int:
    rows = frame.rows(named=True)
    exposed: set[tuple[int, str]] = set()
    for event in events:
        shows = {g for row, g in zip(rows, groups, strict=True) if g >= 0 and row["v"] == event}
        for size in (1, 2):
            for view in combinations(("p", "q"), size):
                classes = [tuple(row[name] for name in view) for row in rows]
                people = Counter(classes)
                carriers = Counter(
                    c for c, row in zip(classes, rows, strict=True) if row["v"] == event
                )
                among = Counter(c for c, g in zip(classes, groups, strict=True) if g in shows)
                for i, one in enumerate(classes):
                    known = people[one] >= support and r * carriers[one] <= people[one]
                    if known and among[one] and r * carriers[one] > among[one]:
                        exposed.add((i, event))
    return sum(rows[i]["v"] == event and groups[i] >= 0 for i, event in exposed)


@pytest.mark.parametrize("seed", range(20))
def test_counts_over_all_groups(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = 120
    frame = pl.DataFrame(
        {
            "p": random.choice(["a", "b", "c"], rows),
            "q": random.choice(["u", "w"], rows),
            "v": random.choice(list("xyz"), rows, p=[0.1, 0.2, 0.7]),
        }
    )
    groups = np.where(random.random(rows) < 0.1, -1, random.integers(0, 40, rows)).tolist()
    spec = Spec(qi=("p", "q"), sensitive="v", protect=("x", "y"), r=3, min_support=15)
    found = audit(Table.from_frame(frame, spec), groups)
    assert found.counted_across == by_hand(frame, groups, "xy", 3, 15)


def test_as_many_carriers_as_people_in_their_groups_are_certain() -> None:
    # Two of ten men carry x; each is in a group with two women, and no other man is in one with x.
    frame = pl.DataFrame(
        {"sex": ["m"] * 10 + ["w"] * 10, "v": ["x", "x"] + ["y"] * 8 + ["x"] * 2 + ["y"] * 8}
    )
    groups = [0, 1, *range(10, 18), 20, 21, 0, 0, 1, 1, 20, 20, 21, 21]
    spec = Spec(qi=("sex",), sensitive="v", protect=("x",), r=3, min_support=5)
    found = audit(Table.from_frame(frame, spec), groups)
    assert found.robust
    assert found.counted_across == 2
