"""The examples in the docstrings of the public face run, and show what they say."""

from __future__ import annotations

import doctest
import inspect
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.declared import arguments_of

PUBLIC = {name: getattr(shoal, name) for name in shoal.__all__ if not name.startswith("_")}
FUNCTIONS = sorted(name for name, one in PUBLIC.items() if inspect.isfunction(one))


def examples(shown: Any) -> list[doctest.DocTest]:
    found = doctest.DocTestFinder(recurse=False).find(shown, globs={})
    return [test for test in found if test.examples]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_has_an_example(name: str) -> None:
    assert examples(PUBLIC[name])


@pytest.mark.parametrize(
    "name", [name for name in FUNCTIONS if PUBLIC[name].__module__.startswith("shoal.api.")]
)
def test_every_verb_says_what_it_takes_gives_and_refuses(name: str) -> None:
    text = inspect.getdoc(PUBLIC[name]) or ""
    assert list(arguments_of(text)) == list(inspect.signature(PUBLIC[name]).parameters)
    assert all(one.endswith(".") for one in arguments_of(text).values())
    assert "\nReturns:\n    " in text
    assert "\nRaises:\n    InputError: " in text


@pytest.mark.parametrize(
    "name", [name for name, one in PUBLIC.items() if not inspect.ismodule(one) and examples(one)]
)
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for test in examples(PUBLIC[name]):
        said: list[str] = []
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        runner.run(test, out=said.append)
        assert not runner.failures, "".join(said)
