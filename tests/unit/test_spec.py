"""Spec: what may be written, what is refused and in which words, and the way to TOML and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shoal.errors import InputError
from shoal.spec import MAX_QI, Event, Spec, as_event, band_name, checked_r, parse_event
from shoal.toml_text import read_toml

BASE: dict[str, Any] = {"qi": ["age", "sex", "zip"], "sensitive": "disease", "r": 10}
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


def spec(**changes: Any) -> Spec:
    return Spec(**(BASE | changes))


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
    assert made.min_support == 100
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


@pytest.mark.parametrize(("given", "number"), [(2, 2.0), ("5", 5.0), (1.0001, 1.0001)])
def test_r_is_any_number_above_1(given: Any, number: float) -> None:
    assert checked_r(given) == number


# --- What is refused ---------------------------------------------------------------------

MANY = [f"q{i}" for i in range(MAX_QI + 1)]

MISTAKES: list[tuple[dict[str, Any], str, str]] = [
    ({"qi": []}, "qi-none", "No QI columns are named. Name at least one with qi."),
    (
        {"qi": MANY},
        "qi-too-many",
        "21 QI columns are named, and shoal judges at most 20. "
        "Keep those that an outsider can really know of a person.",
    ),
    ({"qi": 7}, "spec-list", "qi is 7, not a list. Give a list."),
    ({"qi": {"age": 1}}, "spec-list", "qi is {'age': 1}, not a list. Give a list."),
    ({"qi": ["age", "age"]}, "name-twice", 'qi names "age" twice. Name it once.'),
    (
        {"identifiers": ["id", "id"]},
        "name-twice",
        'identifiers names "id" twice. Name it once.',
    ),
    (
        {"sensitive": ""},
        "sensitive-none",
        "No sensitive column is named. Name it with sensitive.",
    ),
    (
        {"sensitive": None},
        "sensitive-none",
        "No sensitive column is named. Name it with sensitive.",
    ),
    (
        {"sensitive": "age"},
        "role-twice",
        'Column "age" is both a QI and sensitive. Give each column one role.',
    ),
    (
        {"identifiers": ["sex"]},
        "role-twice",
        'Column "sex" is both a QI and identifier. Give each column one role.',
    ),
    (
        {"identifiers": ["disease"]},
        "role-twice",
        'Column "disease" is both sensitive and identifier. Give each column one role.',
    ),
    (
        {"r": 1},
        "r-small",
        "r is 1, and 1/r is the largest chance an adversary may have. "
        "Give a number above 1, such as 2, 5 or 10.",
    ),
    (
        {"r": -3.5},
        "r-small",
        "r is -3.5, and 1/r is the largest chance an adversary may have. "
        "Give a number above 1, such as 2, 5 or 10.",
    ),
    ({"r": "ten"}, "r-number", "r is 'ten', which is no number. Give a number above 1."),
    ({"r": None}, "r-number", "r is None, which is no number. Give a number above 1."),
    ({"r": True}, "r-number", "r is True, which is no number. Give a number above 1."),
    ({"r": float("inf")}, "r-number", "r is inf, which is no number. Give a number above 1."),
    ({"r": float("nan")}, "r-number", "r is nan, which is no number. Give a number above 1."),
    (
        {"min_support": 0},
        "whole-number",
        "min_support is 0. Give min_support a whole number of at least 1.",
    ),
    (
        {"min_support": 2.5},
        "whole-number",
        "min_support is 2.5. Give min_support a whole number of at least 1.",
    ),
    (
        {"max_attributes": True},
        "whole-number",
        "max_attributes is True. Give max_attributes a whole number of at least 1.",
    ),
    ({"protect": "HIV"}, "spec-list", "protect is 'HIV', not a list. Give a list."),
    (
        {"protect": []},
        "protect-none",
        "protect names no event, so nothing would be protected. "
        "Name an event, or leave protect out to protect each value.",
    ),
    (
        {"protect": [[]]},
        "event-empty",
        "A protected event has no values. Name at least one value.",
    ),
    (
        {"protect": [["a", "a"]]},
        "name-twice",
        'protect names "a" twice. Name it once.',
    ),
    (
        {"protect": [["a", "b"], ["b"]]},
        "event-overlap",
        'The value "b" is protected twice. Put each value into one event.',
    ),
    (
        {"protect": [Event(("a", "b"), label="L"), Event(("c",), label="L")]},
        "event-label",
        "Two protected events have the same label. Rename one of them.",
    ),
    (
        {"protect": [{"value": ["a"]}]},
        "event-key",
        "A protected event was given as {'value': ['a']}. "
        "Write values = [...], and if you like label and r.",
    ),
    (
        {"protect": [{"values": ["a"], "r": 0.5}]},
        "r-small",
        "r is 0.5, and 1/r is the largest chance an adversary may have. "
        "Give a number above 1, such as 2, 5 or 10.",
    ),
    (
        {"views": [["age", "sexx"]]},
        "view-attribute",
        'A view names "sexx", which is no QI (did you mean "sex"?). '
        "Views are made of QIs (or of their bands, as age/10).",
    ),
    (
        {"views": [["age/10"]]},
        "view-attribute",
        'A view names "age/10", which is no QI (did you mean "age"?). '
        "Views are made of QIs (or of their bands, as age/10).",
    ),
    (
        {"views": [["zip", "age/20"]], "bands": {"age": 10}},
        "view-attribute",
        'A view names "age/20", which is no QI (did you mean "age/10"?). '
        "Views are made of QIs (or of their bands, as age/10).",
    ),
    ({"views": [["age", "age"]]}, "name-twice", 'views names "age" twice. Name it once.'),
    ({"views": 3}, "spec-list", "views is 3, not a list. Give a list."),
    (
        {"bands": {"agee": 10}},
        "band-column",
        '"agee" is banded but is no QI (did you mean "age"?). Band a numeric QI.',
    ),
    (
        {"bands": {"age": 0}},
        "band-width",
        'The band width of "age" is 0. Give a positive number, such as age = 10.',
    ),
    (
        {"bands": {"age": "10"}},
        "band-width",
        "The band width of \"age\" is '10'. Give a positive number, such as age = 10.",
    ),
    (
        {"bands": {"age": float("inf")}},
        "band-width",
        'The band width of "age" is inf. Give a positive number, such as age = 10.',
    ),
    (
        {"bands": ["age"]},
        "band-width",
        'The band width of "age" is None. Give a positive number, such as age = 10.',
    ),
    ({"bands": 10}, "spec-list", "bands is 10, not a list. Give a list."),
    (
        {"bands": [("age", 10), ("age", 10.0)]},
        "name-twice",
        'bands names "age/10" twice. Name it once.',
    ),
    (
        {"publish_members": "false"},
        "spec-flag",
        "publish_members is 'false'. Give true or false.",
    ),
    ({"knowledge": 7}, "spec-path", "knowledge is 7. Give the path of a file."),
]


@pytest.mark.parametrize(("changes", "code", "message"), MISTAKES)
def test_every_mistake_in_one_clear_sentence(
    changes: dict[str, Any], code: str, message: str
) -> None:
    with pytest.raises(InputError) as raised:
        spec(**changes)
    assert raised.value.code == code
    assert str(raised.value) == message


def test_an_r_too_large_for_a_number_is_refused() -> None:
    with pytest.raises(InputError, match="which is no number"):
        checked_r(10**400)


@pytest.mark.parametrize("text", ["a|b@r=1", "a@r=x", "a|a"])
def test_mistakes_on_the_command_line(text: str) -> None:
    with pytest.raises(InputError):
        parse_event(text)


# --- Plain data and TOML -----------------------------------------------------------------


def test_an_unknown_key_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InputError) as raised:
        Spec.from_mapping(BASE | {"min_suport": 3}, source="plan.toml")
    assert raised.value.code == "spec-key"
    assert raised.value.problem == (
        'plan.toml has an unknown key "min_suport" (did you mean "min_support"?).'
    )
    assert raised.value.remedy == (
        "Known keys: bands, identifiers, knowledge, max_attributes, min_support, protect, "
        "publish_members, qi, r, sensitive, views."
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
    assert spec().to_toml() == 'qi = ["age", "sex", "zip"]\nsensitive = "disease"\nr = 10\n'


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        Spec.from_toml(tmp_path / "none.toml")
    assert raised.value.code == "spec-read"
    assert str(raised.value) == (
        f"Cannot read {tmp_path / 'none.toml'}: No such file or directory. Check the path."
    )
    broken = tmp_path / "broken.toml"
    broken.write_text("r = 10\nqi = [a]", encoding="utf-8")
    with pytest.raises(
        InputError, match=r"broken\.toml is not valid TOML: Invalid value .at line 2"
    ) as raised:
        read_toml(broken)
    assert raised.value.code == "spec-toml"
    broken.write_bytes(b"qi = '\xff'")
    with pytest.raises(InputError, match="is not valid TOML"):
        read_toml(broken)
