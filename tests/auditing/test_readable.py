"""Whose value a release shows: counted by group and signature, against person by person."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.auditing.audit import audit
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.groups import Grouping
from shoal.groups.lookup import readable_people
from shoal.release.tables import shown_parts
from tests.oracle.readable import readable


def drawn(seed: int, columns: int) -> Table:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(4, 40))
    names = [f"s{c}" for c in range(columns)]
    held = {name: ["a", "b", "c", *rng.choice(["a", "b", "c"], rows - 3)] for name in names}
    frame = pl.DataFrame({"q": rng.integers(0, 4, rows).astype(str), **held})
    sensitive = names[0] if columns == 1 else tuple(names)
    protect = ["a"] if columns == 1 else [f"{name}=a" for name in names]
    return Table.from_frame(frame, Spec(qi=("q",), sensitive=sensitive, r=2, protect=protect))


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("seed", range(40))
def test_readable_people_are_those_of_the_definition(seed: int, columns: int) -> None:
    table = drawn(seed, columns)
    rng = np.random.default_rng(seed)
    label = rng.integers(-1, int(rng.integers(1, table.rows)), table.rows)
    label[0] = 0
    kept = np.unique(label[label >= 0], return_inverse=True)[1]
    groups = np.full(table.rows, -1, np.int32)
    groups[label >= 0] = kept
    pooled = rng.random(kept.max() + 1) < 0.2
    made = Grouping.of_rows(table, groups, pooled=pooled)
    parts, value = shown_parts(table), made.published_values(table)
    people = [
        (int(made.group[i]), int(made.signature[i]), parts[value[i]])
        for i in np.repeat(np.arange(len(value)), made.rows)
    ]
    found = readable_people(table, made)
    assert tuple(found) == readable(people)
    assert found.by_attributes <= found.people


def test_one_value_is_read_by_group_and_two_groups_hide_whose_it_is() -> None:
    frame = pl.DataFrame({"q": ["x"] * 4 + ["y"] * 2, "s": ["a", "b", "b", "c", "c", "c"]})
    table = Table.from_frame(frame, Spec(qi=("q",), sensitive="s", r=2, protect=(Event(("a",)),)))
    found = audit(table, [0, 0, 1, 2, 3, 3])
    assert (found.readable, found.readable_by_attributes) == (4, 2)
    together = audit(table, [0, 0, 1, 1, 1, 1])
    assert (together.readable, together.readable_by_attributes) == (0, 0)
    assert together.to_dict()["readable"] == 0
