"""What `init` proposes can work: r, events and QIs by planning's bound, in several languages."""

from __future__ import annotations

import tomllib
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.planning.propose import Proposal, propose_spec
from shoal.planning.propose.feasible import _together
from shoal.planning.propose.values import words_of
from tests.cli.program import shoal_

ROWS = 2_000


def spec_of(proposal: Proposal) -> Spec:
    return Spec.from_mapping(tomllib.loads(proposal.to_toml()))


def german() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "Kunde": np.arange(ROWS) + 5_000,
            "Alter": rng.integers(18, 85, ROWS),
            "Geschlecht": rng.choice(["m", "w"], ROWS),
            "PLZ": rng.choice([10115, 10117, 20095, 50667], ROWS),
            "Staatsangeh\u00f6rigkeit": rng.choice(["deutsch", "andere"], ROWS, p=[0.8, 0.2]),
            "Diagnose": rng.choice(
                ["Grippe", "R\u00fccken", "Bruch", "HIV"], ROWS, p=[0.5, 0.3, 0.16, 0.04]
            ),
        }
    )


def french() -> pl.DataFrame:
    rng = np.random.default_rng(2)
    return pl.DataFrame(
        {
            "\u00e2ge": rng.integers(18, 85, ROWS),
            "sexe": rng.choice(["H", "F"], ROWS),
            "code postal": rng.choice(["75001", "69001", "13001"], ROWS),
            "profession": rng.choice(["ouvrier", "cadre"], ROWS),
            "revenu": rng.lognormal(7.5, 0.5, ROWS).round().astype(int),
        }
    )


def spanish() -> pl.DataFrame:
    rng = np.random.default_rng(3)
    shares = {"diabetes": 0.03, "hipertensi\u00f3n": 0.41, "c\u00e1ncer": 0.02, "hepatitis": 0.02}
    return pl.DataFrame(
        {
            "edad": rng.integers(18, 85, ROWS),
            "sexo": rng.choice(["H", "M"], ROWS),
            "c\u00f3digo postal": rng.choice(["28001", "08001"], ROWS),
            "profesi\u00f3n": rng.choice(["a", "b"], ROWS),
            **{
                name: rng.choice(["s\u00ed", "no"], ROWS, p=[p, 1 - p])
                for name, p in shares.items()
            },
        }
    )


def test_words_have_no_accents_and_no_case() -> None:
    assert words_of("Staatsangeh\u00f6rigkeit") == {"staatsangehorigkeit"}
    assert words_of("C\u00d3DIGO_Postal") == {"codigo", "postal"}
    assert words_of("Stra\u00dfe") == {"strasse"}


def test_german_columns() -> None:
    spec = spec_of(propose_spec(german()))
    assert spec.qi == ("Alter", "Geschlecht", "PLZ", "Staatsangeh\u00f6rigkeit")
    assert (spec.sensitive, spec.identifiers, spec.r) == ("Diagnose", ("Kunde",), 5)
    assert [event.values for event in spec.protect or ()] == [("HIV",)]


def test_french_columns_and_the_highest_incomes() -> None:
    frame = french()
    spec = spec_of(propose_spec(frame))
    assert spec.qi == ("\u00e2ge", "sexe", "code postal", "profession")
    assert spec.sensitive == "revenu"
    ((entry,),) = (event.values for event in spec.protect or ())
    share = (frame["revenu"] >= int(entry.removeprefix(">= "))).mean()
    assert share == pytest.approx(0.05, abs=0.01)


def test_spanish_illnesses_as_many_as_counting_leaves_room_for() -> None:
    """Two in five have one of them; and in some stratum of 56 people 12 have one of the others,
    more than one in five."""
    proposal = propose_spec(spanish())
    spec = spec_of(proposal)
    assert (spec.sensitive, spec.r) == (("c\u00e1ncer", "hepatitis"), 5)
    assert [event.values for event in spec.protect or ()] == [("s\u00ed",)] * 2
    assert not {"diabetes", "hipertensi\u00f3n"} & {*spec.qi, *spec.sensitive_columns}
    why = {one.column: one.reason for one in proposal.guesses}
    assert why["diabetes"].endswith("have it, too many beside the others at r = 5")


@pytest.mark.parametrize("names", [["diabetes", "c\u00e1ncer"], ["c\u00e1ncer", "hepatitis"]])
def test_people_to_each_case_are_counted_as_by_the_definition(names: list[str]) -> None:
    frame, qi = spanish(), ["sexo", "c\u00f3digo postal", "profesi\u00f3n"]
    protect = [{"values": ["s\u00ed"], "column": name} for name in names]
    spec = Spec(qi=qi, sensitive=names, r=2, protect=protect, min_support=40)
    fewest = float("inf")
    for places in (some for size in (1, 2, 3) for some in combinations(qi, size)):
        for _, rows in frame.group_by(places):
            cases = sum(int((rows[name] == "s\u00ed").sum()) for name in names)
            if rows.height >= 40 and cases:
                fewest = min(fewest, rows.height / cases)
    found = _together(Table.from_frame(frame, spec), np.ones(len(names), bool))
    assert found == pytest.approx(fewest)


