"""Generalization: each group's range or node covers its values, and is the smallest that does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.arrays import IntArray
from shoal.data.datasets import ADULT_EVENT, ADULT_QI, ADULT_SENSITIVE, adult
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.data.table.hierarchy import Hierarchy, adult_hierarchies
from shoal.errors import InputError
from shoal.groups import Recoding, generalization
from shoal.groups.generalization import generalize
from tests.data.table.nodes import common_node, covering

JOBS = ("army", "court", "farm", "mine", None)
TREE = Hierarchy.from_toml(
    {"groups": {"State": ["army", "court"], "Soil": ["farm", "mine"]}}, name="job"
)
BANDS = Hierarchy.from_toml({"widths": [10, 20]}, name="age")


def table_of(columns: Mapping[str, Sequence[object]]) -> Table:
    rows = len(next(iter(columns.values())))
    frame = pl.DataFrame({**columns, "x": ["p", "q", *["q"] * (rows - 2)]})
    return Table.from_frame(frame, Spec(qi=tuple(columns), sensitive="x", r=2))


def generalized(
    table: Table, groups: IntArray, trees: Mapping[str, Hierarchy], *, sets: bool = False
) -> tuple[Recoding, ...]:
    """For the group of each row, of which -1 is none."""
    kept = groups >= 0
    return generalize(table, groups[kept], table.row_signature[kept], trees, sets=sets)


def shown(recoding: Recoding) -> list[str]:
    """The label of each group."""
    return [recoding.labels[node] for node in recoding.node]


def covered(recoding: Recoding, table: Table, qi: int, group: int) -> set[object]:
    """The values that a group's node covers."""
    flags = recoding.members[recoding.node[group]]
    return set(table.qi[qi].values.filter(pl.Series(flags)).to_list())


@st.composite
def grouped(draw: st.DrawFn) -> tuple[Table, IntArray]:
    """A table with an ordered and an unordered QI, both with missing values, and groups."""
    rows = draw(st.integers(2, 30))
    ages = draw(st.lists(st.none() | st.integers(18, 60), min_size=rows, max_size=rows))
    jobs = draw(st.lists(st.sampled_from(JOBS), min_size=rows, max_size=rows))
    ages[0], jobs[0] = 40, "army"  # a column of nothing but missing values has no type
    raw = draw(st.lists(st.integers(-1, 5), min_size=rows, max_size=rows))
    used = sorted({group for group in raw if group >= 0})
    groups = [used.index(group) if group >= 0 else -1 for group in raw]
    return table_of({"age": ages, "job": jobs}), np.array(groups, dtype=np.int32)


@settings(max_examples=200, deadline=None)
@given(grouped(), st.booleans(), st.booleans(), st.booleans())
def test_every_group_is_covered_by_the_least_that_covers_it(
    example: tuple[Table, IntArray],
    bands: bool,
    tree: bool,
    sets: bool,
) -> None:
    table, groups = example
    trees = {**({"age": BANDS} if bands else {}), **({"job": TREE} if tree else {})}
    recodings = generalized(table, groups, trees, sets=sets)
    frame = table.native
    for group in range(groups.max(initial=-1) + 1):
        rows = frame.filter(pl.Series(groups == group))
        for qi, (name, recoding) in enumerate(zip(("age", "job"), recodings, strict=True)):
            held = set(rows[name].to_list())
            cover = covered(recoding, table, qi, group)
            label = shown(recoding)[group]
            assert held <= cover
            if name in trees:
                bound = trees[name].bind(table.qi[qi].values.to_list())
                assert label == common_node(bound, held)[1]
                level, node = covering(bound, [bound.values.index(value) for value in held])
                assert len(cover) == (bound.codes(level) == node).sum()
            elif name == "age":
                numbers = held - {None}
                inside = {
                    v
                    for v in frame["age"].drop_nulls()
                    if numbers and min(numbers) <= v <= max(numbers)
                }
                assert cover == inside | (held & {None})
            elif sets or len(held) == 1:
                assert cover == held
            else:
                assert (label, cover) == ("*", set(frame["job"].to_list()))
    for recoding, column in zip(recodings, table.qi, strict=True):
        assert recoding.members.shape == (len(recoding.labels), len(column))
        assert len(set(recoding.labels)) == len(recoding.labels)
        assert set(recoding.node.tolist()) == set(range(len(recoding.labels)))


