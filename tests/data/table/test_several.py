"""How a table with several sensitive columns is coded."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.knowledge import Knowledge, event_chances

FRAME = pl.DataFrame(
    {
        "age": ["30", "30", "30", "40", "40", "40", "40"],
        "asthma": ["yes", "no", "yes", "no", "no", "yes", "no"],
        "code": ["295", "401", "401", "299", "250", "428", None],
    }
)
SPEC = Spec(
    qi="age",
    sensitive=["asthma", "code"],
    protect=["asthma=yes", {"column": "code", "values": ["290..319"], "label": "mental", "r": 4}],
    r=3,
    min_support=2,
)


@pytest.fixture
def table() -> Table:
    return Table.from_frame(FRAME, SPEC)


def test_values_are_combinations_and_the_masks_that_hold_an_event(table: Table) -> None:
    several = table.several
    assert several is not None
    whole = several.parts[: several.combinations]
    assert set(whole) == {
        ("yes", "mental"),
        ("no", "401"),
        ("yes", "401"),
        ("no", "mental"),
        ("no", "250"),
        ("yes", "428"),
        ("no", "(missing)"),
    }
    masks = several.parts[several.combinations : -1]
    assert set(masks) == {("yes", "mental"), ("yes", "(other)"), ("(other)", "mental")}
    assert several.parts[-1] == ("(other)", "(other)")
    shown = {part: several.parts[several.masked[v]] for v, part in enumerate(whole)}
    assert shown["yes", "428"] == ("yes", "(other)")
    assert shown["no", "250"] == ("(other)", "(other)")
    assert len(table.values) == len(several.parts) - 1


def test_a_person_may_carry_several_events(table: Table) -> None:
    assert [event.label for event in table.events] == ["asthma: yes", "code: mental"]
    assert table.event_r.tolist() == [3, 4]
    assert table.event_rows.tolist() == [3, 2]
    assert table.carriers == 4
    both = table.row_value[0]
    assert table.holds(0)[both]
    assert table.holds(1)[both]
    assert not table.holds(0)[-1]


def test_each_column_alone_is_the_table_of_its_own_spec(table: Table) -> None:
    assert table.several is not None
    for one in table.several.columns:
        other = Table.from_frame(FRAME, SPEC.alone(one.members.name))
        assert (one.values, one.events, one.spec) == (other.values, other.events, other.spec)
        assert np.array_equal(one.row_value, other.row_value)
        assert np.array_equal(one.member_cells.rows, other.member_cells.rows)


def test_events_are_known_by_their_shares(table: Table) -> None:
    for view in Knowledge.of(table).views:
        chances = event_chances(view, table)
        for row, signature in zip(view.index, ("30", "40"), strict=True):
            held = FRAME.filter(pl.col("age") == signature)
            asthma = (held["asthma"] == "yes").mean()
            mental = held["code"].is_in(["295", "299"]).fill_null(False).mean()
            assert chances[row].tolist() == pytest.approx([asthma, mental])


def test_the_table_answers_the_spec_that_it_was_asked_with(table: Table) -> None:
    assert table.answers(SPEC)
    assert table.answers(table.spec)
    assert not table.answers(SPEC.with_(protect=["asthma=no", "code=401"]))


def test_an_event_in_any_column_is_carried_by_whoever_has_it_in_one() -> None:
    frame = pl.DataFrame(
        {"p": ["a"] * 4, "first": ["F2", "I1", "I1", "J4"], "second": ["I1", "F3", "I2", "J4"]}
    )
    spec = Spec(qi="p", sensitive=["first", "second"], protect=["first,second=F*"], r=2)
    table = Table.from_frame(frame, spec)
    assert [event.label for event in table.events] == ["first or second: F*"]
    assert table.row_event.tolist() == [0, 0, -1, -1]
    again = Table.from_frame(frame, table.spec)  # F2 occurs in the first only, F3 in the second
    assert again.values == table.values
    assert again.spec == table.spec


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"protect": ["yes"]},
            'The event "yes" does not say which of 2 sensitive columns it is of. Write '
            'asthma=yes, or in a spec file column = "asthma".',
        ),
        (
            {"protect": ["astma=yes", "code=401"]},
            '"astma" is no sensitive column (did you mean "asthma"?). Write one of them before the '
            "value, as asthma=yes.",
        ),
        (
            {"protect": ["asthma=yes"]},
            'No event of the sensitive column "code" is protected. Name one, as code=yes, or take '
            "the column out of sensitive.",
        ),
        (
            {"protect": None},
            'No event of the sensitive column "asthma" is protected. Name one, as asthma=yes, or '
            "take the column out of sensitive.",
        ),
        (
            {"protect": [Event(("x",), column=("cod",)), "asthma=yes"]},
            'The event "x" is of "cod", which is no sensitive column (did you mean "code"?). '
            "Name that column as sensitive too, or give the event another.",
        ),
        ({"sensitive": ["code", "code"]}, 'sensitive names "code" twice. Name it once.'),
        ({"sensitive": []}, "No sensitive column is named. Name it with sensitive."),
        (
            {"sensitive": ["age", "code"], "protect": ["age=30", "code=401"]},
            'Column "age" is both a QI and sensitive. Give each column one role.',
        ),
        (
            {"protect": ["asthma=yes", "asthma=yes", "code=401"]},
            'The value "yes" is protected twice. Put each value into one event.',
        ),
    ],
)
def test_mistakes_get_one_sentence_and_a_way_out(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as raised:
        SPEC.with_(**changes)
    assert str(raised.value) == message


def test_columns_in_texts_of_events() -> None:
    spec = SPEC.with_(protect=["asthma = yes", "code >= 290"])
    assert spec.protect == (
        Event(("yes",), column=("asthma",)),
        Event((">= 290",), column=("code",)),
    )
    assert Spec.from_mapping(spec.to_mapping()) == spec
    one = Spec(qi="age", sensitive="BMI", protect=["BMI >= 40"], r=2)
    assert one.protect == (Event((">= 40",)),)
