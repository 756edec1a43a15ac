"""Outside knowledge: what a file says, what it leaves unsaid, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data.datasets import (
    HOSPITAL_EVENT,
    HOSPITAL_QI,
    HOSPITAL_SENSITIVE,
    hospital,
    hospital_distribution,
)
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.knowledge import Knowledge, View
from shoal.knowledge.outside import read_knowledge

SHARES = {"flu": 0.5, "cold": 0.2, "HIV": 0.2, "TB": 0.1}
"""How often each illness occurs in the table below."""


def people(**changes: Any) -> Table:
    """Ten people; HIV and TB are one event, called `grave`."""
    frame = pl.DataFrame(
        {
            "age": [31, 31, 35, 35, 42, 42, 42, 58, 58, None],
            "sex": ["F", "M", "F", "M", "F", "M", "F", "M", None, "F"],
            "illness": ["flu"] * 5 + ["cold"] * 2 + ["HIV"] * 2 + ["TB"],
        }
    )
    spec: dict[str, Any] = {
        "qi": ["age", "sex"],
        "sensitive": "illness",
        "protect": [{"values": ["HIV", "TB"], "label": "grave"}],
        "bands": {"age": 10},
        "r": 2,
    }
    return Table.from_frame(frame, Spec(**(spec | changes)))


def rows(*given_rows: tuple[Any, ...], columns: str = "age,sex,value,probability") -> pl.DataFrame:
    return pl.DataFrame(given_rows, schema=columns.split(","), orient="row", strict=False)


def distribution(view: View, table: Table, **signature: str) -> dict[str, float]:
    """What a view says of the people with these attribute values."""
    found = {
        int(view.index[s])
        for s in range(len(table.signatures))
        if signature.items() <= table.describe(s).items()
    }
    assert len(found) == 1, found
    return dict(zip(table.values, view.distributions[found.pop()].tolist(), strict=True))


def fails_with(code: str, *parts: str) -> pytest.RaisesExc[InputError]:
    """Expects an InputError of that code whose text holds every part."""
    return pytest.RaisesExc(
        InputError,
        check=lambda error: error.code == code and all(part in str(error) for part in parts),
    )


# --- What a file says --------------------------------------------------------------------


def test_unsaid_mass_goes_to_unsaid_values_and_unsaid_people_fall_back() -> None:
    table = people(publish_members=True)
    knowledge = read_knowledge(rows((None, "F", "HIV", 0.3), (None, "F", "cold", 0.0)), table)
    (view,) = knowledge.views
    assert view.attributes == ("sex",)
    women = distribution(view, table, sex="F")
    rest = 0.7 / (SHARES["flu"] + SHARES["TB"])
    assert women == pytest.approx(
        {"flu": 0.5 * rest, "cold": 0.0, "HIV": 0.3, "TB": 0.1 * rest}, abs=1e-12
    )
    for others in ("M", "(missing)"):
        assert distribution(view, table, sex=others) == pytest.approx(SHARES)
    assert view.distributions[0].tolist() == pytest.approx([SHARES[v] for v in table.values])
    assert knowledge.source == (
        "the knowledge frame, 1 signatures (0 more that nobody in the table has)"
    )


def test_members_are_added_up_to_what_is_published() -> None:
    table = people()
    said = rows((None, "M", "HIV", 0.25), (None, "M", "TB", 0.05), (None, "M", "flu", 0.7))
    men = distribution(read_knowledge(said, table).views[0], table, sex="M")
    assert men == pytest.approx({"flu": 0.7, "cold": 0.0, "grave": 0.3})


def test_an_event_as_a_whole_and_some_of_its_members() -> None:
    table = people(publish_members=True)
    whole = read_knowledge(rows((None, "F", "grave", 0.3)), table).views[0]
    assert distribution(whole, table, sex="F") == pytest.approx(
        {"flu": 0.5, "cold": 0.2, "HIV": 0.2, "TB": 0.1}
    )
    part = read_knowledge(rows((None, "F", "grave", 0.3), (None, "F", "TB", 0.25)), table).views[0]
    assert distribution(part, table, sex="F") == pytest.approx(
        {"flu": 0.5, "cold": 0.2, "HIV": 0.05, "TB": 0.25}
    )


def test_one_file_may_hold_several_views() -> None:
    table = people()
    knowledge = read_knowledge(
        rows(
            (None, "(missing)", "flu", 0.9),
            (31, None, "flu", 0.4),
            (42, "F", "cold", 0.6),
            (None, "F", "flu", 0.1),
            (None, None, "flu", 0.45),
            (77, None, "flu", 0.2),
        ),
        table,
    )
    by_name = {view.name: view for view in knowledge.views}
    assert list(by_name) == ["sex", "age", "age + sex", "(whole table)"]
    assert distribution(by_name["sex"], table, sex="(missing)")["flu"] == 0.9
    assert distribution(by_name["sex"], table, sex="F")["flu"] == 0.1
    assert distribution(by_name["age"], table, age="31")["flu"] == 0.4
    assert distribution(by_name["age"], table, age="(missing)")["flu"] == 0.5
    assert distribution(by_name["age + sex"], table, age="42", sex="F")["cold"] == 0.6
    assert distribution(by_name["(whole table)"], table)["flu"] == 0.45
    assert knowledge.source.endswith("5 signatures (1 more that nobody in the table has)")


@pytest.mark.parametrize("cell", ["[30, 40)", "[30,40)", "30", "35", 30, 37.5])
def test_bands_by_label_or_by_a_number_inside(cell: object) -> None:
    table = people()
    view = read_knowledge(
        rows((cell, "flu", 0.9), columns="age/10,value,probability"), table
    ).views[0]
    assert view.attributes == ("age/10",)
    for age in ("31", "35"):
        assert distribution(view, table, age=age)["flu"] == 0.9
    assert distribution(view, table, age="42")["flu"] == 0.5


@pytest.mark.parametrize("cell", ["[30, 45)", "thirties", "[35, 45)"])
def test_other_bands_are_nobodys(cell: str) -> None:
    with fails_with("knowledge-nobody"):
        read_knowledge(rows((cell, "flu", 0.9), columns="age/10,value,probability"), people())


def test_numbers_are_matched_as_numbers_and_texts_as_texts(tmp_path: Path) -> None:
    path = tmp_path / "k.csv"
    path.write_text("age,sex,value,probability\n31.0,,flu,0.9\n(missing),,flu,5e-1\n")
    view = read_knowledge(path, people()).views[0]
    assert distribution(view, people(), age="31")["flu"] == 0.9
    assert distribution(view, people(), age="(missing)")["flu"] == 0.5
    frame = pl.DataFrame({"zip": ["1.50", "00123"] * 2, "illness": ["a", "b", "b", "a"]})
    table = Table.from_frame(frame, Spec(qi=("zip",), sensitive="illness", r=2))
    path.write_text("zip;value;probability\n1.50;a;0.9\n00123;a;0.2\n123;a;0\n")
    knowledge = read_knowledge(path, table)
    assert distribution(knowledge.views[0], table, zip="1.50")["a"] == 0.9
    assert distribution(knowledge.views[0], table, zip="00123")["a"] == 0.2
    assert knowledge.source == f'"{path}", 2 signatures (1 more that nobody in the table has)'


def test_numeric_sensitive_values_and_events_of_one_value() -> None:
    frame = pl.DataFrame({"sex": ["F", "M"] * 3, "score": [1.0, 2.0, 2.5, 1.0, 2.0, 2.5]})
    spec = Spec(
        qi=("sex",),
        sensitive="score",
        r=2,
        protect=[{"values": ["2.5"], "label": "high"}],  # type: ignore[arg-type]
    )
    table = Table.from_frame(frame, spec)
    for value in (2.5, "2.50", "high"):
        said = rows(("F", value, 0.8), columns="sex,value,probability")
        women = distribution(read_knowledge(said, table).views[0], table, sex="F")
        assert women == pytest.approx({"1": 0.1, "2": 0.1, "2.5": 0.8})


def test_the_hospital_knows_its_own_distribution(tmp_path: Path) -> None:
    spec = Spec(
        qi=HOSPITAL_QI,
        sensitive=HOSPITAL_SENSITIVE,
        r=5,
        protect=(HOSPITAL_EVENT,),  # type: ignore[arg-type]
    )
    table = Table.from_frame(hospital(5000, 3), spec)
    said = hospital_distribution()
    path = tmp_path / "k.parquet"
    said.write_parquet(path)
    (view,) = read_knowledge(path, table).views
    assert view.attributes == ("age", "sex", "occupation")
    event = table.values.index("|".join(HOSPITAL_EVENT))
    expected = (
        said.filter(pl.col("value").is_in(HOSPITAL_EVENT))
        .group_by("age", "sex", "occupation")
        .agg(pl.col("probability").sum())
    )
    truth = {(str(a), s, o): p for a, s, o, p in expected.iter_rows()}
    for signature in range(0, len(table.signatures), 7):
        person = table.describe(signature)
        known = view.distributions[view.index[signature], event]
        assert known == pytest.approx(truth[person["age"], person["sex"], person["occupation"]])
    assert np.allclose(view.distributions.sum(axis=1), 1, atol=1e-12)


def test_the_spec_may_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "k.csv"
    path.write_text("sex,value,probability\nF,flu,0.9\n")
    table = people(knowledge=str(path))
    assert distribution(Knowledge.of(table).views[0], table, sex="F")["flu"] == 0.9


@given(st.dictionaries(st.sampled_from(["cold", "HIV", "TB", "grave"]), st.integers(0, 25)))
@settings(max_examples=200, deadline=None)
def test_completed_distributions_keep_what_was_said(percent: dict[str, int]) -> None:
    table = people(publish_members=True)
    said = {value: part / 100 for value, part in percent.items()}
    frame = rows((None, "M", "flu", 0.5), *((None, "F", v, p) for v, p in said.items()))
    members = [percent[value] for value in ("HIV", "TB") if value in percent]
    left = percent.get("grave", 0) - sum(members)
    if "grave" in percent and (left < 0 or (left > 0 and len(members) == 2)):
        with fails_with("knowledge-sum", "grave"):
            read_knowledge(frame, table)
        return
    view = read_knowledge(frame, table).views[0]
    known = distribution(view, table, sex="F") if said else SHARES
    assert sum(known.values()) == pytest.approx(1)
    for value, part in said.items():
        shown = known["HIV"] + known["TB"] if value == "grave" else known[value]
        assert shown == pytest.approx(part, abs=1e-12)
    free = [v for v in SHARES if v not in said and not ("grave" in said and v in ("HIV", "TB"))]
    ratios = [known[v] / SHARES[v] for v in free]
    assert ratios == pytest.approx(ratios[:1] * len(ratios))


# --- What can be wrong -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("frame", "code", "parts"),
    [
        (rows(("F", 0.1), columns="sex,probability"), "knowledge-column", ['no column "value"']),
        (
            rows(("F", "flu", 0.1), columns="sex,value,probabilty"),
            "knowledge-column",
            ['"probability"', 'did you mean "probabilty"'],
        ),
        (
            rows(("F", "flu", 0.1), columns="sexx,value,probability"),
            "knowledge-column",
            ['"sexx"', 'did you mean "sex"', "age, sex, age/10"],
        ),
        (
            rows((30, "flu", 0.1), columns="age/5,value,probability"),
            "knowledge-column",
            ['"age/5"', "no band of one"],
        ),
        (rows(("flu", 0.1), columns="value,probability"), "knowledge-column", ["age, sex"]),
        (rows(), "knowledge-row", ["no rows"]),
        (
            rows((31, "F", "flu", 0.1), (31, "F", "HVI", 0.1)),
            "knowledge-row",
            ['"HVI" in row 2', 'did you mean "HIV"'],
        ),
        (rows((31, "F", None, 0.1)), "knowledge-row", ["Row 1", "(missing)"]),
        (
            rows((31, "F", "flu", 0.1), (31, "M", "flu", 1.5)),
            "knowledge-row",
            ["row 2", "is 1.5."],
        ),
        (rows((31, "F", "flu", -0.1)), "knowledge-row", ["row 1", "is -0.1."]),
        (rows((31, "F", "flu", None)), "knowledge-row", ["row 1", "is missing."]),
        (rows((31, "F", "flu", "many")), "knowledge-row", ["row 1", "is many."]),
        (rows((31, "F", "flu", float("nan"))), "knowledge-row", ["row 1", "is nan."]),
        (
            rows((31, "F", "flu", 0.6), (31, "M", "flu", 0.6), (31, "M", "cold", 0.5)),
            "knowledge-sum",
            ["age 31, sex M", "add up to 1.1, more"],
        ),
        (
            rows((31, "F", "flu", 0.6), (31, "F", "cold", 0.2), (31, "F", "grave", 0.1)),
            "knowledge-sum",
            ["age 31, sex F", "0.9, though every value has one"],
        ),
        (
            rows((31, "F", "flu", 0.6), (None, "F", "flu", 0.1), (31.0, "F", "flu", 0.6)),
            "knowledge-row",
            ["Rows 1 and 3", '"flu"'],
        ),
        (
            rows((31, "F", "grave", 0.1), (31, "F", "HIV", 0.2)),
            "knowledge-sum",
            ['"grave"', "age 31, sex F"],
        ),
        (rows((99, "F", "flu", 0.6)), "knowledge-nobody", ["the knowledge frame"]),
    ],
)
def test_mistakes_name_the_row_or_the_value(
    frame: pl.DataFrame, code: str, parts: list[str]
) -> None:
    with fails_with(code, *parts):
        read_knowledge(frame, people())


def test_sums_may_be_off_by_rounding_only() -> None:
    table = people()
    fine = rows(
        (None, "F", "flu", 0.7), (None, "F", "cold", 0.2), (None, "F", "grave", 0.1 + 9e-10)
    )
    view = read_knowledge(fine, table).views[0]
    assert view.distributions.sum(axis=1).max() <= 1 + 1e-15
    with fails_with("knowledge-sum"):
        read_knowledge(fine.with_columns(pl.col("probability") + 1e-9), table)
