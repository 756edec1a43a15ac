"""Spec: what may be written, and the way to TOML and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shoal.data.spec import Event, Spec, as_event, band_name, checked_r, checked_seed, parse_event
from shoal.data.spec.toml_text import read_toml
from shoal.errors import InputError
from tests.data.spec.base_spec import BASE, spec

EVERYTHING = Spec(
    qi=("age", 'the "zip"\\\t\U000e0001', "größe"),
    sensitive="disease",
    r=2.718281828459045,
    protect=(
        Event(("HIV", "Hepatitis"), label="infectious", r=20),
        Event(("Flu",)),
        Event(("a|b", "c")),
    ),
    identifiers=("name", "ssn"),
    min_support=30,
    max_attributes=2,
    views=(("age",), ("age/10", "größe"), ()),
    bands=(("age", 10.0), ("age", 2.5), ("größe", 1e-7)),
    knowledge="outside.csv",
    publish_members=True,
)


# --- What may be written -----------------------------------------------------------------


def test_what_a_caller_writes_becomes_plain_tuples() -> None:
    made = spec(
        qi=iter(["age", "sex"]),
        protect=["Flu", ["HIV", "Hepatitis"], {"values": ["Cold"], "r": 3}],
        views=["age", ["age", "sex"]],
        bands={"age": 10},
        knowledge=Path("k.csv"),
    )
    assert made.qi == ("age", "sex")
    assert made.r == 10.0
    assert made.protect == (
        Event(("Flu",), label="Flu"),
        Event(("HIV", "Hepatitis"), label="HIV|Hepatitis"),
        Event(("Cold",), label="Cold", r=3.0),
    )
    assert made.views == (("age",), ("age", "sex"))
    assert made.bands == (("age", 10.0),)
    assert made.knowledge == "k.csv"
    assert hash(made) == hash(made.with_())


def test_defaults() -> None:
    made = spec()
    assert made.protect is None
    assert made.views is None
    assert made.max_attributes is None
    assert made.min_support is None, "it follows from the table"
    assert made.identifiers == ()
    assert made.publish_members is False


def test_an_event_is_a_set_when_it_has_several_values() -> None:
    assert Event(("a", "b")).is_set
    assert not Event(("a",)).is_set
    assert as_event("a") == Event(("a",))
    assert as_event(Event(("a",))) == Event(("a",))
    assert as_event({"values": "a", "label": "A"}) == Event(("a",), label="A")


def test_changes_are_checked_again() -> None:
    assert spec().with_(r=2).r == 2
    with pytest.raises(InputError, match="r is 1"):
        spec().with_(r=1)


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("a", Event(("a",))),
        ("a|b", Event(("a", "b"))),
        ("a|b@r=5", Event(("a", "b"), r=5)),
        ("a@r=2.5", Event(("a",), r=2.5)),
        ("mail@r|b", Event(("mail@r", "b"))),
        ("x@r=1|y@r=4", Event(("x@r=1", "y"), r=4)),
        ("two words|(missing)", Event(("two words", "(missing)"))),
    ],
)
def test_events_of_the_command_line(text: str, event: Event) -> None:
    assert parse_event(text) == event


def test_names_of_bands() -> None:
    assert band_name("age", 10.0) == "age/10"
    assert band_name("age", 2.5) == "age/2.5"
    assert band_name("age", 2000001) == "age/2000001"
    assert band_name("age", 0.1 + 0.2) != band_name("age", 0.3)
    assert len(spec(bands=[("age", 2000001), ("age", 2000000)]).bands) == 2


@pytest.mark.parametrize("seed", [0, 7, 2**70, np.int64(7)])
def test_seeds(seed: Any) -> None:
    assert checked_seed(seed) == seed
    assert type(checked_seed(seed)) is int


@pytest.mark.parametrize(("given", "number"), [(2, 2.0), ("5", 5.0), (1.0001, 1.0001)])
def test_r_is_any_number_above_1(given: Any, number: float) -> None:
    assert checked_r(given) == number


# --- Plain data and TOML -----------------------------------------------------------------


def test_an_unknown_key_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InputError) as raised:
        Spec.from_mapping(BASE | {"min_suport": 3}, source="plan.toml")
    assert raised.value.code == "spec-key"
    assert raised.value.problem == (
        'plan.toml has an unknown key "min_suport" (did you mean "min_support"?).'
    )
    assert raised.value.remedy == (
        "Choose among: bands, identifiers, k, knowledge, limit, max_attributes, min_support, "
        "person, population, protect, publish_apart, publish_members, qi, r, rare_unknown, recode, "
        "rows_per_person, sensitive, titles, views, weight."
    )


@pytest.mark.parametrize("key", ["qi", "sensitive", "r"])
def test_a_key_that_must_be_there(key: str) -> None:
    mapping = {name: value for name, value in BASE.items() if name != key}
    with pytest.raises(InputError) as raised:
        Spec.from_mapping(mapping)
    assert str(raised.value) == f'The spec does not say "{key}". Add it.'


def test_a_spec_file(tmp_path: Path) -> None:
    path = tmp_path / "spec.toml"
    path.write_text(
        'qi = ["age", "sex"]\n'
        'sensitive = "disease"\n'
        "r = 10\n"
        'protect = ["Flu", ["HIV", "Hepatitis"], { values = ["Cold", "Cough"], r = 4 }]\n'
        "min_support = 30\n"
        "[bands]\n"
        "age = 10\n",
        encoding="utf-8",
    )
    assert Spec.from_toml(path) == Spec(
        qi=("age", "sex"),
        sensitive="disease",
        r=10,
        protect=(Event(("Flu",)), Event(("HIV", "Hepatitis")), Event(("Cold", "Cough"), r=4)),
        min_support=30,
        bands=(("age", 10),),
    )


@pytest.mark.parametrize("made", [EVERYTHING, spec(), spec(protect=["a"], bands={"age": 10})])
def test_to_toml_and_back(made: Spec, tmp_path: Path) -> None:
    path = tmp_path / "spec.toml"
    path.write_text(made.to_toml(), encoding="utf-8")
    assert Spec.from_toml(path) == made
    assert Spec.from_mapping(made.to_mapping()) == made


def test_defaults_are_left_out_of_toml() -> None:
    listed = 'qi = [\n    "age",\n    "sex",\n    "zip",\n]\n'
    assert spec().to_toml() == listed + 'sensitive = "disease"\nr = 10\n'


def test_what_nobody_can_see_is_escaped_in_toml() -> None:
    text = spec(sensitive="a\u202eb\x9b\u2028").to_toml()
    assert 'sensitive = "a\\U0000202eb\\U0000009b\\U00002028"' in text.split("\n")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        Spec.from_toml(tmp_path / "none.toml")
    assert raised.value.code == "spec-file"
    assert str(raised.value) == (
        f"Cannot read {tmp_path / 'none.toml'}: No such file or directory. Check the path."
    )
    broken = tmp_path / "broken.toml"
    broken.write_text("r = 10\nqi = [a]", encoding="utf-8")
    with pytest.raises(
        InputError, match=r"broken\.toml is not valid TOML: Invalid value .at line 2"
    ) as raised:
        read_toml(broken)
    assert raised.value.code == "spec-file"
    broken.write_bytes(b"qi = '\xff'")
    with pytest.raises(InputError, match="is not valid TOML"):
        read_toml(broken)
