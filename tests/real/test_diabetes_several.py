"""Three diagnoses of each hospital case as three sensitive columns (UCI's diabetes130)."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.data.spec import Spec

QI = ("race", "gender", "age", "admission_type_id", "discharge_disposition_id")
COLUMNS = ("diag_1", "diag_2", "diag_3")


@pytest.fixture(scope="module")
def frame(data_root: Path) -> pl.DataFrame:
    path = data_root / "diabetes130.csv.gz"
    if not path.is_file():
        pytest.skip(f"no diabetes data set at {path}")
    return pl.read_csv(path, infer_schema=False).select(*QI, *COLUMNS)


def mental(frame: pl.DataFrame) -> pl.Series:
    """Whether some diagnosis is a mental disorder: ICD-9 290 to 319."""
    number = pl.col(COLUMNS).cast(pl.Float64, strict=False)
    return frame.select(
        pl.any_horizontal(number.is_between(290, 320, closed="left")).fill_null(False)
    ).to_series()


@pytest.mark.parametrize(("r", "limit"), [(3, "absolute"), (5, "prior")])
def test_a_mental_disorder_in_any_of_three_diagnoses(
    frame: pl.DataFrame, r: float, limit: str, tmp_path: Path
) -> None:
    spec = Spec(
        qi=QI[:4],
        sensitive=COLUMNS,
        protect=["diag_1,diag_2,diag_3=290..319"],
        r=r,
        limit=limit,  # type: ignore[arg-type]
    )
    # One draw in three, of seed 0 for one, leaves a class of 36 carriers without partners.
    release = shoal.anonymize(frame, spec, seed=1)
    assert release.audit is not None
    assert all(one.robust for one in release.audit.by_adversary.values())
    assert release.audit.absence.kept
    assert release.audit.certain <= 0.01 * release.audit.carriers
    assert release.robust is (release.audit.counter.kept and release.audit.certain == 0)
    (event,) = release.certificate["events"]
    assert event["label"] == "diag_1 or diag_2 or diag_3: 290..319"
    rows = release.certificate["rows"]
    carriers = int(mental(frame).sum())
    assert release.audit.carriers + rows["suppressed_with_event"] == carriers == 6_585
    assert rows["suppressed_with_event"] <= 0.005 * carriers
    release.save(tmp_path / "out", private=tmp_path / "inside")
    assert shoal.verify(tmp_path / "out", table=frame, private=tmp_path / "inside").confirmed


def test_a_mental_disorder_in_each_of_three_diagnoses(frame: pl.DataFrame) -> None:
    events = [f"{name}=290..319" for name in COLUMNS]
    spec = Spec(qi=QI, sensitive=COLUMNS, protect=events, r=5)
    release = shoal.anonymize(frame, spec, seed=0)
    assert release.audit is not None
    assert all(one.robust for one in release.audit.by_adversary.values())
    assert release.audit.absence.kept
    shown = [event["label"] for event in release.certificate["events"]]
    assert shown == [f"{name}: 290..319" for name in COLUMNS]
