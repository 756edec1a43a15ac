"""Anatomy: diverse groups of all rows, leftovers placed by rule, and tables that it refuses."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal.data.datasets import ADULT_EVENT, ADULT_QI, ADULT_SENSITIVE, adult
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups import Anonymizer
from shoal.methods.anatomy import Anatomy
from shoal.methods.anatomy.kernels import deal
from tests.dealing import row_groups


def table_of(values: str, protect: str | None = None, r: float = 2) -> Table:
    """One row per letter; `protect` names the letters that are events, None all of them."""
    events = None if protect is None else tuple(Event((letter,)) for letter in protect)
    frame = pl.DataFrame({"qi": ["same"] * len(values), "x": list(values)})
    return Table.from_frame(frame, Spec(qi=("qi",), sensitive="x", r=r, protect=events))


def largest_l(table: Table) -> int:
    return table.rows // max(Counter(table.row_event[table.row_event >= 0].tolist()).values())


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Up to 60 rows; all values are events, or some of them."""
    text = st.text("abcdefgh", min_size=2, max_size=60)
    values = draw(text.filter(lambda found: len(set(found)) > 1))
    some = st.sets(st.sampled_from(sorted(set(values))), min_size=1)
    return table_of(values, draw(st.none() | some.map(sorted).map("".join)))


@settings(max_examples=300, deadline=None)
@given(tables(), st.data())
def test_every_row_is_in_one_diverse_group(table: Table, data: st.DataObject) -> None:
    assume(largest_l(table) >= 2)
    l = data.draw(st.integers(2, largest_l(table)), "l")
    result = Anatomy(l=l).anonymize(table, seed=data.draw(st.integers(0, 9)))
    assert result.form == "bucketized"
    assert (table.rows - result.published) == 0
    assert result.count == table.rows // l
    assert np.bincount(row_groups(table, result)).min() >= l
    carried = table.row_event >= 0
    pairs = Counter(zip(row_groups(table, result)[carried], table.row_event[carried], strict=True))
    assert max(pairs.values()) == 1
    assert result.claims["l"] == l
    assert result.claims["residue"] == table.rows % l


@settings(max_examples=200, deadline=None)
@given(tables(), st.integers(2, 6))
def test_too_frequent_events_are_refused_and_the_offered_l_works(table: Table, l: int) -> None:
    largest = largest_l(table)
    if l <= largest:
        Anatomy(l=l).anonymize(table)
        return
    with pytest.raises(InputError) as caught:
        Anatomy(l=l).anonymize(table)
    assert caught.value.code == "ineligible"
    if largest >= 2:
        assert f"largest l that works is {largest};" in caught.value.remedy
        Anatomy(l=largest).anonymize(table)
    else:
        assert "No l works" in caught.value.remedy


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 8), min_size=1, max_size=8), st.integers(0, 12), st.integers(2, 5))
def test_groups_are_taken_from_the_largest_buckets(events: list[int], pool: int, l: int) -> None:
    left = np.array([*events, pool])
    start = np.concatenate([[0], np.cumsum(left)])
    bucket = np.repeat(np.arange(len(left)), left)
    by_size = np.argsort(-left, kind="stable")
    groups = deal(np.arange(len(bucket)), start, by_size, l)
    for group in range(groups.max(initial=-1) + 1):
        taken = np.bincount(bucket[groups == group], minlength=len(left))
        assert taken.sum() == l
        assert taken[:-1].max() <= 1
        if (left > 0).sum() >= l:
            assert taken.max() == 1
            assert left[taken > 0].min() >= left[taken == 0].max(initial=0)
        else:
            assert (taken[:-1] == (left[:-1] > 0)).all()
        left = left - taken
    assert (left > 0).sum() < l
    assert (left[:-1] > 0).sum() + left[-1] < l
    assert left.sum() == (groups < 0).sum()


