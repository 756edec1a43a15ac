"""Proposed specs: the guesses, their reasons, and the file that a person corrects."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.data.datasets import HOSPITAL_QI, adult, hospital
from shoal.data.spec import InputWarning, Spec
from shoal.data.table import Table
from shoal.data.table.alike import alike_values, warn_of_alike, warn_of_lookalikes
from shoal.errors import InputError
from shoal.knowledge import Knowledge
from shoal.planning.propose import Proposal, propose_spec
from studies.tables import raw_data


def roles(proposal: Proposal) -> dict[str, str]:
    return {guess.column: guess.role for guess in proposal.guesses}


def reasons(proposal: Proposal) -> dict[str, str]:
    return {guess.column: guess.reason for guess in proposal.guesses}


def spec_of(proposal: Proposal, folder: Path) -> Spec:
    path = folder / "spec.toml"
    path.write_text(proposal.to_toml(), encoding="utf-8")
    return Spec.from_toml(path)


def mixed(**columns: Any) -> pl.DataFrame:
    """200 people with an age, a sex and further columns."""
    rng = np.random.default_rng(0)
    plain = {"age": rng.integers(18, 90, 200), "sex": rng.choice(["F", "M"], 200)}
    return pl.DataFrame(plain | columns)


def test_the_hospital(tmp_path: Path) -> None:
    table = hospital(5000, 1)
    proposal = propose_spec(table)
    assert roles(proposal) == {
        "patient": "identifier",
        **dict.fromkeys(HOSPITAL_QI, "qi"),
        "diagnosis": "sensitive",
        "ward": "unpublished",
    }
    assert reasons(proposal) == {
        "patient": 'its name says "patient", 5,000 values',
        "age": 'its name says "age"; numeric, 73 values',
        "sex": 'its name says "sex"; categorical, 2 values',
        "region": 'its name says "region"; categorical, 8 values',
        "occupation": 'its name says "occupation"; categorical, 10 values',
        "insurance": 'its name says "insurance"; categorical, 4 values',
        "diagnosis": 'its name says "diagnosis"; 14 values',
        "ward": 'it follows from "diagnosis", so it gives that away',
    }
    text = proposal.to_toml()
    assert all(reason in text for reason in reasons(proposal).values())
    assert '# bands = { "age" = 10 }' in text
    spec = spec_of(proposal, tmp_path)
    assert spec.protect is not None
    rarest = [value for value, _ in proposal.values[-len(spec.protect) :]]
    assert sorted(one.label for one in spec.protect) == sorted(rarest), "partners are left"
    assert spec.with_(protect=None) == Spec(
        qi=HOSPITAL_QI, sensitive="diagnosis", identifiers=("patient",), r=5
    )
    assert Knowledge.of(Table.from_frame(table, spec)).views


def test_what_is_commented_out_is_valid_too() -> None:
    text = propose_spec(hospital(5000, 1)).to_toml()
    options = ("protect", "min_support", "bands")
    lines = [
        line.removeprefix("# ") if line.startswith(tuple(f"# {o} =" for o in options)) else line
        for line in text.splitlines()
    ]
    spec = Spec.from_mapping(tomllib.loads("\n".join(lines)))
    assert spec.bands == (("age", 10.0),)
    assert spec.min_support == 100
    assert spec.protect is not None


@pytest.mark.data
def test_adult(adult_path: Path, tmp_path: Path) -> None:
    proposal = propose_spec(adult(adult_path))
    spec = spec_of(proposal, tmp_path)
    assert spec.sensitive == "salary-class"
    assert {"race", "sex", "native-country"} <= set(spec.qi)
    for name in ("age", "occupation"):
        assert reasons(proposal)[name].startswith("a QI by its name")
        assert reasons(proposal)[name].endswith("with it no r can be kept")
    assert reasons(proposal)["education-num"] == 'it says the same as "education", value for value'
    assert "fnlwgt" not in spec.qi
    assert '"<=50K" is so common that no r above 1.33 can hold' in proposal.to_toml()


def test_small_tables(tmp_path: Path) -> None:
    proposal = propose_spec(raw_data())
    assert roles(proposal)["Name"] == "unpublished", "two people share one"
    assert spec_of(proposal, tmp_path).sensitive == "Disease"


def test_without_a_sensitive_column_the_file_says_so(tmp_path: Path) -> None:
    proposal = propose_spec(mixed())
    text = proposal.to_toml()
    assert '# No name suggests one: write it here.\nsensitive = ""\n' in text
    with pytest.raises(InputError, match="No sensitive column is named"):
        spec_of(proposal, tmp_path)
    filled = text.replace('sensitive = ""', 'sensitive = "sex"').replace('    "sex",', "    #")
    assert Spec.from_mapping(tomllib.loads(filled)).sensitive == "sex"


def test_identifiers_by_name_and_by_uniqueness() -> None:
    rng = np.random.default_rng(1)
    proposal = propose_spec(
        mixed(
            email=rng.choice(["a@x", "b@x"], 200),
            patientNbr=np.repeat(np.arange(100), 2),
            admission_type_id=rng.integers(0, 5, 200),
            hash=[f"h{i}" for i in range(200)],
            serial=np.arange(200),
            measured=rng.random(200),
        )
    )
    found = roles(proposal)
    assert {name for name, role in found.items() if role == "identifier"} == {"hash", "serial"}
    assert found["patientNbr"] == "person", "it repeats, and so says whose rows are whose"
    assert 'person = "patientNbr"' in proposal.to_toml()
    assert 'rows_per_person = "event"' in proposal.to_toml()
    assert found["email"] == "unpublished", "it repeats, and so tells nobody apart"
    assert found["admission_type_id"] == "qi"
    assert reasons(proposal)["hash"] == "nearly unique: 200 values in 200 rows"
    assert reasons(proposal)["measured"] == "a measurement: 200 values in 200 rows"


def test_the_strongest_of_several_sensitive_names_wins() -> None:
    rng = np.random.default_rng(2)
    choice = {
        name: rng.choice(["a", "b", "c"], 200)
        for name in ("income", "number_diagnoses", "diag_1", "diag_2", "religion")
    }
    proposal = propose_spec(mixed(**choice))
    assert [guess.column for guess in proposal.columns("sensitive")] == ["diag_1"]
    for other, word in (
        ("income", '"income"'),
        ("diag_2", '"diag"; sensitive may be a list of both, with events of each'),
        ("religion", '"religion"'),
    ):
        assert reasons(proposal)[other] == (
            f"another candidate for the sensitive column: its name says {word}"
        )
    assert roles(proposal)["number_diagnoses"] == "unpublished"


def test_columns_that_fix_the_sensitive_value_are_not_published() -> None:
    illness = np.random.default_rng(3).choice(["flu", "cold"], 200)
    city = [f"{value}-{i % 2}" for i, value in enumerate(illness)]
    proposal = propose_spec(mixed(illness=illness, city=city))
    assert reasons(proposal)["city"] == '"illness" follows from it'
    assert roles(proposal)["city"] == "unpublished"


def test_without_any_known_name_columns_with_few_values_are_proposed(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    frame = pl.DataFrame({f"x{i}": rng.integers(0, 3, 100) for i in range(12)} | {"k": [1] * 100})
    proposal = propose_spec(frame)
    assert [guess.column for guess in proposal.columns("qi")] == [f"x{i}" for i in range(8)]
    assert reasons(proposal)["x0"] == "no name speaks for it, but it has only 3 values"
    assert reasons(proposal)["k"] == "everybody has the same value"


def test_many_qis_get_a_limit_that_works(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {f"age {i}": rng.integers(0, 3, 300) for i in range(23)}
        | {"disease": rng.choice(["a", "b"], 300)}
    )
    proposal = propose_spec(frame)
    assert len(proposal.columns("qi")) == 20
    assert reasons(proposal)["age 22"] == "it could be a QI, but shoal judges at most 20"
    spec = spec_of(proposal, tmp_path)
    assert spec.max_attributes == 3
    with pytest.raises(InputError, match="views"):
        Knowledge.of(Table.from_frame(frame, spec.with_(max_attributes=4)))


def test_hostile_names_and_values_cannot_leave_their_comment(tmp_path: Path) -> None:
    hostile = 'disease"\nr = 99\n# \u202e\U000e0001\x7f\\'
    values = ['a"]]\nsensitive = "x"', "b\\"] * 100
    proposal = propose_spec(mixed(**{hostile: values, 'note\n"]': ["x", "y"] * 100}))
    spec = spec_of(proposal, tmp_path)
    assert spec == Spec(qi=("age", "sex"), sensitive=hostile, r=5)


@pytest.mark.parametrize(
    ("numbers", "width"),
    [(range(18, 91), 10), (range(100), 20), (range(0, 250_000, 1000), 50_000), (range(25), 5)],
)
def test_band_widths_are_round(numbers: range, width: float) -> None:
    ages = [number for number in numbers for _ in range(2)]
    proposal = propose_spec(pl.DataFrame({"age": ages, "sex": ["F", "M"] * len(numbers)}))
    assert proposal.bands == (("age", width),)


def test_nested_columns_and_empty_tables() -> None:
    proposal = propose_spec(mixed(visits=[[1]] * 200))
    assert "neither text nor numbers" in reasons(proposal)["visits"]
    assert roles(proposal)["visits"] == "unpublished"
    with pytest.raises(InputError, match="no rows"):
        propose_spec(pl.DataFrame({"a": []}))


# --- Values that are probably one -----------------------------------------------------------


def test_values_that_differ_only_by_spaces_or_case() -> None:
    values = ["HIV", "flu", "HIV ", "hiv", "Lung  cancer", "lung cancer", "HIV2", "HIV"]
    assert alike_values(values) == [("HIV", "HIV ", "hiv"), ("Lung  cancer", "lung cancer")]
    assert alike_values(["a", "b"]) == []


def test_both_are_proposed_as_one_event() -> None:
    proposal = propose_spec(mixed(illness=["HIV", "HIV ", "flu", "flu"] * 50))
    assert reasons(proposal)["illness"] == (
        'its name says "illness"; 3 values; "HIV" and "HIV " differ only by spaces or case, or '
        "look alike"
    )
    text = proposal.to_toml()
    assert '# protect = [["HIV", "HIV "]]' in text.splitlines()
    assert Spec.from_mapping(tomllib.loads(text.replace("# protect", "protect"))).protect


@pytest.mark.parametrize("protect", [["HIV"], ["HIV", "HIV "], None])
def test_a_twin_outside_the_event_is_warned_of(protect: list[str] | None) -> None:
    spec = Spec(qi=["age"], sensitive="illness", r=2, protect=protect)
    with pytest.warns(InputWarning, match='of "illness" .* not protected as one: "HIV" and "HIV "'):
        warn_of_alike(["HIV", "flu", "HIV "], spec)


def test_twins_in_one_event_or_outside_any_are_no_matter() -> None:
    spec = Spec(qi=["age"], sensitive="illness", r=2, protect=[["HIV", "HIV "]])
    warn_of_alike(["HIV", "flu", "Flu", "HIV "], spec)


def test_many_twins_are_one_warning() -> None:
    spec = Spec(qi=["age"], sensitive="illness", r=2)
    with pytest.warns(InputWarning, match="and 2 more") as caught:
        warn_of_alike([*"abcde", *"ABCDE"], spec)
    assert len(caught) == 1


def test_lookalikes_are_spelt_out() -> None:
    spec = Spec(qi=["age"], sensitive="illness", r=2, protect=["HIV"])
    with pytest.warns(
        InputWarning, match='"HIV" and "\u041dIV" .U.041D CYRILLIC CAPITAL LETTER EN'
    ):
        warn_of_alike(["HIV", "flu", "\u041dIV"], spec)


def test_a_pattern_that_leaves_a_twin_outside_is_warned_of() -> None:
    frame = pl.DataFrame(
        {"age": [1, 2] * 3, "illness": ["B20", "B21", "B22", "\u041221", "x", "y"]}
    )
    spec = Spec(qi=["age"], sensitive="illness", r=2, protect=["B2*"])
    with pytest.warns(InputWarning, match='"B21" and "\u041221"'):
        warn_of_lookalikes(Table.from_frame(frame, spec))


def test_qi_values_that_look_alike_are_warned_of() -> None:
    frame = pl.DataFrame({"sex": ["male", "Male", "f"] * 2, "illness": ["a", "b"] * 3})
    spec = Spec(qi=["sex"], sensitive="illness", r=2, protect=["a"])
    with pytest.warns(InputWarning) as caught:
        warn_of_lookalikes(Table.from_frame(frame, spec))
    (message,) = (str(one.message) for one in caught)
    assert message == (
        'Values of the QI "sex" differ only by spaces or case, or look alike, but count as '
        'different: "Male" and "male". Correct them, or those people are set apart.'
    )


@pytest.mark.parametrize(
    ("name", "scale", "role"),
    [
        ("pspwght", 1.0, "weight"),
        ("survey_weight", 900.0, "weight"),
        ("weight", 1.0, "weight"),
        ("weight", 74.0, "qi"),
        ("wgt", -1.0, "unpublished"),
    ],
)
def test_a_survey_weight_is_told_from_what_people_weigh(
    name: str, scale: float, role: str, tmp_path: Path
) -> None:
    rng = np.random.default_rng(1)
    weights = rng.choice([0.5, 0.9, 1.0, 1.6], 200)
    illness = np.where(rng.random(200) < 0.05, "HIV", "none")
    frame = mixed(illness=illness, **{name: scale * weights / weights.mean()})
    proposal = propose_spec(frame)
    assert roles(proposal)[name] == role
    assert spec_of(proposal, tmp_path).weight == (name if role == "weight" else None)
