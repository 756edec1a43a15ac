"""Recoding before anonymization, against a slow twin that goes row by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.data.table.recoding import recoded
from shoal.errors import InputError


def recode(values: Any, **recipe: Any) -> list[Any]:
    frame = pl.DataFrame({"q": pl.Series(values), "x": ["a"] * len(values)})
    spec = Spec(qi=["q"], sensitive="x", r=2, recode={"q": recipe})
    return recoded(frame, spec)["q"].to_list()


# --- The slow twin ---------------------------------------------------------------------------


def in_band(number: int, width: int) -> str:
    start = number - number % width
    return f"{start}-{start + width - 1}" if width > 1 else str(start)


def cut_at(number: int, cuts: list[int]) -> str:
    if number < cuts[0]:
        return f"under {cuts[0]}"
    for low, high in pairwise(cuts):
        if low <= number < high:
            return f"{low}-{high - 1}" if high - low > 1 else str(low)
    return f"{cuts[-1]} or more"


def quantile_cuts(numbers: list[int], parts: int) -> list[int]:
    """The numbers at which a part starts."""
    part = {
        number: Fraction(parts * sum(other < number for other in numbers), len(numbers)) // 1
        for number in numbers
    }
    known = sorted(part)
    return [high for low, high in pairwise(known) if part[low] < part[high]]


def twin(values: list[int | None], recipe: dict[str, Any]) -> list[Any]:
    kept = [None if value in recipe.get("missing", ()) else value for value in values]
    there = [value for value in kept if value is not None]
    label: Callable[[int], Any] = str if recipe.get("nominal") else lambda value: value
    if "bands" in recipe:
        label = lambda value: in_band(value, recipe["bands"])  # noqa: E731
    if "cuts" in recipe:
        label = lambda value: cut_at(value, recipe["cuts"])  # noqa: E731
    if "quantiles" in recipe and there:
        cuts = quantile_cuts(there, recipe["quantiles"])
        label = lambda value: cut_at(value, cuts) if cuts else "any"  # noqa: E731
    made = [None if value is None else label(value) for value in kept]
    if "rare" not in recipe:
        return made
    rows = Counter(made)
    texts = ["(rare)" if rows[one] < recipe["rare"] else one and str(one) for one in made]
    return [None if one is None else text for one, text in zip(made, texts, strict=True)]


RECIPES = st.fixed_dictionaries({}, optional={"rare": st.integers(2, 5)}).flatmap(
    lambda rare: st.one_of(
        st.builds(lambda width: rare | {"bands": width}, st.integers(1, 12)),
        st.builds(lambda parts: rare | {"quantiles": parts}, st.integers(2, 6)),
        st.builds(
            lambda cuts: rare | {"cuts": sorted(cuts)}, st.sets(st.integers(0, 30), min_size=1)
        ),
        st.just(rare | {"nominal": True}),
    )
)


@given(st.lists(st.integers(0, 30) | st.none(), min_size=2, max_size=40), RECIPES)
def test_values_become_what_they_would_row_by_row(
    values: list[int | None], recipe: dict[str, Any]
) -> None:
    known = [value for value in values if value is not None]
    if not known:
        return
    assert recode(values, **recipe) == twin(values, recipe)
    with_missing = recipe | {"missing": list(set(known[:2]))}
    if set(known) - set(known[:2]):
        assert recode(values, **with_missing) == twin(values, with_missing)


# --- By hand ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "recipe", "expected"),
    [
        ([39, 40, 49, None], {"bands": 10}, ["30-39", "40-49", "40-49", None]),
        ([39.0, 40.0, float("nan")], {"bands": 10}, ["30-39", "40-49", None]),
        ([0.1, 0.3, 1.0], {"bands": 0.1}, ["[0.1, 0.2)", "[0.3, 0.4)", "[1, 1.1)"]),
        ([-5, 5], {"bands": 10}, ["[-10, 0)", "0-9"]),
        ([17.9, 18, 65], {"cuts": [18, 65]}, ["under 18", "[18, 65)", "65 or more"]),
        ([97, 30, 98], {"missing": [97, 98.0]}, [None, 30, None]),
        (["a", "?", "b"], {"missing": ["?"]}, ["a", None, "b"]),
        (["30", "x", "41"], {"missing": ["x"], "bands": 10}, ["30-39", None, "40-49"]),
        ([3, 1, 3], {"nominal": True}, ["3", "1", "3"]),
        ([2.5, 1.0], {"nominal": True}, ["2.5", "1"]),
        (["a", "b", "b", None], {"rare": 2}, ["(rare)", "b", "b", None]),
        ([3.0, 3.0, 4.0], {"rare": 2}, ["3", "3", "(rare)"]),
        ([date(2020, 3, 1), date(2021, 1, 9), None], {"date": "year"}, [2020, 2021, None]),
        ([date(2020, 3, 1), date(2021, 1, 9)], {"date": "month"}, ["2020-03", "2021-01"]),
        (["2020-03-01", "2021-01-09"], {"date": "month"}, ["2020-03", "2021-01"]),
        ([datetime(2020, 3, 1, 23, 5)] * 2, {"date": "day"}, [date(2020, 3, 1)] * 2),
        (
            [date(2020, 3, 1), date(1900, 1, 1)],
            {"missing": ["1900-01-01"]},
            [date(2020, 3, 1), None],
        ),
    ],
)
def test_by_hand(values: list[Any], recipe: dict[str, Any], expected: list[Any]) -> None:
    assert recode(values, **recipe) == expected


def test_types_stay_where_values_do() -> None:
    frame = pl.DataFrame({"q": pl.Series([0.1, 9.0], dtype=pl.Float32), "x": ["a", "b"]})
    spec = Spec(qi=["q"], sensitive="x", r=2, recode={"q": {"missing": [9]}})
    assert recoded(frame, spec)["q"].equals(pl.Series("q", [0.1, None], dtype=pl.Float32))
    assert recoded(frame, spec.with_(recode=())) is frame


def test_hierarchies(tmp_path: Path) -> None:
    path = tmp_path / "icd.csv"
    path.write_text("295,psychoses,mental,*\n305,abuse,mental,*\n250,diabetes,endocrine,*\n")
    values = [295, 305, 250, None, 999]
    one = recode(values, hierarchy=str(path), missing=[999])
    assert one == ["psychoses", "abuse", "diabetes", None, None]
    two = recode(values, hierarchy=str(path), missing=[999], level=2, rare=2)
    assert two == ["mental", "mental", "(rare)", None, None]
    with pytest.raises(InputError, match='lacks the value "999"'):
        recode(values, hierarchy=str(path))
    with pytest.raises(InputError, match="no level 4"):
        recode(values, hierarchy=str(path), missing=[999], level=4)


def test_counted_cells_are_recoded_as_their_rows_would_be() -> None:
    ages = [20, 21, 21, 35, 35, 35, 60, 61] * 3
    frame = pl.DataFrame({"age": ages, "x": ["a", "b", "c", "a", "b", "b", "b", "a"] * 3})
    for recipe in ({"quantiles": 3}, {"rare": 6}, {"bands": 20}):
        spec = Spec(qi=["age"], sensitive="x", r=2, recode={"age": recipe, "x": {"rare": 4}})
        cells = frame.group_by("age", "x", maintain_order=True).len("rows")
        counted, whole = Table.from_cells(cells, spec), Table.from_frame(frame, spec)
        assert counted.qi[0].labels == whole.qi[0].labels
        assert [part.tolist() for part in counted.cells] == [part.tolist() for part in whole.cells]


@pytest.mark.parametrize(
    ("written", "days"),
    [
        (["01.03.2008", "2.3.2008", "31.12.2009"], ["2008-03-01", "2008-03-02", "2009-12-31"]),
        (["01/03/2008", "13/3/2008"], ["2008-03-01", "2008-03-13"]),
        (["3/1/2008", "03/13/2008"], ["2008-03-01", "2008-03-13"]),
        (["1-3-2008 10:30", "13-3-2008 07:00"], ["2008-03-01", "2008-03-13"]),
        (["04/04/2008", "2008-05-01"], ["2008-04-04", "2008-05-01"]),
    ],
)
def test_dates_as_they_are_written_elsewhere(written: list[str], days: list[str]) -> None:
    assert recode(written, date="day") == [date.fromisoformat(day) for day in days]
    assert recode(written, date="month") == [day[:7] for day in days]
    frame = pl.DataFrame({"q": written, "x": ["a"] * len(written)})
    asked = Spec(qi=["x"], sensitive="q", r=2, protect=[f"{days[0]}..{days[0]}"])
    assert Table.from_frame(frame, asked).carriers == 1


def test_codes_become_labels() -> None:
    labels = {0: "none", "5": "Buddhist"}
    assert recode([0, 5, 9, None], missing=[9], labels=labels) == ["none", "Buddhist", None, None]
    assert recode([0, 5, 7], labels=labels) == ["none", "Buddhist", "7"]
    assert recode([0.0, 5.0, 7.5], labels=labels) == ["none", "Buddhist", "7.5"]
    assert recode([0, 0, 5], labels=labels, rare=2) == ["none", "none", "(rare)"]


def test_labels_may_have_a_hierarchy(tmp_path: Path) -> None:
    path = tmp_path / "faith.csv"
    path.write_text("none,no\nBuddhist,yes\n")
    assert recode([0, 5], labels={0: "none", 5: "Buddhist"}, hierarchy=str(path)) == ["no", "yes"]


def test_events_are_those_of_the_recoded_column() -> None:
    frame = pl.DataFrame({"q": ["m", "f"] * 4, "bmi": [18, 22, 27, 31, 35, 41, 99, 99]})
    spec = Spec(qi=["q"], sensitive="bmi", r=2, recode={"bmi": {"missing": [99], "cuts": [25, 40]}})
    table = Table.from_frame(frame, spec.with_(protect=["40 or more"]))
    assert table.values == ("25-39", "40 or more", "under 25", "(missing)")
    assert table.carriers == 1
    with pytest.raises(InputError) as raised:
        Table.from_frame(frame, spec.with_(protect=[">= 40"]))
    assert str(raised.value) == (
        'The protected value ">= 40" never occurs in "bmi", whose values are neither numbers nor '
        'dates. Protect values that occur in the table as it is recoded, such as "25-39", '
        '"40 or more", "under 25", "(missing)".'
    )
    months = pl.DataFrame(
        {"q": ["m", "f"] * 2, "day": ["2020-03-01", "2020-04-30", "2020-07-01", ""]}
    )
    spec = Spec(qi=["q"], sensitive="day", r=2, recode={"day": {"date": "month"}})
    table = Table.from_frame(months, spec.with_(protect=["2020-03..2020-04"]))
    assert table.events[0].values == ("2020-03", "2020-04")


def test_protected_values_are_never_gathered() -> None:
    codes = ["290", "295", "310", "401", "402", "500", "500", "500"]
    frame = pl.DataFrame({"q": ["m", "f"] * 4, "x": codes})
    spec = Spec(qi=["q"], sensitive="x", r=2, protect=["290..319"], recode={"x": {"rare": 3}})
    table = Table.from_frame(frame, spec)
    assert table.members.labels == ("(rare)", "290", "295", "310", "500")
    assert table.carriers == 3
    assert Table.from_frame(frame, table.spec).spec == table.spec
    every = Table.from_frame(frame, spec.with_(protect=None))
    assert every.members.labels == ("(rare)", "500")


@pytest.mark.parametrize(
    ("values", "recipe", "code"),
    [
        (["a", "b"], {"bands": 10}, "recode-values"),
        (["1", "2", "3", "V4"], {"bands": 10}, "recode-values"),
        ([1.0, float("inf")], {"quantiles": 2}, "recode-values"),
        (["2020-01-01", "2020-02-30", "soon"], {"date": "year"}, "recode-values"),
        (["2020-01-01", "2020-02-30"], {"date": "day"}, "recode-values"),
        (["01/03/2020", "02/04/2020"], {"date": "year"}, "date-order"),
        (["13.13.2020", "12.12.2020"], {"date": "year"}, "recode-values"),
        (["12/13/2020", "13/12/2020"], {"date": "year"}, "recode-values"),
        (["03.13.2020", "01.02.2020"], {"date": "year"}, "recode-values"),
        ([1, 2], {"labels": {7: "seven"}}, "recode-values"),
        (["1", "2"], {"labels": {1: "one", 2: "two"}, "bands": 10}, "recode-values"),
        ([1, 2], {"date": "year"}, "recode-values"),
        ([1, 2], {"missing": [97, 98]}, "recode-values"),
    ],
)
def test_columns_that_a_recipe_does_not_fit(
    values: list[Any], recipe: dict[str, Any], code: str
) -> None:
    with pytest.raises(InputError) as raised:
        recode(values, **recipe)
    assert raised.value.code == code
