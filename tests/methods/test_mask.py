"""MASK: Mondrian's classes, changed values counted right, 1/m met or the classes named."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data.datasets import ADULT_EVENT, ADULT_QI, ADULT_SENSITIVE, adult
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups import Anonymizer, Grouping
from shoal.methods.mask import Mask
from shoal.methods.mondrian import Mondrian
from tests.dealing import row_groups, row_values


def table_of(ages: list[int], x: str, protect: str | None = None, r: float = 2) -> Table:
    """One row per letter; `protect` names the letters that are events, None all of them."""
    events = None if protect is None else tuple(Event((letter,)) for letter in protect)
    frame = pl.DataFrame({"age": ages, "x": list(x)})
    return Table.from_frame(frame, Spec(qi=("age",), sensitive="x", r=r, protect=events))


def published(table: Table, result: Grouping, seed: int = 0) -> str:
    return "".join(table.values[code] for code in row_values(table, result, seed))


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Up to 60 rows; all values are events, or some of them."""
    rows = draw(st.integers(2, 60))
    ages = draw(st.lists(st.integers(1, 12), min_size=rows, max_size=rows))
    text = st.text("eeeabcd", min_size=rows, max_size=rows)
    values = draw(text.filter(lambda found: len(set(found)) > 1))
    some = st.sets(st.sampled_from(sorted(set(values))), min_size=1)
    return table_of(ages, values, draw(st.none() | some.map(sorted).map("".join)))


@settings(max_examples=300, deadline=None)
@given(tables(), st.integers(1, 6), st.sampled_from([1.5, 2, 3, 4]), st.integers(0, 5))
def test_shares_meet_one_in_m_or_the_claims_say_where_not(
    table: Table, k: int, m: float, seed: int
) -> None:
    k = min(k, table.rows)
    result = Mask(k=k, m=m).anonymize(table, seed=seed)
    plain = Mondrian(k=k).anonymize(table)
    assert np.array_equal(row_groups(table, result), row_groups(table, plain))
    assert result.form == "generalized"
    assert [one.labels for one in result.recodings] == [one.labels for one in plain.recodings]

    values = row_values(table, result)
    before, after = table.row_event, table.value_event[values]
    unmet, distorted = set(), set()
    for group in range(result.count):
        rows = row_groups(table, result) == group
        for event in range(len(table.events)):
            if (after[rows] == event).sum() * m > rows.sum():
                unmet.add(group)
            if (before[rows] == event).sum() * m > rows.sum():
                distorted.add(group)
            else:
                assert (
                    values[rows & (before == event)] == table.row_value[rows & (before == event)]
                ).all()
    assert set(result.claims["classes_unmet"]) == unmet
    assert result.claims["classes_distorted"] == len(distorted)
    assert result.claims["values_changed"] == (values != table.row_value).sum()
    assert ("unmet" in result.claims["guarantee"]) == bool(unmet)
    if (table.value_event < 0).any():
        assert not unmet
    assert set(row_groups(table, result)[values != table.row_value].tolist()) <= distorted
    again = Mask(k=k, m=m).anonymize(table, seed=seed)
    assert np.array_equal(values, row_values(table, again))


