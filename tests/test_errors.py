"""Errors: a code for machines, two sentences for people, and a hint at the nearest name."""

from __future__ import annotations

import copy
import pickle

import pytest

from shoal.errors import InputError, InternalError, ShoalError, nearest


def test_an_input_error_says_what_is_wrong_and_what_would_be_right() -> None:
    error = InputError("some-code", "This is wrong.", "Do that.")
    assert (error.code, error.problem, error.remedy) == ("some-code", "This is wrong.", "Do that.")
    assert str(error) == "This is wrong. Do that."
    assert isinstance(error, ShoalError)
    assert not isinstance(error, InternalError)


@pytest.mark.parametrize("again", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_an_input_error_survives_the_way_between_processes(again: object) -> None:
    error = again(InputError("some-code", "This is wrong.", "Do that."))  # type: ignore[operator]
    assert (error.code, str(error)) == ("some-code", "This is wrong. Do that.")


def test_the_nearest_name() -> None:
    assert nearest("Ocupation", ["Age", "Occupation"]) == ' (did you mean "Occupation"?)'
    assert nearest("zzz", ["Age", "Occupation"]) == ""
    assert nearest("x", []) == ""