@pytest.mark.parametrize("made", [german, french, spanish])
def test_no_event_is_common_and_a_run_takes_the_file_as_it_is(made: object, tmp_path: Path) -> None:
    assert callable(made)
    made().write_csv(tmp_path / "t.csv")
    assert shoal_("init", tmp_path / "t.csv", "--out", tmp_path / "s.toml").returncode == 0
    done = shoal_(
        *("anonymize", tmp_path / "t.csv", "--spec", tmp_path / "s.toml", "--seed", "1"),
        *("--out", tmp_path / "out"),
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_qis_give_way_where_nothing_else_works() -> None:
    rng = np.random.default_rng(5)
    job = rng.choice(["a", "b", "c", "d"], ROWS)
    ill = rng.random(ROWS) < np.where(job == "a", 0.7, 0.01)
    frame = pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], ROWS),
            "job": job,
            "illness": np.where(ill, "grave", rng.choice(["flu", "cold"], ROWS)),
        }
    )
    proposal = propose_spec(frame)
    assert spec_of(proposal).qi == ("sex",)
    (reason,) = (one.reason for one in proposal.guesses if one.column == "job")
    assert reason.endswith("but with it no r can be kept")


def test_what_a_person_must_decide_is_said(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [30, 40, 50, 60, 70] * 40, "illness": ["flu", "cold"] * 100})
    frame = frame.with_columns(patient_id=pl.Series([*range(150), *range(50)]))
    frame.write_csv(tmp_path / "t.csv")
    said = shoal_("init", tmp_path / "t.csv", "--out", tmp_path / "s.toml").stdout
    assert "A person must decide: A third of the people or more have each value" in said
    assert 'A person must decide: "patient_id" repeats (150 values)' in said
    written = (tmp_path / "s.toml").read_text(encoding="utf-8")
    assert "# A PERSON MUST DECIDE: A third" in written
    assert '\nperson = "patient_id"' in written


def telling_region() -> pl.DataFrame:
    """One event follows from a QI in part, so that counting makes people certain."""
    rng = np.random.default_rng(4)
    sex, age = rng.choice(["f", "m"], ROWS), rng.integers(18, 60, ROWS)
    kind = rng.random(ROWS)
    chance = np.where((sex == "f") & (age < 24), 0.17, 0.0)
    return pl.DataFrame(
        {
            "age": age,
            "sex": sex,
            "region": rng.choice(list("abcdefg"), ROWS),
            "disease": np.select(
                [rng.random(ROWS) < chance, kind < 0.02, kind < 0.05, kind < 0.6],
                ["Twins", "HIV", "Cancer", "Flu"],
                "Cold",
            ),
        }
    )


def test_what_does_not_hold_together_is_not_proposed_together(tmp_path: Path) -> None:
    frame = telling_region()
    planned = propose_spec(frame, seconds=0)
    assert len(planned.events) > 1
    assert planned.held is None
    assert not shoal.anonymize(frame, spec_of(planned), seed=0).robust
    proposal = propose_spec(frame, seconds=60)
    spec = spec_of(proposal)
    assert proposal.held
    assert shoal.anonymize(frame, spec, seed=0).robust
    assert (spec.r, spec.qi) == (5, spec_of(planned).qi)
    assert len(proposal.events) < len(planned.events)
    assert "HIV" in {event.label for event in proposal.events}
    text = proposal.to_toml()
    assert "# These settings held when they were run once.\n" in text
    assert "it was not found to hold beside the others at r = 5." in text


def test_codes_that_hardly_anybody_has_are_no_events_and_many_codes_are_for_people() -> None:
    rng = np.random.default_rng(6)
    codes = [f"K{one}" for one in range(60) for _ in range(one)]
    frame = pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], len(codes)),
            "region": rng.choice(list("abc"), len(codes)),
            "diag_1": codes,
        }
    )
    proposal = propose_spec(frame)
    assert [event.label for event in proposal.events][-1:] == ["K20"]
    assert proposal.held
    assert any("has many values: say which would harm whom" in one for one in proposal.decide)
    assert ("K19", "fewer than 20 people have it") in {
        (event.label, why) for event, why in proposal.left_out
    }


def test_customers_with_many_rows_are_persons_and_the_run_is_by_them() -> None:
    rng = np.random.default_rng(7)
    customer = rng.integers(0, 400, ROWS)
    frame = pl.DataFrame(
        {
            "customer_id": customer,
            "age": rng.integers(18, 80, 400)[customer],
            "city": rng.choice(list("abc"), 400)[customer],
            "drug": rng.choice(["x", "y", "z"], ROWS, p=[0.02, 0.5, 0.48]),
        }
    )
    proposal = propose_spec(frame)
    spec = spec_of(proposal)
    assert (spec.person, spec.rows_per_person) == ("customer_id", "event")
    assert proposal.held
    assert shoal.anonymize(frame, spec, seed=0).robust
