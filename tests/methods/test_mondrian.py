"""Mondrian: classes large and diverse enough, disjoint boxes, and nothing left that can be cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data.datasets import ADULT_EVENT, ADULT_QI, ADULT_SENSITIVE, adult
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.data.table.hierarchy import Hierarchy, adult_hierarchies
from shoal.errors import InputError
from shoal.groups import Anonymizer, Grouping
from shoal.methods.mondrian import Mondrian
from tests.data.table.nodes import covering
from tests.dealing import row_groups

JOBS = ("army", "court", "farm", "mine", "quarry")
TREE = Hierarchy.from_toml(
    {"groups": {"State": ["army", "court"], "Soil": ["farm", "mine", "quarry"]}}, name="job"
)


def table_of(columns: Mapping[str, Sequence[object]], x: str, r: float = 2) -> Table:
    frame = pl.DataFrame({**columns, "x": list(x)})
    return Table.from_frame(frame, Spec(qi=tuple(columns), sensitive="x", r=r))


def shown(result: Grouping) -> list[set[str]]:
    """For each QI the published labels."""
    return [{recoding.labels[node] for node in recoding.node} for recoding in result.recodings]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    rows = draw(st.integers(6, 40))
    ages = draw(st.lists(st.none() | st.integers(20, 30), min_size=rows, max_size=rows))
    jobs = draw(st.lists(st.sampled_from(JOBS), min_size=rows, max_size=rows))
    towns = draw(st.text("NESW", min_size=rows, max_size=rows))
    text = st.text("pqrs", min_size=rows, max_size=rows)
    values = draw(text.filter(lambda found: len(set(found)) > 1))
    ages[0] = 25
    return table_of({"age": ages, "job": jobs, "town": [*towns]}, values)


@settings(max_examples=200, deadline=None)
@given(tables(), st.integers(1, 6), st.none() | st.integers(1, 3), st.booleans())
def test_classes_are_large_diverse_disjoint_and_cover(
    table: Table, k: int, l: int | None, tree: bool
) -> None:
    l = None if l is None else min(l, len(table.values))
    result = Mondrian(k=k, l=l, hierarchies={"job": TREE} if tree else None).anonymize(table)
    assert result.form == "generalized"
    assert (table.rows - result.published) == 0
    assert result.shown is None
    codes = table.signatures[table.row_signature]
    for group in range(result.count):
        rows = np.flatnonzero(row_groups(table, result) == group)
        assert len(rows) >= k
        assert len(set(table.row_value[rows].tolist())) >= (l or 1)
        for qi, recoding in enumerate(result.recodings):
            assert recoding.members[recoding.node[group], codes[rows, qi]].all()
    for one, other in combinations(range(result.count), 2):
        assert any(
            not (
                recoding.members[recoding.node[one]] & recoding.members[recoding.node[other]]
            ).any()
            for recoding in result.recodings
        )


@settings(max_examples=200, deadline=None)
@given(tables(), st.integers(1, 6), st.booleans())
def test_no_class_can_be_cut_further(table: Table, k: int, tree: bool) -> None:
    result = Mondrian(k=k, hierarchies={"job": TREE} if tree else None).anonymize(table)
    codes = table.signatures[table.row_signature]
    for group in range(result.count):
        own = codes[row_groups(table, result) == group]
        for qi, column in enumerate(table.qi):
            if tree and column.name == "job":
                bound = TREE.bind(column.values.to_list())
                level, _ = covering(bound, own[:, qi])
                below = bound.codes(max(level - 1, 0))[own[:, qi]]
                parts = np.unique(below, return_counts=True)[1]
                assert level == 0 or parts.min() < k
            else:
                borders = np.unique(own[:, qi])[:-1]
                assert not any(
                    k <= (own[:, qi] <= border).sum() <= len(own) - k for border in borders
                )


def test_the_widest_attribute_is_cut_at_its_median() -> None:
    ages = [20, 21, 22, 40, 41, 60]
    table = table_of({"age": ages, "sex": ["f", "m"] * 3}, "ppqqpq")
    result = Mondrian(k=3).anonymize(table)
    assert shown(result) == [{"[20, 22]", "[40, 60]"}, {"{f, m}"}]


def test_width_is_measured_against_the_whole_domain() -> None:
    """The young differ by 35 of 80 years and 1,000 of 80,000; the old by 10 years and 80,000."""
    table = table_of(
        {
            "age": [20, 30, 50, 55, 90, 92, 95, 100],
            "income": [0, 1000, 0, 1000, 0, 80000, 1000, 79000],
        },
        "pqpqpqpq",
    )
    assert shown(Mondrian(k=2).anonymize(table)) == [
        {"[20, 30]", "[50, 55]", "[90, 95]", "[92, 100]"},
        {"[0, 1000]", "[79000, 80000]"},
    ]


def test_rows_not_signatures_make_the_median() -> None:
    table = table_of({"age": [20] * 6 + [21, 22, 23, 24]}, "pq" * 5)
    assert shown(Mondrian(k=4).anonymize(table)) == [{"20", "[21, 24]"}]


def test_a_median_at_the_largest_value_is_cut_below_it() -> None:
    table = table_of({"age": [20, 21, 30, 30, 30]}, "pqpqp")
    assert shown(Mondrian(k=2).anonymize(table)) == [{"[20, 21]", "30"}]


def test_where_the_widest_cannot_be_cut_the_next_is() -> None:
    table = table_of({"age": [20, 90, 90, 90], "sex": ["f", "f", "m", "m"]}, "pqpq")
    assert shown(Mondrian(k=2).anonymize(table)) == [{"[20, 90]", "90"}, {"f", "m"}]


def test_hierarchies_are_cut_into_children() -> None:
    jobs = ["army", "army", "court", "court", "farm", "mine", "quarry"]
    table = table_of({"job": jobs}, "pqpqpqp")
    result = Mondrian(k=2, hierarchies={"job": TREE}).anonymize(table)
    assert shown(result) == [{"army", "court", "Soil"}]
    assert shown(Mondrian(k=2).anonymize(table)) == [{"army", "court", "{farm, mine, quarry}"}]


def test_numbers_are_cut_by_value_also_with_a_hierarchy() -> None:
    table = table_of({"age": [21, 22, 23, 24]}, "pqpq")
    bands = Hierarchy.from_toml({"widths": [10]}, name="age")
    assert shown(Mondrian(k=2, hierarchies={"age": bands}).anonymize(table)) == [
        {"[21, 22]", "[23, 24]"}
    ]


def test_missing_numbers_lie_beyond_the_largest() -> None:
    table = table_of({"age": [20, 21, None, None]}, "pqpq")
    assert shown(Mondrian(k=2).anonymize(table)) == [{"[20, 21]", "(missing)"}]


def test_l_keeps_boxes_together() -> None:
    table = table_of({"age": [20, 21, 30, 31]}, "ppqq")
    assert Mondrian(k=2).anonymize(table).count == 2
    result = Mondrian(k=2, l=2).anonymize(table)
    assert result.count == 1
    assert result.claims["l"] == 2
    assert "2 distinct published values" in result.claims["guarantee"]


def test_set_events_count_as_one_published_value() -> None:
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "x": ["a", "b", "c", "d"]})
    spec = Spec(qi=("age",), sensitive="x", r=2, protect=(Event(("a", "b")),))
    assert Mondrian(l=2).anonymize(Table.from_frame(frame, spec)).count == 1
    apart = Table.from_frame(frame, spec.with_(publish_members=True))
    assert Mondrian(l=2).anonymize(apart).count == 2


def test_k_follows_from_r() -> None:
    table = table_of({"age": [1, 2, 3, 4, 5, 6, 7, 8]}, "pqpqpqpq", r=2.5)
    result = Mondrian().anonymize(table)
    assert result.claims["k"] == 3
    assert result.count == 2


def test_what_is_impossible_is_refused() -> None:
    table = table_of({"age": [1, 2, 3]}, "pqp")
    with pytest.raises(InputError, match=r"3 rows, fewer than k = 4.*at most 3"):
        Mondrian(k=4).anonymize(table)
    with pytest.raises(InputError, match=r'"x" publishes 2 .*fewer than l = 3.*at most 2'):
        Mondrian(k=2, l=3).anonymize(table)
    with pytest.raises(InputError, match="k is 0"):
        Mondrian(k=0).anonymize(table)
    with pytest.raises(InputError, match="l is 0"):
        Mondrian(k=2, l=0).anonymize(table)
    navy = table_of({"job": ["army", "navy"]}, "pq")
    with pytest.raises(InputError, match="navy"):
        Mondrian(hierarchies={"job": TREE}).anonymize(navy)


def test_the_order_of_rows_and_the_seed_change_nothing() -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 60, 200),
            "job": rng.choice(JOBS, 200),
            "x": rng.choice(["p", "q"], 200),
        }
    )
    spec = Spec(qi=("age", "job"), sensitive="x", r=5)
    order = rng.permutation(200)
    table, moved = Table.from_frame(frame, spec), Table.from_frame(frame[order], spec)
    one, other = Mondrian().anonymize(table, seed=1), Mondrian().anonymize(moved, seed=2)
    assert np.array_equal(row_groups(table, one)[order], row_groups(moved, other))


def test_it_is_an_anonymizer() -> None:
    method: Anonymizer = Mondrian()
    assert method.name == "mondrian"


@pytest.mark.data
@pytest.mark.parametrize(("r", "l"), [(10, None), (2, None), (10, 3)])
def test_adult(adult_path: Path, r: int, l: int | None) -> None:
    spec = Spec(qi=ADULT_QI[:5], sensitive=ADULT_SENSITIVE, r=r, protect=(Event(ADULT_EVENT),))
    table = Table.from_frame(adult(adult_path), spec)
    result = Mondrian(l=l, hierarchies=adult_hierarchies()).anonymize(table)
    assert np.bincount(row_groups(table, result)).min() >= r
    assert result.count > table.rows / (4 * r)
    if l is not None:
        pairs = np.unique(
            row_groups(table, result).astype(np.int64) * len(table.values) + table.row_value
        )
        assert np.bincount(pairs // len(table.values)).min() >= l
