"""`shoal estimate`: what `Release.count` says, on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.release.utility import Between
from tests.cli.program import shoal_
from tests.release.weighed import SPEC, Weighed, people


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("estimate") / "release"
    shoal.anonymize(people(), SPEC, method=Weighed(), seed=3).save(folder)
    return folder


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ([], {}),
        (["state=ill", "place=west"], {"state": "ill", "place": "west"}),
        (["state=flu", "state=cold", "age=1..2"], {"state": ["flu", "cold"], "age": Between(1, 2)}),
    ],
)
def test_it_says_what_the_release_counts(folder: Path, given: list[str], asked: Any) -> None:
    found = shoal.Release.load(folder).count(asked)
    where = [part for one in given for part in ("--where", one)]
    told = json.loads(shoal_("estimate", str(folder), *where, "--json").stdout)
    assert told == {
        "estimate": pytest.approx(float(found)),
        "standard_error": pytest.approx(found.standard_error),
        "interval": pytest.approx(list(found.interval)),
    }
    text = shoal_("estimate", str(folder), *where).stdout
    low, high = found.interval
    assert f"{float(found):,.1f} people, standard error {found.standard_error:,.1f}" in text
    assert f"95 % interval: {low:,.1f} to {high:,.1f}" in text


@pytest.mark.parametrize("given", [["age"], ["age=1..2", "age=3"], ["age=3", "age=1..2"]])
def test_what_is_no_predicate_is_refused(folder: Path, given: list[str]) -> None:
    where = [part for one in given for part in ("--where", one)]
    done = shoal_("estimate", str(folder), *where)
    assert done.returncode == 2
    assert "COLUMN=VALUE" in done.stderr