@settings(max_examples=200, deadline=None)
@given(tables(), st.integers(0, 5))
def test_a_class_gets_the_share_of_a_class_that_needs_no_change(table: Table, seed: int) -> None:
    m = 3
    result = Mask(k=2, m=m).anonymize(table, seed=seed)
    after = table.value_event[row_values(table, result)]
    size = np.bincount(row_groups(table, result))
    for event in range(len(table.events)):
        had = np.bincount(row_groups(table, result)[table.row_event == event], minlength=len(size))
        has = np.bincount(row_groups(table, result)[after == event], minlength=len(size))
        over = had * m > size
        shares = (had / size)[~over] if not over.all() else [1 / m]
        for group in np.flatnonzero(over):
            if group in result.claims["classes_unmet"]:
                continue
            N = size[group]
            wanted = {min(round(share * N), N // m) for share in shares}
            if (table.value_event < 0).any():
                assert has[group] in wanted
            else:  # replacements may run out before the share is reached
                assert min(wanted) <= has[group] <= N // m


def test_replacements_come_from_the_class_if_it_can_give_any() -> None:
    table = table_of([1] * 4 + [2] * 4, "eeea" + "bcdb", protect="e")
    for seed in range(20):
        assert published(table, Mask(k=4).anonymize(table, seed=seed)) == "aaaabcdb"


def test_replacements_else_come_from_the_table() -> None:
    table = table_of([1] * 4 + [2] * 8, "eeee" + "bbbbbbcd", protect="e")
    drawn = "".join(published(table, Mask(k=4).anonymize(table, seed=s))[:4] for s in range(100))
    counts = {letter: drawn.count(letter) / 400 for letter in "bcde"}
    assert counts["e"] == 0
    assert counts["b"] == pytest.approx(6 / 8, abs=0.08)
    assert counts["c"] == pytest.approx(1 / 8, abs=0.06)


def test_random_rows_are_changed() -> None:
    table = table_of([1] * 4 + [2] * 8, "eeea" + "ebcdebcd", protect="e")
    kept = {published(table, Mask(k=4, m=3).anonymize(table, seed=s), s)[:4] for s in range(60)}
    assert kept == {"eaaa", "aeaa", "aaea"}


def test_without_filler_other_events_take_the_room_that_they_have() -> None:
    table = table_of([1] * 4 + [2] * 4, "eeab" + "abcd")
    result = Mask(k=4, m=4).anonymize(table)
    assert sorted(published(table, result)[:4]) in ([*"abcd"], [*"abce"], [*"abde"])
    assert result.claims["classes_unmet"] == []


def test_classes_without_room_are_named() -> None:
    table = table_of([1, 1, 1, 2, 2], "eea" + "ea")
    result = Mask(k=2, m=2).anonymize(table)
    assert result.claims["classes_unmet"] == [0]
    assert published(table, result) == "eeaea"
    assert result.claims["values_changed"] == 0


def test_if_every_class_is_above_the_share_becomes_one_in_m() -> None:
    table = table_of([1] * 5, "eeeeo", protect="e")
    result = Mask(k=5, m=2).anonymize(table)
    assert published(table, result).count("e") == 2
    assert result.claims["values_changed"] == 2


def test_parameters_follow_from_r() -> None:
    frame = pl.DataFrame({"age": [1] * 10 + [2] * 10, "x": list("eeeffooooo" + "o" * 10)})
    events = (Event(("e",)), Event(("f",), r=6))
    spec = Spec(qi=("age",), sensitive="x", r=2.5, protect=events)
    table = Table.from_frame(frame, spec)
    result = Mask().anonymize(table)
    assert result.claims["k"] == 6
    assert result.claims["m"] == {"e": 2.5, "f": 6.0}
    assert published(table, result)[:10] == "eeeooooooo"
    same = Table.from_frame(frame, spec.with_(protect=(Event(("e",)),)))
    assert Mask().anonymize(same).claims["m"] == 2.5


@pytest.mark.parametrize("m", [1, 0, -2, math.inf, math.nan, True, "3"])
def test_m_must_be_a_number_above_one(m: float) -> None:
    with pytest.raises(InputError, match="above 1"):
        Mask(m=m)


def test_k_is_checked() -> None:
    with pytest.raises(InputError, match="k is 0"):
        Mask(k=0).anonymize(table_of([1, 2], "eo", protect="e"))
    with pytest.raises(InputError, match="fewer than k = 3"):
        Mask(k=3).anonymize(table_of([1, 2], "eo", protect="e"))


def test_another_seed_changes_other_rows() -> None:
    table = table_of([1] * 30 + [2] * 30, "e" * 20 + "abcde" * 8, protect="e")
    assert len({published(table, Mask().anonymize(table, seed=s)) for s in range(5)}) > 1


def test_it_is_an_anonymizer() -> None:
    method: Anonymizer = Mask()
    assert method.name == "mask"


@pytest.mark.data
@pytest.mark.parametrize("r", [2, 10])
def test_adult(adult_path: Path, r: int) -> None:
    spec = Spec(qi=ADULT_QI[:5], sensitive=ADULT_SENSITIVE, r=r, protect=(Event(ADULT_EVENT),))
    table = Table.from_frame(adult(adult_path), spec)
    result = Mask().anonymize(table)
    size = np.bincount(row_groups(table, result))
    held = np.bincount(
        row_groups(table, result)[table.value_event[row_values(table, result)] == 0],
        minlength=len(size),
    )
    assert (held * r <= size).all()
    assert 0 < result.claims["values_changed"] < 1_566
