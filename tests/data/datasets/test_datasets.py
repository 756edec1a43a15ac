"""The hospital as promised, and Adult in all its wrappings."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from shoal.data import datasets
from shoal.errors import InputError

# --- The hospital ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def patients() -> pl.DataFrame:
    return datasets.hospital(200_000, seed=1)


def test_the_same_seed_gives_the_same_hospital() -> None:
    first = datasets.hospital(1_000, seed=5)
    assert_frame_equal(first, datasets.hospital(1_000, 5))
    assert not first.equals(datasets.hospital(1_000, seed=6))


def test_columns_and_domains(patients: pl.DataFrame) -> None:
    assert patients.columns == ["patient", *datasets.HOSPITAL_QI, "diagnosis", "ward"]
    assert patients.null_count().sum_horizontal().item() == 0
    assert patients["patient"].n_unique() == patients.height
    assert (patients["age"].min(), patients["age"].max()) == (18, 90)
    distinct = {name: patients[name].n_unique() for name in patients.columns[2:7]}
    assert distinct == {
        "sex": 2,
        "region": 8,
        "occupation": 10,
        "insurance": 4,
        "diagnosis": 14,
    }


@pytest.mark.parametrize("rows", [0, 1])
def test_very_small_hospitals(rows: int) -> None:
    assert datasets.hospital(rows).height == rows
    assert datasets.hospital(rows).schema == datasets.hospital(2).schema


def test_fewer_than_no_rows() -> None:
    with pytest.raises(InputError) as caught:
        datasets.hospital(-1)
    assert caught.value.code == "whole-number"


def test_stigma_is_rare_and_hypertension_common(patients: pl.DataFrame) -> None:
    share = dict(patients["diagnosis"].value_counts(normalize=True).iter_rows())
    assert all(0.005 < share[value] < 0.015 for value in datasets.HOSPITAL_EVENT)
    assert 0.17 < share["Hypertension"] < 0.23


def test_some_diagnoses_are_impossible_for_some(patients: pl.DataFrame) -> None:
    of = patients.partition_by("diagnosis", as_dict=True)
    pregnancy, prostate = of[("Pregnancy complication",)], of[("Prostate disease",)]
    assert pregnancy["sex"].unique().to_list() == ["Female"]
    assert pregnancy.select(pl.col("age").max()).item() < 50
    assert prostate["sex"].unique().to_list() == ["Male"]


def test_the_distribution_is_exact_and_modest() -> None:
    known = datasets.hospital_distribution()
    cell = ["age", "sex", "occupation"]
    assert known.columns == [*cell, "value", "probability"]
    assert known.height == 73 * 2 * 10 * 14
    sums = known.group_by(cell).agg(pl.col("probability").sum())["probability"]
    np.testing.assert_allclose(sums.to_numpy(), 1, atol=1e-12)
    odds = pl.col("probability") / (1 - pl.col("probability"))
    ratios = (
        known.filter(pl.col("probability") > 0)
        .group_by("value")
        .agg((odds.max() / odds.min()).alias("ratio"))
    )
    assert ratios.select(pl.col("ratio").max()).item() < 6


def test_patients_are_drawn_from_the_distribution(patients: pl.DataFrame) -> None:
    cell = ["age", "sex", "occupation"]
    expected = (
        patients.group_by(cell)
        .len()
        .join(datasets.hospital_distribution(), on=cell)
        .with_columns(expected=pl.col("len") * pl.col("probability"))
    )
    for by in (["sex"], ["occupation"], ["sex", "occupation"]):
        want = expected.group_by(*by, "value").agg(pl.col("expected").sum())
        seen = patients.group_by(*by, pl.col("diagnosis").alias("value")).len()
        both = want.join(seen, on=[*by, "value"], how="left").fill_null(0)
        gap = (both["len"] - both["expected"]).abs() / (both["expected"] + 1).sqrt()
        assert gap.to_numpy().max() < 5


def test_ten_robustness_is_possible(patients: pl.DataFrame) -> None:
    cell = ["age", "sex", "occupation"]
    event = pl.col("value").is_in(list(datasets.HOSPITAL_EVENT))
    known = datasets.hospital_distribution().filter(event).group_by(cell)
    chance = known.agg(pl.col("probability").sum().alias("f"))
    odds = patients.join(chance, on=cell).with_columns(odds=pl.col("f") / (1 - pl.col("f")))
    has = pl.col("diagnosis").is_in(list(datasets.HOSPITAL_EVENT))
    assert odds["odds"].sum() > 10 * odds.filter(has)["odds"].sum()


# --- Adult -------------------------------------------------------------------------------


def raw_lines(table: pl.DataFrame, suffix: str) -> str:
    rows = [", ".join(str(cell) for cell in row) + suffix for row in table.iter_rows()]
    incomplete = ", ".join(["30", "?", *["x"] * 12, "<=50K"]) + suffix
    return "\n".join([*rows, incomplete, ""]) + "\n"


@pytest.fixture(scope="module")
def cleaned(adult_path: Path) -> pl.DataFrame:
    return datasets.adult(adult_path)


@pytest.mark.data
def test_adult_as_the_paper_has_it(cleaned: pl.DataFrame) -> None:
    assert cleaned.shape == (45_222, 15)
    assert tuple(cleaned.columns) == datasets.ADULT_COLUMNS
    assert cleaned.schema["age"] == pl.Int64
    assert cleaned["salary-class"].unique().sort().to_list() == ["<=50K", ">50K"]
    protected = pl.col(datasets.ADULT_SENSITIVE).is_in(list(datasets.ADULT_EVENT))
    assert cleaned.filter(protected).height == 1_566
    assert cleaned.select(datasets.ADULT_QI).n_unique() == 17_160


@pytest.mark.data
def test_raw_adult_is_the_same_as_the_prepared_one(cleaned: pl.DataFrame, tmp_path: Path) -> None:
    data, test = tmp_path / "adult.data", tmp_path / "adult.test"
    data.write_text(raw_lines(cleaned[:30_162], ""))
    test.write_text("|1x3 Cross validator\n" + raw_lines(cleaned[30_162:], "."))
    for path in (tmp_path, data, str(test)):
        assert_frame_equal(datasets.adult(path), cleaned)


@pytest.mark.data
@pytest.mark.parametrize("name", ["adult.csv", "adult.csv.gz"])
def test_adult_as_csv_in_a_folder(cleaned: pl.DataFrame, tmp_path: Path, name: str) -> None:
    text = cleaned.write_csv().encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    assert_frame_equal(datasets.adult(tmp_path), cleaned)


def refusal(path: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        datasets.adult(path)
    assert "Becker & Kohavi 1996" in str(caught.value)
    assert "adult.data and adult.test" in str(caught.value)
    return caught.value


def test_adult_that_is_not_there(tmp_path: Path) -> None:
    assert refusal(tmp_path).code == "adult"
    assert refusal(tmp_path / "nowhere.csv").code == "adult"
    (tmp_path / "adult.data").touch()
    assert '/adult.test"' in refusal(tmp_path / "adult.data").problem.replace("\\", "/")


def test_adult_that_is_something_else(tmp_path: Path) -> None:
    other = tmp_path / "adult.csv"
    other.write_text("age,sex\n30,Male\n")
    assert refusal(other).code == "adult"
    other.write_text(",".join(datasets.ADULT_COLUMNS) + "\n" + ",".join(["1"] * 15) + "\n")
    assert refusal(other).code == "adult"
    other.write_text(",".join(datasets.ADULT_COLUMNS) + "\n" + ",".join(["x"] * 15) + "\n")
    assert refusal(other).code == "adult"
    other.write_text("")
    assert refusal(other).code == "adult"
