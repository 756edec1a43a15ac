"""`init` with what a file says of its columns: titles, labels, missing codes, measures."""

from __future__ import annotations

import tomllib
from pathlib import Path

import polars as pl

from shoal.data.sources import read_codebook, read_table
from shoal.data.spec import Spec, Variable
from shoal.data.table import Table
from shoal.planning.propose import propose_spec
from tests.cli.program import shoal_
from tests.data.sources.surveyed import REFUSED, save


def test_a_proposal_speaks_in_labels_and_is_read_with_codes(tmp_path: Path) -> None:
    path = save(tmp_path / "survey.sav")
    proposal = propose_spec(read_table(path), read_codebook(path))
    roles = {guess.column: guess.role for guess in proposal.guesses}
    assert {name for name, role in roles.items() if role == "qi"} == {"V1", "V2", "V3"}
    assert roles["V4"] == "sensitive"
    assert '"Main diagnosis": its name says "diagnosis"' in proposal.to_toml()
    assert {value for event in proposal.events for value in event.values} >= {"HIV"}
    shoal_("init", path, "--out", tmp_path / "spec.toml")
    spec = Spec.from_toml(tmp_path / "spec.toml")
    assert dict(spec.titles)["V2"] == "Sex"
    table = Table.from_frame(read_table(path), spec)
    (region,) = (column for column in table.qi if column.name == "V3")
    assert "North-East" in region.labels
    assert str(REFUSED) not in region.labels
    assert spec == spec.described(read_codebook(path))  # the file says no more than that


def test_a_label_that_says_that_nothing_is_known_is_proposed_by_its_code() -> None:
    frame = pl.DataFrame({"sex": [1, 2, 9, 1, 2] * 20, "hiv": ["a", "b", "b", "b", "b"] * 20})
    said = {"sex": Variable(labels=(("1", "m"), ("2", "f"), ("9", "unknown")))}
    text = propose_spec(frame, said).to_toml()
    assert tomllib.loads(text)["recode"]["sex"]["missing"] == ["9"]


def test_titles_speak_for_roles() -> None:
    frame = pl.DataFrame({"q1": [1, 2] * 50, "q2": [3, 3, 4, 4] * 25})
    said = {"q1": Variable(title="What is your religion?"), "q2": Variable(title="Year of birth")}
    roles = {guess.column: guess.role for guess in propose_spec(frame, said).guesses}
    assert roles == {"q1": "sensitive", "q2": "qi"}
