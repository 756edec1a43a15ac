"""Encounters of patients are not people: the table is refused until it has one row for each."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.data.spec import Spec
from shoal.engines.polars import PolarsEngine

SPEC = Spec(
    qi=["gender", "age"],
    sensitive="diag_1",
    protect=["290..319"],
    r=5,
    identifiers=["encounter_id", "patient_nbr"],
)


@pytest.fixture(scope="module")
def encounters(data_root: Path) -> Path:
    path = data_root / "diabetes130.csv.gz"
    if not path.is_file():
        pytest.skip(f"no diabetes data set at {path}")
    return path


@pytest.mark.parametrize("large", [1 << 40, 0], ids=["whole", "streamed"])
def test_encounters_are_refused_with_the_counts(encounters: Path, large: int) -> None:
    with pytest.raises(shoal.InputError) as caught:
        shoal.anonymize(encounters, SPEC, engine=PolarsEngine(large=large))
    assert caught.value.code == "identifier-repeats"
    assert caught.value.problem.startswith(
        'The identifier "patient_nbr" repeats: 101,766 rows have one of 71,518 values.'
    )


@pytest.mark.parametrize("large", [1 << 40, 0], ids=["whole", "streamed"])
def test_the_advice_of_the_refusal_is_taken(encounters: Path, large: int) -> None:
    asked = SPEC.with_(identifiers=["encounter_id"], person="patient_nbr", rows_per_person="event")
    table = PolarsEngine(large=large).count(encounters, asked)
    assert table.persons is not None
    assert (table.rows, table.persons.given, table.persons.count) == (71_518, 101_766, 71_518)
    assert (
        table.carriers
        > PolarsEngine().count(encounters, asked.with_(rows_per_person="first")).carriers
    ), "whoever ever has the event has it"


@pytest.mark.slow
def test_two_rows_of_each_person_are_bounded_together(encounters: Path) -> None:
    asked = SPEC.with_(
        r=2, identifiers=["encounter_id"], person="patient_nbr", rows_per_person="first 2"
    )
    release = shoal.anonymize(encounters, asked, seed=1)
    told = release.certificate["person"]
    assert release.robust
    assert told["most_rows"] == 2
    assert told["any_row"]["kept"]
    assert told["any_row"]["worst"] <= 0.5 + 1e-9


def test_one_row_per_person_is_taken(encounters: Path) -> None:
    first = shoal.read_table(encounters).unique("patient_nbr", keep="first", maintain_order=True)
    assert isinstance(first, pl.DataFrame)
    assert shoal.plan(first, SPEC).feasible