def test_with_filler_a_group_is_one_event_row_and_filler() -> None:
    table = table_of("e" * 3 + "abc" * 4, protect="e", r=5)
    result = Anatomy().anonymize(table)
    assert sorted(np.bincount(row_groups(table, result))) == [5, 5, 5]
    assert sorted(row_groups(table, result)[:3]) == [0, 1, 2]


def test_several_events_meet_filler_before_each_other() -> None:
    table = table_of("aabb" + "o" * 12, protect="ab", r=2)
    groups = row_groups(table, Anatomy().anonymize(table))
    shown = {
        "".join(sorted("aabboooooooooooo"[row] for row in np.flatnonzero(groups == g)))
        for g in range(8)
    }
    assert shown == {"ao", "bo", "oo"}


def test_the_members_of_a_set_count_as_one_event() -> None:
    frame = pl.DataFrame({"qi": [1] * 6, "x": ["a", "b", "o", "o", "o", "o"]})
    for members in (False, True):
        spec = Spec(
            qi=("qi",), sensitive="x", r=3, protect=(Event(("a", "b")),), publish_members=members
        )
        table = Table.from_frame(frame, spec)
        groups = row_groups(table, Anatomy().anonymize(table))
        assert groups[0] != groups[1]


def test_a_refusal_names_value_share_and_limit() -> None:
    table = table_of("a" * 4 + "bbb" + "ccc")
    with pytest.raises(InputError, match=r'"a" has 4 of 10 rows \(40 %\), more than one in l = 3'):
        Anatomy(l=3).anonymize(table)


@pytest.mark.parametrize(("r", "l"), [(2, 2), (2.5, 3), (3, 3)])
def test_l_follows_from_r(r: float, l: int) -> None:
    assert Anatomy().anonymize(table_of("abcdef", r=r)).claims["l"] == l


def test_l_follows_from_the_strictest_event() -> None:
    frame = pl.DataFrame({"qi": [1] * 8, "x": list("abcdefgh")})
    events = (Event(("a",)), Event(("b",), r=4))
    table = Table.from_frame(frame, Spec(qi=("qi",), sensitive="x", r=2, protect=events))
    assert Anatomy().anonymize(table).claims["l"] == 4


@pytest.mark.parametrize("l", [1, 0, -3, 2.5, True])
def test_l_must_be_a_whole_number_above_one(l: int) -> None:
    with pytest.raises(InputError, match="at least 2"):
        Anatomy(l=l).anonymize(table_of("abcdef"))


def test_the_seed_decides_and_chance_is_used() -> None:
    frame = pl.DataFrame({"qi": range(40), "x": list("abcd" * 10)})
    table = Table.from_frame(frame, Spec(qi=("qi",), sensitive="x", r=2))
    first, again, other = (
        row_groups(table, Anatomy().anonymize(table, seed=seed)) for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_leftovers_go_to_random_groups() -> None:
    table = table_of("e" + "o" * 24, protect="e", r=2)
    places = {
        int(np.bincount(row_groups(table, Anatomy().anonymize(table, seed=s))).argmax())
        for s in range(40)
    }
    assert len(places) > 5


def test_progress_ends_at_the_last_row() -> None:
    seen: list[tuple[str, int, int]] = []
    Anatomy().anonymize(table_of("abcd"), progress=lambda *now: seen.append(now))
    assert seen[-1] == ("grouping", 4, 4)


def test_it_is_an_anonymizer() -> None:
    method: Anonymizer = Anatomy()
    assert method.name == "anatomy"


@pytest.mark.data
def test_adult(adult_path: Path) -> None:
    frame = adult(adult_path)
    spec = Spec(qi=ADULT_QI[:5], sensitive=ADULT_SENSITIVE, r=10, protect=(Event(ADULT_EVENT),))
    table = Table.from_frame(frame, spec)
    result = Anatomy().anonymize(table)
    assert result.count == 4_522
    assert np.bincount(row_groups(table, result)[table.row_event == 0]).max() == 1
    with pytest.raises(InputError, match=r"HS-grad.*32\.7 %.*largest l that works is 3"):
        Anatomy().anonymize(Table.from_frame(frame, spec.with_(protect=None)))