def test_labels() -> None:
    table = table_of(
        {
            "age": [20, 34, 30, 30, 51, None, None, None],
            "dose": [0.5, 1.0, 2.25, 2.25, 64.0, 0.1, 0.1, 3.0],
            "born": [date(2000, 1, 1), date(2001, 5, 6), *[date(1990, 2, 3)] * 6],
            "job": ["army", "court", "farm", "farm", "army", "mine", None, None],
        }
    )
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3], dtype=np.int32)
    age, dose, born, job = map(shown, generalized(table, groups, {}))
    assert age == ["[20, 34]", "30", "51 or (missing)", "(missing)"]
    assert dose == ["[0.5, 1]", "2.25", "[0.1, 64]", "[0.1, 3]"]
    assert born == ["[2000-01-01, 2001-05-06]", "1990-02-03", "1990-02-03", "1990-02-03"]
    assert job == ["*", "farm", "*", "(missing)"]
    assert shown(generalized(table, groups, {}, sets=True)[3]) == [
        "{army, court}",
        "farm",
        "{army, mine}",
        "(missing)",
    ]
    trees = {"job": TREE, "age": BANDS, "unknown": TREE}
    age, _, _, job = map(shown, generalized(table, groups, trees))
    assert job == ["State", "farm", "*", "(missing)"]
    assert age == ["[20, 40)", "30", "*", "(missing)"]


def test_suppressed_rows_widen_nothing() -> None:
    table = table_of({"age": [20, 21, 90]})
    (age,) = generalized(table, np.array([0, 0, -1], dtype=np.int32), {})
    assert shown(age) == ["[20, 21]"]


def test_nothing_published_has_no_nodes() -> None:
    table = table_of({"age": [20, 21, 90], "job": ["a", "b", "c"]})
    for sets in (False, True):
        for recoding in generalized(table, np.full(3, -1, dtype=np.int32), {}, sets=sets):
            assert recoding.labels == ()
            assert recoding.members.shape == (0, 3)
            assert recoding.node.size == 0


def test_a_value_that_the_hierarchy_lacks_is_named() -> None:
    table = table_of({"job": ["army", "navy"]})
    with pytest.raises(InputError, match="navy"):
        generalized(table, np.zeros(2, dtype=np.int32), {"job": TREE})


def test_ranges_that_would_fill_the_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generalization, "MAX_CELLS", 8)
    table = table_of({"age": [1, 2, 3, 4]})
    generalized(table, np.array([0, 0, 1, 1], dtype=np.int32), {})
    with pytest.raises(InputError, match='"age" has 4 values in 3 different ranges') as caught:
        generalized(table, np.array([0, 1, 2, 2], dtype=np.int32), {})
    assert caught.value.code == "ranges-too-many"


@pytest.mark.data
def test_adult_groups_against_the_hierarchies_own_answer(adult_path: Path) -> None:
    spec = Spec(qi=ADULT_QI[:5], sensitive=ADULT_SENSITIVE, r=10, protect=(Event(ADULT_EVENT),))
    table = Table.from_frame(adult(adult_path), spec)
    drawn = np.random.default_rng(0).integers(0, 9_000, table.rows)
    groups = np.unique(drawn, return_inverse=True)[1].astype(np.int32)
    trees = adult_hierarchies()
    recodings = generalized(table, groups, trees)
    codes = table.signatures[table.row_signature]
    for qi, recoding in enumerate(recodings):
        assert recoding.members[recoding.node[groups], codes[:, qi]].all()
        tree = trees[table.qi[qi].name].bind(table.qi[qi].values.to_list())
        for group in range(0, groups.max(), 500):
            level, node = covering(tree, np.unique(codes[groups == group, qi]))
            assert shown(recoding)[group] == tree.labels(level)[node]
