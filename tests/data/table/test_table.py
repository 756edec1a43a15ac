"""Table: the same codes from every kind of frame, nothing lost, and every mistake explained."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shoal.data.datasets import hospital
from shoal.data.spec import MISSING, Event, Spec
from shoal.data.table import Table
from shoal.errors import InputError

PEOPLE: dict[str, list[Any]] = {
    "age": [30, None, 9, 30, 100, 9],
    "sex": ["f", "m", None, "f", "m", "m"],
    "height": [1.5, 2.0, float("nan"), 1.5, None, 1.5],
    "disease": ["Flu", "HIV", "Flu", "Hepatitis", None, "Cold"],
    "name": ["A", "B", "C", "D", "E", "F"],
}
FRAME = pl.DataFrame(PEOPLE, strict=False)
KINDS = [FRAME, pd.DataFrame(PEOPLE), pa.table(PEOPLE)]


def spec(**changes: Any) -> Spec:
    defaults: dict[str, Any] = {"qi": ["age", "sex", "height"], "sensitive": "disease", "r": 2}
    return Spec(**(defaults | changes))


def decoded(table: Table) -> list[tuple[str, ...]]:
    """Every row as text again, from its codes."""
    return [
        (*table.describe(int(signature)).values(), table.members.labels[member])
        for signature, member in zip(table.row_signature, table.row_member, strict=True)
    ]


# --- From a frame ------------------------------------------------------------------------


@pytest.mark.parametrize("frame", KINDS, ids=["polars", "pandas", "pyarrow"])
def test_every_kind_of_frame_gives_the_same_table(frame: Any) -> None:
    table, expected = Table.from_frame(frame, spec()), Table.from_frame(FRAME, spec())
    assert table.native is frame
    assert [column.labels for column in table.qi] == [column.labels for column in expected.qi]
    assert [column.numeric for column in table.qi] == [True, False, True]
    assert table.members.labels == expected.members.labels
    assert table.values == expected.values
    for name in ("row_signature", "row_member", "signatures", "row_value", "row_event"):
        assert np.array_equal(getattr(table, name), getattr(expected, name)), name
        assert getattr(table, name).dtype == np.int32


def test_missing_values_are_a_category_and_no_row_is_dropped() -> None:
    table = Table.from_frame(FRAME, spec())
    assert table.rows == 6
    assert [column.labels for column in table.qi] == [
        ("9", "30", "100", MISSING),
        ("f", "m", MISSING),
        ("1.5", "2", MISSING),
    ]
    assert table.members.labels == ("Cold", "Flu", "HIV", "Hepatitis", MISSING)
    assert decoded(table) == [
        ("30", "f", "1.5", "Flu"),
        (MISSING, "m", "2", "HIV"),
        ("9", MISSING, MISSING, "Flu"),
        ("30", "f", "1.5", "Hepatitis"),
        ("100", "m", MISSING, MISSING),
        ("9", "m", "1.5", "Cold"),
    ]


def test_a_missing_sensitive_value_can_be_protected() -> None:
    table = Table.from_frame(FRAME, spec(protect=[MISSING]))
    assert table.row_event.tolist() == [-1, -1, -1, -1, 0, -1]


def test_numbers_stay_numbers() -> None:
    age = Table.from_frame(FRAME, spec()).qi[0]
    assert age.numeric
    assert age.values.to_list() == [9, 30, 100, None]
    assert len(age) == 4


# --- Compression -------------------------------------------------------------------------


def test_signatures_and_cells_against_a_plain_count() -> None:
    frame = hospital(3000, seed=1)
    qi = ["age", "sex", "occupation"]
    table = Table.from_frame(frame, Spec(qi=tuple(qi), sensitive="diagnosis", r=2))
    assert decoded(table) == [
        tuple(map(str, row)) for row in frame.select([*qi, "diagnosis"]).iter_rows()
    ]
    signatures = frame.group_by(qi).len().sort(qi)
    assert [tuple(table.describe(s).values()) for s in range(len(table.signatures))] == [
        (str(age), sex, job) for age, sex, job, _ in signatures.iter_rows()
    ]
    assert table.signature_rows.tolist() == signatures["len"].to_list()
    cells = frame.group_by([*qi, "diagnosis"]).len().sort([*qi, "diagnosis"])
    signature, value, rows = table.cells
    assert rows.tolist() == cells["len"].to_list()
    assert [table.values[v] for v in value] == cells["diagnosis"].to_list()
    assert np.array_equal(np.bincount(signature, weights=rows), table.signature_rows)
    totals = frame["diagnosis"].value_counts().sort("diagnosis")
    assert table.value_rows.tolist() == totals["count"].to_list()


def test_a_table_with_more_possible_signatures_than_64_bits_count() -> None:
    rng = np.random.default_rng(9)
    names = [f"q{i}" for i in range(20)]
    frame = pl.DataFrame({name: rng.integers(0, 60, 500) for name in names}).with_columns(
        pl.Series("x", rng.integers(0, 3, 500))
    )
    frame = pl.concat([frame, frame.head(50)])
    table = Table.from_frame(frame, Spec(qi=tuple(names), sensitive="x", r=2))
    assert np.prod([float(len(column)) for column in table.qi]) > 2**62
    assert len(table.signatures) == 500
    assert decoded(table) == [tuple(map(str, row)) for row in frame.iter_rows()]
    assert table.signature_rows.sum() == 550


# --- Events ------------------------------------------------------------------------------


def test_by_default_each_value_is_an_event() -> None:
    table = Table.from_frame(FRAME, spec())
    assert table.values == table.members.labels
    assert [event.values for event in table.events] == [(label,) for label in table.values]
    assert table.value_event.tolist() == [0, 1, 2, 3, 4]
    assert np.array_equal(table.row_event, table.row_member)


def test_a_set_event_is_published_under_its_label() -> None:
    events = [["HIV", "Hepatitis"], Event(("Cold",), r=7)]
    table = Table.from_frame(FRAME, spec(protect=events))
    assert table.values == ("Cold", "Flu", "HIV|Hepatitis", MISSING)
    assert table.member_value.tolist() == [0, 1, 2, 2, 3]
    assert table.value_event.tolist() == [1, -1, 0, -1]
    assert table.row_value.tolist() == [1, 2, 1, 2, 3, 0]
    assert table.row_event.tolist() == [-1, 0, -1, 0, -1, 1]
    assert table.value_rows.tolist() == [1, 2, 2, 1]
    assert table.event_r.tolist() == [2, 7]


def test_a_label_of_ones_own() -> None:
    table = Table.from_frame(FRAME, spec(protect=[Event(("HIV", "Hepatitis"), label="infection")]))
    assert table.values == ("Cold", "Flu", "infection", MISSING)


def test_a_set_event_may_be_called_like_one_of_its_values() -> None:
    table = Table.from_frame(FRAME, spec(protect=[Event(("HIV", "Hepatitis"), label="HIV")]))
    assert table.values == ("Cold", "Flu", "HIV", MISSING)


def test_members_can_be_published_and_still_make_one_event() -> None:
    table = Table.from_frame(FRAME, spec(protect=[["HIV", "Hepatitis"]], publish_members=True))
    assert table.values == table.members.labels
    assert table.value_event.tolist() == [-1, -1, 0, 0, -1]
    assert table.row_event.tolist() == [-1, 0, -1, 0, -1, -1]


def test_numeric_sensitive_values_are_named_as_they_are_shown() -> None:
    frame = FRAME.with_columns(pl.Series("disease", [1, 2, 2, 3, 10, 1]))
    table = Table.from_frame(frame, spec(protect=[["10", "3"]]))
    assert table.values == ("1", "2", "10|3")


# --- Mistakes ----------------------------------------------------------------------------


CONSTANT = FRAME.with_columns(disease=pl.lit("Flu"))
ALL_MISSING = FRAME.with_columns(disease=pl.lit(None, dtype=pl.String))
COLUMNS = "Choose among: age, sex, height, disease, name."

MISTAKES: list[tuple[pl.DataFrame, dict[str, Any], str, str]] = [
    (FRAME.head(0), {}, "table-empty", "The table has no rows. Give a table with people in it."),
    (
        FRAME.head(1),
        {},
        "table-empty",
        "The table has one row, so nobody can hide. Give more rows.",
    ),
    (
        FRAME,
        {"qi": ["age", "heigth"]},
        "column-missing",
        f'The QI column "heigth" does not exist (did you mean "height"?). {COLUMNS}',
    ),
    (
        FRAME,
        {"sensitive": "salary"},
        "column-missing",
        f'The sensitive column "salary" does not exist. {COLUMNS}',
    ),
    (
        FRAME,
        {"identifiers": ["nme"]},
        "column-missing",
        f'The identifier column "nme" does not exist (did you mean "name"?). {COLUMNS}',
    ),
    (
        CONSTANT,
        {},
        "sensitive-constant",
        'The sensitive column "disease" has one value, "Flu": everybody is known to have it. '
        "Choose a column that differs between people.",
    ),
    (
        ALL_MISSING,
        {},
        "sensitive-constant",
        'The sensitive column "disease" has one value, "(missing)": everybody is known to have it. '
        "Choose a column that differs between people.",
    ),
    (
        FRAME,
        {"protect": [["HIV", "Hepatits"]]},
        "value-missing",
        'The protected value "Hepatits" never occurs in "disease" (did you mean "Hepatitis"?). '
        "Protect values that occur in the table.",
    ),
    (
        FRAME,
        {"protect": [Event(("HIV", "Hepatitis"), label="Flu")]},
        "event-label",
        'The event label "Flu" is also a value of "disease" outside it. Choose another label.',
    ),
    (
        FRAME,
        {"protect": [Event(("Cold", "Flu", "HIV", "Hepatitis", MISSING), label="ill")]},
        "event-everything",
        'The event "ill" covers every value of "disease". Leave at least one value outside it.',
    ),
    (
        FRAME.with_columns(sex=pl.Series([["f"]] * 6)),
        {},
        "column-type",
        'Column "sex" holds List(String), which cannot be published as a value. '
        "Turn it into text or numbers first.",
    ),
    (
        FRAME.with_columns(sex=pl.Series([b"f"] * 6)),
        {},
        "column-type",
        'Column "sex" holds Binary, which cannot be published as a value. '
        "Turn it into text or numbers first.",
    ),
    (
        FRAME.with_columns(sex=pl.Series([timedelta(days=1)] * 6)),
        {},
        "column-type",
        "Column \"sex\" holds Duration(time_unit='us'), which cannot be published as a value. "
        "Turn it into text or numbers first.",
    ),
    (
        FRAME.with_columns(sex=pl.Series(["(missing)", None, "f", "f", "m", "m"])),
        {},
        "missing-label",
        'Column "sex" has missing values and also the text "(missing)". Rename that text.',
    ),
]


@pytest.mark.parametrize(("frame", "changes", "code", "message"), MISTAKES)
def test_every_mistake_in_one_clear_sentence(
    frame: pl.DataFrame, changes: dict[str, Any], code: str, message: str
) -> None:
    with pytest.raises(InputError) as raised:
        Table.from_frame(frame, spec(**changes))
    assert raised.value.code == code
    assert str(raised.value) == message


def test_columns_without_a_role_may_hold_anything() -> None:
    frame = FRAME.with_columns(scan=pl.Series([[1]] * 6))
    assert Table.from_frame(frame, spec()).rows == 6
