"""Spec: what is refused, and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.data.spec import MAX_QI, Event, checked_r, checked_seed, parse_event
from shoal.errors import InputError
from tests.data.spec.base_spec import spec

MANY = [f"q{i}" for i in range(MAX_QI + 1)]

MISTAKES: list[tuple[dict[str, Any], str, str]] = [
    ({"qi": []}, "spec-missing", "No QI columns are named. Name at least one with qi."),
    (
        {"qi": MANY},
        "qi-too-many",
        "21 QI columns are named, and shoal judges at most 20. "
        "Keep those that an outsider can really know of a person.",
    ),
    ({"qi": 7}, "spec-value", "qi is 7, not a list. Give a list."),
    ({"qi": {"age": 1}}, "spec-value", "qi is {'age': 1}, not a list. Give a list."),
    ({"qi": ["age", "age"]}, "name-twice", 'qi names "age" twice. Name it once.'),
    (
        {"identifiers": ["id", "id"]},
        "name-twice",
        'identifiers names "id" twice. Name it once.',
    ),
    (
        {"sensitive": ""},
        "spec-missing",
        "No sensitive column is named. Name it with sensitive.",
    ),
    (
        {"sensitive": None},
        "spec-missing",
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
        'Column "sex" is both a QI and an identifier. Give each column one role.',
    ),
    (
        {"identifiers": ["disease"]},
        "role-twice",
        'Column "disease" is both sensitive and an identifier. Give each column one role.',
    ),
    (
        {"r": 1},
        "r",
        "r is 1, and 1/r is the largest chance an adversary may have. "
        "Give a number above 1, such as 2, 5 or 10.",
    ),
    (
        {"r": -3.5},
        "r",
        "r is -3.5, and 1/r is the largest chance an adversary may have. "
        "Give a number above 1, such as 2, 5 or 10.",
    ),
    ({"r": "ten"}, "r", "r is 'ten', which is no number. Give a number above 1."),
    ({"r": None}, "r", "r is None, which is no number. Give a number above 1."),
    ({"r": True}, "r", "r is True, which is no number. Give a number above 1."),
    ({"r": float("inf")}, "r", "r is inf, which is no number. Give a number above 1."),
    ({"r": float("nan")}, "r", "r is nan, which is no number. Give a number above 1."),
    (
        {"min_support": 0},
        "whole-number",
        "min_support is 0. Give a whole number of at least 1.",
    ),
    (
        {"min_support": 2.5},
        "whole-number",
        "min_support is 2.5. Give a whole number of at least 1.",
    ),
    (
        {"max_attributes": True},
        "whole-number",
        "max_attributes is True. Give a whole number of at least 1.",
    ),
    ({"protect": "HIV"}, "spec-value", "protect is 'HIV', not a list. Give a list."),
    (
        {"protect": []},
        "event-empty",
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
        "event-form",
        "A protected event was given as {'value': ['a']}. "
        "Write values = [...], and if you like column, label and r.",
    ),
    (
        {"protect": [{"values": ["a"], "r": 0.5}]},
        "r",
        "r is 0.5, and 1/r is the largest chance an adversary may have. "
        "Give a number above 1, such as 2, 5 or 10.",
    ),
    (
        {"views": [["age", "sexx"]]},
        "view-attribute",
        'A view names "sexx", which is no QI (did you mean "sex"?). '
        "Views are made of QIs (or of their bands, as age/10 or age/q4).",
    ),
    (
        {"views": [["age/10"]]},
        "view-attribute",
        'A view names "age/10", which is no QI (did you mean "age"?). '
        "Views are made of QIs (or of their bands, as age/10 or age/q4).",
    ),
    (
        {"views": [["zip", "age/20"]], "bands": {"age": 10}},
        "view-attribute",
        'A view names "age/20", which is no QI (did you mean "age/10"?). '
        "Views are made of QIs (or of their bands, as age/10 or age/q4).",
    ),
    ({"views": [["age", "age"]]}, "name-twice", 'views names "age" twice. Name it once.'),
    ({"views": 3}, "spec-value", "views is 3, not a list. Give a list."),
    (
        {"bands": {"agee": 10}},
        "band",
        '"agee" is banded but is no QI (did you mean "age"?). Choose among: age, sex, zip.',
    ),
    (
        {"bands": {"age": 0}},
        "band",
        'The band width of "age" is 0. Give a positive number, such as age = 10.',
    ),
    (
        {"bands": {"age": "10"}},
        "band",
        "The band width of \"age\" is '10'. Give a positive number, such as age = 10.",
    ),
    (
        {"bands": {"age": float("inf")}},
        "band",
        'The band width of "age" is inf. Give a positive number, such as age = 10.',
    ),
    (
        {"bands": ["age"]},
        "band",
        'The band width of "age" is None. Give a positive number, such as age = 10.',
    ),
    ({"bands": 10}, "spec-value", "bands is 10, not a list. Give a list."),
    (
        {"bands": [("age", 10), ("age", 10.0)]},
        "name-twice",
        'bands names "age/10" twice. Name it once.',
    ),
    (
        {"qi": ["age", "sex", "age/10"], "bands": {"age": 10}},
        "band",
        'The band "age/10" has the name of a QI. Rename that QI, or choose another width.',
    ),
    (
        {"publish_members": "false"},
        "spec-value",
        "publish_members is 'false'. Give true or false.",
    ),
    ({"knowledge": 7}, "spec-value", "knowledge is 7. Give the path of a file."),
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


@pytest.mark.parametrize("seed", [-1, "a", 1.0, None, True, "1"])
def test_a_seed_that_is_no_whole_number_from_0_on_is_refused(seed: Any) -> None:
    with pytest.raises(InputError) as raised:
        checked_seed(seed)
    assert raised.value.code == "seed"
    assert str(raised.value) == f"seed is {seed!r}. Give a whole number of at least 0."


@pytest.mark.parametrize("text", ["a|b@r=1", "a@r=x", "a|a"])
def test_mistakes_on_the_command_line(text: str) -> None:
    with pytest.raises(InputError):
        parse_event(text)
