"""`shoal estimate`: what `Release.count` says, on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.release.utility import Between, sql_for_count
from tests.cli.program import shoal_
from tests.data.sources.surveyed import ILLNESSES, REGIONS, save
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


def test_values_are_named_by_label_or_by_code(tmp_path: Path) -> None:
    spec = shoal.Spec(qi=["V2", "V3"], sensitive="V4", protect=["HIV"], r=5)
    release = shoal.anonymize(save(tmp_path / "survey.sav"), spec, seed=1)
    release.save(tmp_path / "release")
    illness = {label: code for code, label in ILLNESSES.items()}
    codes = {"V2": [2], "V3": [1, "2"], "V4": illness["Hypertension"]}
    labels = {"V2": "Female", "V3": [REGIONS[1], REGIONS[2]], "V4": "Hypertension"}
    mixed = [("V2", 2), ("V3", 1), ("V3", REGIONS[2]), ("V4", codes["V4"])]
    where = [part for name, value in mixed for part in ("--where", f"{name}={value}")]
    told = json.loads(shoal_("estimate", str(tmp_path / "release"), *where, "--json").stdout)
    loaded = shoal.read(tmp_path / "release")
    assert told["estimate"] == pytest.approx(float(loaded.count(labels)))
    assert 0 < told["estimate"] < float(loaded.count({"V4": "Hypertension"}))
    assert loaded.count(codes) == loaded.count(labels) == release.count(labels)
    assert sql_for_count(loaded, codes) == sql_for_count(loaded, labels)
    refused = shoal_("estimate", str(tmp_path / "release"), "--where", "V3=55")
    assert refused.returncode == 2
    assert '"55" is no value of "V3"' in refused.stderr
