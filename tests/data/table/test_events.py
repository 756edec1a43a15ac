"""Events beside a column: what entries stand for, and every way to mistake them."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.sources import read_table
from shoal.data.spec import MISSING, Event, InputWarning, Spec
from shoal.data.spec.events import Ranged
from shoal.data.table import Table
from shoal.data.table.coding import code_column
from shoal.data.table.events import resolve_events
from shoal.data.table.scale import Numbers, scale_of
from shoal.errors import InputError

CODES = ["250", "250.01", "289.9", "290", "295", "305", "319", "319.5", "320", "E812", "V45", None]


def resolved(values: Any, *entries: str, label: str = "") -> Event:
    column, codes = code_column(pl.Series("x", values))
    (event,) = resolve_events(
        [Event(entries, label=label)], column, lambda: np.bincount(codes, minlength=len(column))
    )
    return event


@pytest.mark.parametrize(
    ("entries", "values"),
    [
        (("290..319",), ("290", "295", "305", "319", "319.5")),
        (("290..319.0",), ("290", "295", "305", "319")),
        (("290 .. 319", "not 305"), ("290", "295", "319", "319.5")),
        ((">= 319",), ("319", "319.5", "320")),
        (("x > 319",), ("319.5", "320")),
        (("<= 250",), ("250",)),
        (("< 251", "V*"), ("250", "250.01", "V45")),
        (("25?",), ("250",)),
        (("*",), tuple(code for code in CODES if code)),
        (("not *.*", "not ???"), ("E812",)),
        (("not 200..400",), ("E812", "V45")),
        (("not 200..400", "not V45"), ("E812",)),
        (("295", MISSING), ("295", MISSING)),
        (("E*", MISSING), ("E812", MISSING)),
    ],
)
def test_codes_that_are_mostly_numbers(entries: tuple[str, ...], values: tuple[str, ...]) -> None:
    event = resolved(CODES, *entries)
    assert event.values == values
    assert event.label == "|".join(entries)


@pytest.mark.parametrize(
    ("entry", "values"),
    [
        (">= 30", ("30", "30.4", "40")),
        ("25..30", ("25", "30", "30.4")),
        ("-1..0", ("-1.5", "0")),
        ("0..25", ("0", "25")),
        ("40.0", ("40",)),
        ("4e1", ("40",)),
        ("not < 30", ("30", "30.4", "40")),
        ("3*", ("30", "30.4")),
    ],
)
def test_numbers(entry: str, values: tuple[str, ...]) -> None:
    assert resolved([40.0, 25.0, 30.4, 0.0, -1.5, 30.0, None], entry).values == values


@pytest.mark.parametrize("kind", ["date", "text", "time"])
@pytest.mark.parametrize(
    ("entry", "places"),
    [
        ("2020-03-01..2020-05-31", [1, 2]),
        ("2020-03..2020-05", [1, 2]),
        ("2019..2020", [0, 1, 2, 3]),
        ("> 2020-05", [3, 4]),
        ("<= 2020-05-31", [0, 1, 2]),
        ("< 2020", [0]),
        ("not 2020..2020", [0, 4]),
    ],
)
def test_dates(kind: str, entry: str, places: list[int]) -> None:
    days = [
        date(2019, 12, 31),
        date(2020, 3, 1),
        date(2020, 5, 31),
        date(2020, 6, 1),
        date(2021, 1, 1),
    ]
    values: list[Any] = list(days)
    if kind == "text":
        values = [str(day) for day in days]
    elif kind == "time":
        values = [datetime(day.year, day.month, day.day, 23, 59) for day in days]
    event = resolved([*values, None], entry)
    assert [value[:10] for value in event.values] == [str(days[place]) for place in places]


def test_a_value_that_occurs_always_wins() -> None:
    income = ["<=50K", ">50K", "not told", "1..2", "a*", "@x.txt", "ab"]
    for value in income:
        event = Event((value,), label="as it stands")
        assert resolved(income, value, label="as it stands") == event
    assert resolved(income, "not not told").values == tuple(sorted({*income} - {"not told"}))


@given(
    st.lists(st.decimals(0, 400, places=2), min_size=2, max_size=30),
    st.integers(0, 400),
    st.integers(0, 400),
)
def test_a_range_is_what_its_definition_says(numbers: list[Decimal], one: int, other: int) -> None:
    low, high = sorted((one, other))
    texts = sorted({str(number).rstrip("0").rstrip(".") or "0" for number in numbers})
    found = Numbers({text: Decimal(text) for text in texts}).ranged(Ranged(str(low), str(high)))
    # By the definition: what begins like the end, cut as text, is part of it.
    assert found == [text for text in texts if low <= int(text.partition(".")[0]) <= high]


def test_a_few_numbers_among_texts_are_no_scale() -> None:
    assert scale_of(code_column(pl.Series("x", ["1", "2", "a", "b", None]))[0]) is None
    assert isinstance(scale_of(code_column(pl.Series("x", ["1", "2", "a", None]))[0]), Numbers)
    assert scale_of(code_column(pl.Series("x", ["1_0", "١", "nan", "1e5", "inf"]))[0]) is None


# --- Files and hierarchies -----------------------------------------------------------------


def test_a_list_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "codes.txt"
    path.write_text("\ufeff295\r\n\r\n 300..310 \nV*\n", encoding="utf-8")
    event = resolved(CODES, f"@{path}")
    assert event.values == ("295", "305", "V45")
    assert event.label == "codes"
    assert resolved(CODES, "290..319", f"not @{path}").values == ("290", "319", "319.5")


def test_lines_that_never_occur_are_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "codes.txt"
    path.write_text("295\nF20\nF21\n")
    with pytest.warns(
        InputWarning, match='Of the file "codes.txt", 2 never occur in "x": "F20", "F21"'
    ):
        assert resolved(CODES, f"@{path}").values == ("295",)


def test_a_node_of_a_hierarchy(tmp_path: Path) -> None:
    path = tmp_path / "icd.csv"
    path.write_text(
        "290,psychoses,mental,*\n295,psychoses,mental,*\n305,other,mental,*\n250,d,endo,*\n"
    )
    assert resolved(CODES, f"@{path}:mental").values == ("290", "295", "305")
    assert resolved(CODES, f"@{path}:psychoses").values == ("290", "295")
    assert resolved(CODES, f"@{path}:psychoses").label == "psychoses"
    widths = tmp_path / "bmi.toml"
    widths.write_text("widths = [10, 20]\n")
    assert resolved([31, 39, 45, None], f"@{widths}:[30, 40)").values == ("31", "39")


# --- Mistakes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "entries", "code", "problem"),
    [
        (
            ["HIV"] * 180 + ["flu"],
            ["hiv"],
            "value-missing",
            'The protected value "hiv" never occurs in "x"; "HIV" occurs 180 times.',
        ),
        (
            ["HIV", "H\u0406V", "H\u0406V", "flu"],
            ["h\uff49v"],
            "value-missing",
            'The protected value "h\uff49v" never occurs in "x"; "HIV" occurs once, '
            '"H\u0406V" occurs 2 times.',
        ),
        (
            ["Hepatitis", "flu"],
            ["Hepatits"],
            "value-missing",
            'The protected value "Hepatits" never occurs in "x" (did you mean "Hepatitis"?).',
        ),
        (
            CODES,
            ["900..999"],
            "value-missing",
            'The protected value "900..999" never occurs in "x", which reaches from 250 to 320.',
        ),
        (
            ["a", "b"],
            [">= 3"],
            "value-missing",
            'The protected value ">= 3" never occurs in "x", whose values are neither numbers nor '
            "dates.",
        ),
        (
            ["<=50K", ">50K"],
            [">60K"],
            "value-missing",
            'The protected value ">60K" never occurs in "x" (did you mean ">50K"?).',
        ),
        (
            [5, 20, 20],
            ["20 mg"],
            "value-missing",
            'The protected value "20 mg" never occurs in "x"; "20" occurs 2 times.',
        ),
        (CODES, ["W*"], "value-missing", 'The protected value "W*" never occurs in "x".'),
        (
            CODES,
            ["319..290"],
            "event-form",
            '"319..290" is no range of "x", which holds numbers.',
        ),
        (
            ["2020-01-01", "2020-01-02"],
            [">= 40 "],
            "event-form",
            '">= 40 " is no range of "x", which holds dates.',
        ),
        (
            CODES,
            ["not V45", "295"],
            "event-form",
            'In the event "not V45|295", "not V45" takes nothing away.',
        ),
        (
            CODES,
            ["295", "not 290..300"],
            "event-empty",
            'The event "295|not 290..300" covers no value of "x".',
        ),
    ],
)
def test_mistakes(values: list[str], entries: list[str], code: str, problem: str) -> None:
    with pytest.raises(InputError) as raised:
        resolved(values, *entries)
    assert raised.value.code == code
    assert raised.value.problem == problem


def test_mistakes_in_files(tmp_path: Path) -> None:
    empty, tree = tmp_path / "none.txt", tmp_path / "tree.csv"
    empty.write_text("W1\n")
    tree.write_text("W1,outside,*\n295,mental,*\n")
    for entry, code, problem in (
        (f"@{empty}", "value-missing", 'Nothing in the file "none.txt" ever occurs in "x".'),
        (f"@{tree}:metal", "event-file", 'has no node "metal" (did you mean "mental"?).'),
        (f"@{tree}:outside", "value-missing", 'No value below "outside" of "tree.csv" ever occurs'),
        (f"@{tmp_path / 'gone.txt'}", "event-file", "could not be read"),
    ):
        with pytest.raises(InputError) as raised:
            resolved(CODES, entry)
        assert raised.value.code == code
        assert problem in raised.value.problem


# --- Tables --------------------------------------------------------------------------------


FRAME = pl.DataFrame({"q": ["m", "f"] * 6, "x": CODES})


def spec(**changes: Any) -> Spec:
    return Spec(**({"qi": ["q"], "sensitive": "x", "r": 2} | changes))


def test_a_table_holds_the_values_and_answers_both_specs() -> None:
    asked = spec(protect=["290..319", "V*"])
    table = Table.from_frame(FRAME, asked)
    assert [event.values for event in table.events] == [
        ("290", "295", "305", "319", "319.5"),
        ("V45",),
    ]
    assert table.spec.protect == table.events
    assert table.values[table.member_value[3]] == "290..319"
    assert table.answers(asked)
    assert table.answers(table.spec)
    assert not table.answers(asked.with_(r=3))
    assert not table.answers(asked.with_(protect=["W*"]))
    again = Table.from_frame(FRAME, table.spec)
    assert again.spec == table.spec


def test_overlaps_are_seen_once_entries_are_values() -> None:
    with pytest.raises(InputError) as raised:
        Table.from_frame(FRAME, spec(protect=["290..319", ["V*", "29*"]]))
    assert raised.value.code == "event-overlap"
    assert raised.value.problem == (
        'The value "290" of "x" belongs to the events "290..319" and "V*|29*".'
    )


def test_an_event_of_everything_is_refused() -> None:
    with pytest.raises(InputError, match=r'The event "\*" covers every value of "x"') as raised:
        Table.from_frame(FRAME.drop_nulls(), spec(protect=["*"]))
    assert raised.value.code == "event-everything"


def test_numbers_as_python_has_them() -> None:
    frame = FRAME.with_columns(x=pl.Series([1.0, 3.0, 5.0] * 4))
    table = Table.from_frame(frame, spec(protect=[3, 5.0]))
    assert [event.values for event in table.events] == [("3",), ("5",)]


def test_the_mental_disorders_of_diabetes130(data_root: Path) -> None:
    path = data_root / "diabetes130.csv.gz"
    if not path.is_file():
        pytest.skip(f"no diabetes130 in {data_root}")
    frame = read_table(path)
    asked = Spec(qi=["gender", "age"], sensitive="diag_1", protect=["290..319"], r=5)
    table = Table.from_frame(frame, asked)
    (event,) = table.events
    numbers = [
        (text, float(text)) for text in frame["diag_1"].unique().drop_nulls() if _is_number(text)
    ]
    assert set(event.values) == {text for text, number in numbers if 290 <= number < 320}
    assert table.carriers == frame["diag_1"].is_in(event.values).sum() > 2000


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()
