"""The options of a spec, which several commands share."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
import typer.main

from shoal.cli import app
from shoal.cli.options import SpecOptions
from shoal.data.spec import Event, Spec

SHARED = [field.name for field in fields(SpecOptions)]


@pytest.mark.parametrize("name", ["plan", "anonymize", "audit", "compare"])
def test_they_stand_together_and_before_how_to_read_and_to_print(name: str) -> None:
    command = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]
    names = [parameter.name for parameter in command.params]
    assert names[0] == "table"
    assert names[-len(SHARED) - 4 :] == [*SHARED, "separator", "encoding", "json", "memory"]


def test_each_of_them_reaches_the_spec_and_overrides_the_file(tmp_path: Path) -> None:
    file = tmp_path / "spec.toml"
    file.write_text('qi = ["zip"]\nsensitive = "job"\nr = 2\nmin_support = 7\n', encoding="utf-8")
    assert SpecOptions(spec=file).make_spec() == Spec(
        qi=("zip",), sensitive="job", r=2, min_support=7
    )
    asked = SpecOptions(
        spec=file,
        qi=["age", "sex"],
        sensitive=["illness", "job"],
        protect=["illness=HIV|Flu@r=5", "job=Nurse"],
        r="3",
        limit="prior",
        k=4,
        min_support=30,
        max_attributes=2,
        view=["age", "age/10,sex"],
        recode=["sex:nominal", "age:missing=98,99"],
        known_band=["age=10"],
        rare_unknown="sex",
        knowledge="known.csv",
        identifiers="name",
        person="patient",
        rows_per_person="first 2",
        publish_members=True,
        publish_apart=True,
    )
    assert [name for name in SHARED if not getattr(asked, name)] == ["band"]  # refused if given
    assert asked.make_spec() == Spec(
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
        publish_members=True,
        publish_apart=True,
    )
