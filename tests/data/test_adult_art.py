"""ART on real tables: how many it cannot hide, and that the auditor finds nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.anonymizers.art import Art
from shoal.auditing.audit import audit
from shoal.datasets import ADULT_EVENT, ADULT_QI, ADULT_SENSITIVE, adult
from shoal.errors import InputError
from shoal.planning.plan import plan
from shoal.spec import Event, Spec
from shoal.table import Table

pytestmark = pytest.mark.data

CARRIERS = 1566
MOST_POOLED = 0.15


@pytest.fixture(scope="module")
def frame(adult_path: Path) -> pl.DataFrame:
    return adult(adult_path)


def adult_spec(**changes: Any) -> Spec:
    given: dict[str, Any] = {
        "qi": ADULT_QI[:5],
        "sensitive": ADULT_SENSITIVE,
        "protect": (Event(ADULT_EVENT),),
        "r": 5,
        "min_support": 100,
    }
    return Spec(**(given | changes))


@pytest.mark.parametrize(
    ("qis", "r", "min_support", "limit"),
    [
        (5, 2, 100, 0.0),
        (5, 5, 100, 0.005),
        (5, 5, 30, 0.01),
        (5, 10, 300, 0.01),
        (5, 10, 100, 0.03),
        (8, 2, 300, 0.005),
    ],
)
def test_few_are_suppressed_and_nobody_is_exposed(
    frame: pl.DataFrame, qis: int, r: float, min_support: int, limit: float
) -> None:
    spec = adult_spec(qi=ADULT_QI[:qis], r=r, min_support=min_support)
    release = shoal.anonymize(frame, spec)
    found = release.audit
    assert found is not None
    assert (found.robust, found.problematic, found.exact_share) == (True, 0, 1)
    assert found.worst_posterior <= 1 / r
    assert found.carriers + found.suppressed_carriers == CARRIERS
    assert found.suppressed == found.suppressed_carriers <= limit * CARRIERS
    groups = release.certificate["groups"]
    assert groups["pooled"] <= MOST_POOLED * groups["with_event"]


def test_the_papers_variant_leaves_breaches_that_theorem_1_does_not_see(
    frame: pl.DataFrame,
) -> None:
    table = Table.from_frame(frame.head(15_000), adult_spec(r=5))
    grouping = Art(condition="bound", selection="closest", max_suppression=1).anonymize(table)
    found = audit(table, grouping)
    assert found.theorem1_groups == found.event_groups > 100
    assert audit(table, grouping, adversary="binary").robust is True
    assert found.robust is False
    assert found.problematic > 0
    assert found.worst_posterior > 1 / 5


def test_every_value_as_an_event_at_2(frame: pl.DataFrame) -> None:
    table = Table.from_frame(frame, adult_spec(protect=None, r=2))
    with_default_limit = plan(table)
    assert with_default_limit.feasible
    grouping = Art().anonymize(table)
    found = audit(table, grouping)
    assert (found.robust, found.exact_share) == (True, 1)
    assert found.worst_posterior <= 1 / 2
    assert (table.rows - grouping.published) <= 0.01 * table.rows


def test_every_value_as_an_event_at_3_is_at_the_edge(frame: pl.DataFrame) -> None:
    result = plan(Table.from_frame(frame, adult_spec(protect=None, r=3)))
    assert not result.feasible
    assert result.largest_r == pytest.approx(2.41, abs=0.01)
    tightest = min(result.events, key=lambda event: event.largest_r)
    assert tightest.label == "HS-grad"
    assert tightest.share == pytest.approx(0.327, abs=1e-3)
    assert tightest.coverage_bound < tightest.carriers
    assert result.advice
    with pytest.raises(InputError) as raised:
        Art().anonymize(Table.from_frame(frame.head(3000), adult_spec(protect=None, r=3)))
    assert raised.value.code == "suppression-limit"


@pytest.mark.slow
def test_every_value_as_an_event_at_3_keeps_most_rows(frame: pl.DataFrame) -> None:
    """Packing tuples that are alike in every view keeps 57 % at most; mixing adds to it."""
    table = Table.from_frame(frame, adult_spec(protect=None, r=3))
    grouping = Art(max_suppression=1).anonymize(table)
    found = audit(table, grouping)
    assert (found.robust, found.exact_share) == (True, 1)
    assert (table.rows - grouping.published) <= 0.3 * table.rows


@pytest.mark.parametrize("r", [5, 10])
def test_first_encounters_of_diabetes_patients(data_root: Path, r: float) -> None:
    path = data_root / "diabetes130.csv.gz"
    if not path.is_file():
        pytest.skip(f"no diabetes data set at {path}")
    qi = ("race", "gender", "age", "admission_type_id", "discharge_disposition_id")
    frame = (
        pl.read_csv(path, infer_schema=False)
        .sort(pl.col("encounter_id").cast(pl.Int64))
        .unique("patient_nbr", keep="first", maintain_order=True)
        .select(*qi, "diag_1")
    )
    assert frame.height == 71_518
    codes = frame["diag_1"].unique().to_list()
    mental = tuple(sorted(c for c in codes if c[0].isdigit() and 290 <= float(c) < 320))
    spec = Spec(qi=qi, sensitive="diag_1", protect=(Event(mental, label="mental"),), r=r)
    release = shoal.anonymize(frame, spec)
    found = release.audit
    assert found is not None
    assert (found.robust, found.exact_share) == (True, 1)
    assert found.suppressed_carriers <= 0.05 * (found.carriers + found.suppressed_carriers)
