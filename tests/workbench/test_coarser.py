"""Coarser values: what they would do is counted from the rows, and what is used is the draft's."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.data.datasets import hospital
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.workbench.held import key_of
from tests.workbench.drafts import HOSPITAL
from tests.workbench.visitor import Answer, Visitor

ROWS = hospital(600, seed=5)
AGE, REGION = key_of("age"), key_of("region")
SIDES = {"North": "Up", "North-East": "Up", "North-West": "Up > Any side"}


@pytest.fixture
def asked(visitor: Visitor) -> Visitor:
    assert visitor.send("t.csv", ROWS.write_csv().encode()).status == 303
    visitor.project.write_draft(HOSPITAL)
    return visitor


def tried(visitor: Visitor, column: str, recipe: str = "") -> Answer:
    return visitor.get(f"/coarser/tried?column={column}&recipe={recipe}")


def group(visitor: Visitor, **groups: str) -> Answer:
    told = {f"g-{key_of(value)}": text for value, text in (SIDES | groups).items()}
    return visitor.post("/coarser/groups", {"column": REGION, **told})


@pytest.mark.parametrize("recipe", ["", "bands=10", "cuts=30,60", "quantiles=4"])
def test_what_a_recoding_does_is_counted_as_from_the_rows(asked: Visitor, recipe: str) -> None:
    """The slow twin: every row recoded by the spec, and its combinations counted."""
    spec = Spec.from_mapping(HOSPITAL)
    name, _, value = recipe.partition("=")
    if name:
        read = [int(one) for one in value.split(",")] if name == "cuts" else int(value)
        spec = spec.with_(recode={"age": {name: read}})
    table = Table.from_frame(ROWS, spec)
    combinations = pl.DataFrame(table.signatures[table.row_signature])
    people = combinations.group_by(combinations.columns).len()["len"]
    alone, few = int((people == 1).sum()), int(people.filter(people < 5).sum())
    said = tried(asked, AGE, recipe)
    line = f"{alone:,} {few:,} {len(people):,} {len(table.qi[0]):,}"
    assert line in said.words
    assert said.status == 200
    if recipe:
        labels = dict(zip(table.qi[0].labels, table.qi_rows(0).tolist(), strict=True))
        assert sum(labels.values()) == len(ROWS)
        for label, count in labels.items():
            assert f"{label} {count:,}" in said.words


def test_a_recoding_is_used_and_undone(asked: Visitor) -> None:
    asked.project.write_draft({**HOSPITAL, "bands": {"age": 10}})
    page = asked.follow("/coarser", {"column": AGE, "recipe": "bands=20"})
    assert asked.project.draft["recode"] == {"age": {"bands": 20}}
    assert "bands" not in asked.project.draft
    assert "Coarser values of age" in page.words
    assert "bands=20 chosen" in tried(asked, AGE).words
    asked.follow("/changes/undo", {"back": "coarser"})
    assert asked.project.draft == {**HOSPITAL, "bands": {"age": 10}}
    asked.follow("/changes/redo", {"back": "coarser"})
    asked.follow("/coarser", {"column": AGE, "recipe": ""})
    assert "recode" not in asked.project.draft


def test_groups_typed_by_hand_are_a_hierarchy_that_is_never_overwritten(asked: Visitor) -> None:
    place = group(asked).headers["location"]
    (file,) = (asked.project.folder / "hierarchies").iterdir()
    lines = file.read_text("utf-8").splitlines()
    assert {"North,Up,Any side,*", "North-West,Up,Any side,*", "South,South,South,*"} < {*lines}
    page = asked.get(place)
    assert 'value="Up &gt; Any side"' in page.text
    assert 'value="South"' in page.text, "what has no group stays by itself"
    assert group(asked).headers["location"] == place
    assert group(asked, **{"North-West": "Up > Side"}).headers["location"] != place
    two = group(asked, North="Up > Side")
    assert (two.status, 'id="wrong-groups"' in two.text) == (422, True)
    assert 'value="Up &gt; Side"' in two.text, "what was typed stays"
    assert len(list((asked.project.folder / "hierarchies").iterdir())) == 2
    said = tried(asked, REGION).words
    assert said.count("hierarchies/region-") == 4, "two files of two levels each"
    place = place.replace("/coarser?", "/coarser/tried?")
    assert asked.get(place).text.count('value="hierarchy=hierarchies/') == 4, "each once"
    recipe = f"hierarchy=hierarchies/{file.name}; level=2"
    asked.follow("/coarser", {"column": REGION, "recipe": recipe})
    table = Table.from_frame(ROWS, asked.project.spec())
    (region,) = (one for one in table.qi if one.name == "region")
    assert {"Any side", "South"} <= set(region.labels)
    assert not {"North", "Up"} & set(region.labels)


def test_what_cannot_be_done_is_said_beside_its_field(asked: Visitor) -> None:
    assert "is no number" in tried(asked, AGE, "bands=x").words
    assert "is to be cut as numbers" in tried(asked, REGION, "bands=10").words
    wrong = asked.post("/coarser", {"column": AGE, "recipe": "bands=x"})
    assert (wrong.status, 'id="wrong-recipe"' in wrong.text) == (422, True)
    outside = {"column": AGE, "recipe": "hierarchy=../../secret.csv"}
    assert "[project-path]" in asked.post("/coarser", outside).words
    nothing = asked.post("/coarser/groups", {"column": REGION})
    assert (nothing.status, "No value is in a group" in nothing.words) == (422, True)
    assert asked.project.draft == HOSPITAL
    assert asked.get("/coarser?column=nowhere").status == 200


def test_hostile_names_are_shown_and_never_paths(visitor: Visitor) -> None:
    frame = ROWS.rename({"region": "../<b>"})
    assert visitor.send("t.csv", frame.write_csv().encode()).status == 303
    visitor.project.write_draft({**HOSPITAL, "qi": ["age", "../<b>"]})
    told = {f"g-{key_of('North')}": "<i>"}
    place = visitor.post("/coarser/groups", {"column": key_of("../<b>"), **told})
    (file,) = (visitor.project.folder / "hierarchies").iterdir()
    assert file.name.startswith("b-")
    page = visitor.get(place.headers["location"])
    assert "<b>" not in page.text
    assert "<i>" not in tried(visitor, key_of("../<b>"), f"hierarchy=hierarchies/{file.name}").text
