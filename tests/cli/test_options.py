"""The options of a spec, which several commands share."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer.main

from shoal.auditing.adversaries.adversary import USUAL
from shoal.cli import app
from shoal.cli.declaring import HEADINGS, MAIN, METAVARS, SPELLED, Headed
from shoal.cli.options import ONE_OF, SpecOptions
from shoal.data.spec import Event, Spec
from shoal.data.spec.spec import parameters
from shoal.knowledge.models.crossfit import BUILT_IN
from shoal.names import ADVERSARIES, MODELS

COMMANDS: dict[str, Headed] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
OPTIONS = {ONE_OF.get(field.name, field.name): field.name for field in fields(Spec)}


@pytest.mark.parametrize(
    "name", ["plan", "find", "count", "anonymize", "audit", "attack", "compare"]
)
def test_a_command_has_an_option_for_each_field_of_a_spec(name: str) -> None:
    found = {one.name: one for one in COMMANDS[name].params}
    assert found.keys() >= {*OPTIONS, "spec"}
    for field in parameters():
        assert found[ONE_OF.get(field.name, field.name)].help.startswith(field.help)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_first_heading_has_what_people_use_and_every_option_a_meaning(name: str) -> None:
    headed = COMMANDS[name].headed()
    assert len(headed.get(MAIN, ())) <= 20
    for option in (one for options in headed.values() for one in options):
        assert option.help.endswith((".", ")")), option.name
    assert list(headed) == [heading for heading in HEADINGS if heading in headed]


def test_anonymize_begins_with_the_dozen() -> None:
    first, *others = COMMANDS["anonymize"].headed().values()
    assert len(first) <= 14
    assert sum(map(len, others)) > 25


def test_no_heading_names_an_option_that_is_nowhere() -> None:
    there = {one.name for command in COMMANDS.values() for one in command.params}
    for named in (*HEADINGS.values(), SPELLED, METAVARS):
        assert set(named) <= there


def test_names_are_those_of_what_there_is() -> None:
    assert ADVERSARIES == USUAL
    assert {*BUILT_IN, "kernel"} == set(MODELS)


def test_each_of_them_reaches_the_spec_and_overrides_the_file(tmp_path: Path) -> None:
    file = tmp_path / "spec.toml"
    file.write_text('qi = ["zip"]\nsensitive = "job"\nr = 2\nmin_support = 7\n', encoding="utf-8")
    assert SpecOptions({"spec": file}).make_spec() == Spec(
        qi=("zip",), sensitive="job", r=2, min_support=7
    )
    given: dict[str, Any] = {
        "spec": file,
        "qi": ["age", "sex"],
        "sensitive": ["illness", "job"],
        "protect": ["illness=HIV|Flu@r=5", "job=Nurse"],
        "r": "3",
        "limit": "prior",
        "k": 4,
        "min_support": 30,
        "max_attributes": 2,
        "view": ["age", "age/10,sex"],
        "recode": ["sex:nominal", "age:missing=98,99"],
        "known_band": ["age=10"],
        "rare_unknown": ["sex"],
        "knowledge": "known.csv",
        "identifiers": ["name"],
        "person": "patient",
        "rows_per_person": "first 2",
        "weight": "w",
        "population": "census.csv",
        "title": ["age=Age = years", "sex = Sex at birth"],
        "publish_members": True,
        "publish_apart": True,
    }
    assert given.keys() == {*OPTIONS, "spec"}
    assert SpecOptions(given).make_spec() == Spec(
        qi=("age", "sex"),
        sensitive=("illness", "job"),
        protect=(
            Event(("HIV", "Flu"), r=5, column=("illness",)),
            Event(("Nurse",), column=("job",)),
        ),
        r=3,
        limit="prior",
        k=4,
        min_support=30,
        max_attributes=2,
        views=(("age",), ("age/10", "sex")),
        bands=(("age", 10),),
        rare_unknown=("sex",),
        recode={"sex": {"nominal": True}, "age": {"missing": [98, 99]}},
        knowledge="known.csv",
        identifiers=("name",),
        person="patient",
        rows_per_person="first 2",
        weight="w",
        population="census.csv",
        titles=(("age", "Age = years"), ("sex", "Sex at birth")),
        publish_members=True,
        publish_apart=True,
    )
