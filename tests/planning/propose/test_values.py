"""What `init` makes of values: illnesses of yes and no, codes for missing ones and for categories,
free text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.data.spec import Event, Recipe, Spec, Variable
from shoal.data.table import Table
from shoal.planning.propose import Proposal, propose_spec
from shoal.planning.propose.values import is_nominal, missing_codes, yes_no
from shoal.wording import plain_percent

ILLNESSES = ("diabetes", "copd", "asthma", "kidney", "obesity", "a1", "a2", "a3", "a4", "a5", "a6")
ROWS = 2000


def hospital_cases() -> pl.DataFrame:
    """Eleven columns of 1 and 2, ages and sexes with codes, a region in numbers, remarks."""
    rng = np.random.default_rng(1)
    columns: dict[str, Any] = {
        "age": np.where(rng.random(ROWS) < 0.02, 999, rng.integers(0, 95, ROWS)),
        "sex": rng.choice([1, 2, 9], ROWS, p=[0.49, 0.5, 0.01]),
        "region_code": rng.choice([1, 2, 3, 5, 11], ROWS),
        "remark": [f"text {i}" if i % 4 else "none" for i in range(ROWS)],
    }
    for i, name in enumerate(ILLNESSES):
        columns[name] = rng.choice([1, 2, 98], ROWS, p=[0.002 + 0.001 * i, 0.988 - 0.001 * i, 0.01])
    return pl.DataFrame(columns)


def reasons(proposal: Proposal) -> dict[str, str]:
    return {guess.column: guess.reason for guess in proposal.guesses}


def spec_of(proposal: Proposal, folder: Path) -> Spec:
    path = folder / "spec.toml"
    path.write_text(proposal.to_toml(), encoding="utf-8")
    return Spec.from_toml(path)


def test_eleven_illnesses_are_proposed_together(tmp_path: Path) -> None:
    frame = hospital_cases()
    proposal = propose_spec(frame)
    spec = spec_of(proposal, tmp_path)
    assert spec.qi == ("age", "sex", "region_code")
    assert spec.sensitive == ILLNESSES
    assert spec.protect == tuple(Event(("1",), column=(name,)) for name in ILLNESSES)
    assert spec.identifiers == (), "remarks repeat, and so tell nobody apart"
    assert dict(spec.recode) == {
        "age": Recipe(missing=("999",)),
        "sex": Recipe(missing=("9",), nominal=True),
        "region_code": Recipe(nominal=True),
        **{name: Recipe(missing=("98",)) for name in ILLNESSES},
    }
    assert Table.from_frame(frame, spec).several is not None
    found = reasons(proposal)
    share = plain_percent((frame["asthma"] == 1).sum() / (frame["asthma"] != 98).sum())
    assert found["asthma"] == (
        f'"1" or "2", {share} "1"; its name says "asthma"; one of 11 such columns'
    )
    assert found["remark"] == "nearly unique: 1,500 of its 1,501 values are in one row only"
    text = proposal.to_toml()
    assert (
        '"sex" = { missing = ["9"], nominal = true }  # "9" may mean that nothing is known; '
        in (text)
    )
    assert 'categories: its name says "sex"' in text
    assert '# bands = { "age" = 20 }' in text


def test_one_illness_is_a_sensitive_column_with_its_event(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [30, 40] * 20, "asthma": ["Yes"] * 4 + ["No"] * 36})
    spec = spec_of(propose_spec(frame), tmp_path)
    assert spec.sensitive == "asthma"
    assert spec.protect == (Event(("Yes",)),)


def test_beside_a_diagnosis_illnesses_are_candidates() -> None:
    frame = hospital_cases().with_columns(
        pl.Series("diagnosis", [f"d{i % 7}" for i in range(ROWS)])
    )
    proposal = propose_spec(frame)
    assert [guess.column for guess in proposal.columns("sensitive")] == ["diagnosis"]
    assert reasons(proposal)["a1"].startswith('could be sensitive too: "1" or "2", ')


def test_what_most_have_or_few_ask_is_no_illness() -> None:
    frame = pl.DataFrame(
        {"age": range(40), "member": ["y"] * 4 + ["n"] * 36, "asthma": ["yes"] * 30 + ["no"] * 10}
    )
    assert not propose_spec(frame).events


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([1, 2, 3, 4, 5, 9], ("9",)),
        ([1, 2, 7, 9], ("7", "9")),
        ([*range(9), 77, 99], ("77", "99")),
        ([*range(86), 97, 98, 99], ("97", "98", "99")),
        ([*range(96), 99], ()),
        (list(range(10)), ()),
        ([0, 1, 2, -9, -1], ("-9", "-1")),
        ([-5, -9, 3], ()),
        ([0.5, 1.0, 99.0], ()),
        ([1.0, 2.0, 3.0, 99.0, None], ("99",)),
        (["a", "b", "?", "Unknown ", None], ("?", "Unknown ")),
        (["NA", "?"], ()),
        (["a", "None"], ()),
        ([True, False], ()),
    ],
)
def test_codes_for_missing_values(values: list[Any], codes: tuple[str, ...]) -> None:
    assert missing_codes(pl.Series("x", values)) == codes


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("region", [1, 2, 3], 'its name says "region"'),
        ("payerCode", [1, 2], 'its name says "code"'),
        ("x", [1, 2, 5, 20, 41], "5 numbers with gaps"),
        ("x", [10, 20, 30, 40], None),
        ("x", [1, 2, 3, 5, 6], None),
        ("region", ["1", "2"], None),
        ("type", [0.5, 1.5], None),
        ("zip", list(range(2000)), None),
    ],
)
def test_numbers_that_are_categories(name: str, values: list[Any], reason: str | None) -> None:
    assert is_nominal(pl.Series(name, values), Variable()) == reason


def test_answers_of_yes_and_no() -> None:
    assert yes_no(pl.Series("x", ["YES", "no", "no", "?"]), ("?",)) == ("YES", "no", 1 / 3)
    assert yes_no(pl.Series("x", [True, False]), ()) == ("true", "false", 0.5)
    assert yes_no(pl.Series("x", [1.0, 0.0, None]), ()) == ("1", "0", 0.5)
    assert yes_no(pl.Series("x", ["yes", "no", "maybe"]), ()) is None
    assert yes_no(pl.Series("x", ["a", "b"]), ()) is None


def test_hostile_codes_cannot_leave_their_comment(tmp_path: Path) -> None:
    frame = pl.DataFrame({"sex": ["?\n", "a", "b"] * 10, "illness": ["x", "y", "z"] * 10})
    spec = spec_of(propose_spec(frame.with_columns(illness=frame["illness"].shuffle(1))), tmp_path)
    assert dict(spec.recode)["sex"].missing == ("?\n",)


def test_a_column_of_no_plain_values_is_not_published() -> None:
    days = pl.Series("stay", [1, 2, 3] * 20).cast(pl.Duration("us"))
    table = pl.DataFrame({"age": [30, 40] * 30, "stay": days, "illness": ["flu", "hiv"] * 30})
    guess = next(one for one in propose_spec(table).guesses if one.column == "stay")
    assert guess.role == "unpublished"
    assert "neither text nor numbers" in guess.reason


def test_what_a_file_says_of_a_measure_is_believed() -> None:
    codes = pl.Series("region", [1, 2, 3])
    assert is_nominal(codes, Variable(measure="ordinal")) is None
    assert is_nominal(codes.alias("x"), Variable(measure="nominal")) == "its file says nominal"
    assert is_nominal(pl.Series("x", ["a", "b"]), Variable(measure="nominal")) is None
