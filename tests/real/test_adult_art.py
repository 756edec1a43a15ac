"""ART on real tables: how many it cannot hide, and that the auditor finds nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.auditing.adversaries.adversary import BOTH
from shoal.auditing.audit import audit
from shoal.data.datasets import ADULT_EVENT, ADULT_QI, ADULT_SENSITIVE, adult
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.methods.art import Art
from shoal.planning.plan import plan

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
    ("r", "min_support", "limit", "most_lost", "most_linked"),
    [
        (2, 100, "absolute", 0.005, 0),
        (3, 100, "absolute", 0.01, 0),
        (5, 100, "absolute", 0.03, 0),
        (10, 300, "prior", 0.05, 20),
        (10, 100, "prior", 0.08, 20),
    ],
)
def test_few_are_suppressed_and_nobody_is_exposed(
    frame: pl.DataFrame,
    r: float,
    min_support: int,
    limit: Any,
    most_lost: float,
    most_linked: int,
) -> None:
    """At r = 10 all but a few people are in groups with the event, and nobody is left to help some
    whom all counts together point at."""
    release = shoal.anonymize(frame, adult_spec(r=r, min_support=min_support, limit=limit))
    found = release.audit
    assert found is not None
    assert set(found.by_adversary) == {*BOTH, "all-views"}
    assert all(found.by_adversary[name].robust for name in BOTH)
    whole = found.by_adversary["all-views"]
    assert whole.problematic <= most_linked
    assert (found.problematic, found.exact_share) == (0, 1)
    assert found.worst_posterior <= 1 / r or limit == "prior"
    assert found.carriers + found.suppressed_carriers == CARRIERS
    assert found.suppressed_carriers <= most_lost * CARRIERS
    groups = release.certificate["groups"]
    assert groups["pooled"] <= MOST_POOLED * groups["with_event"]
    assert found.robust is whole.robust
    assert found.robust or most_linked > 0
    assert found.counter.kept


def test_the_papers_variant_leaves_breaches_that_theorem_1_does_not_see(
    frame: pl.DataFrame,
) -> None:
    table = Table.from_frame(frame.head(15_000), adult_spec(r=5))
    grouping = Art(condition="bound", selection="closest", max_suppression=1).anonymize(table)
    found = audit(table, grouping)
    assert found.theorem1_groups == found.event_groups > 100
    binary = audit(table, grouping, adversary="binary").by_adversary["binary"]
    assert binary.robust is True
    assert found.robust is False
    assert found.problematic > 0
    assert found.worst_posterior > 1 / 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("readers", "most_lost"), [(("joint",), 0.01), (("joint", "binary"), 0.02)]
)
def test_every_value_as_an_event_at_2(
    frame: pl.DataFrame, readers: tuple[str, ...], most_lost: float
) -> None:
    table = Table.from_frame(frame, adult_spec(protect=None, r=2))
    with_default_limit = plan(table)
    assert with_default_limit.feasible
    grouping = Art(readers=readers).anonymize(table)
    found = audit(table, grouping, adversary=readers)
    assert all(one.robust for one in found.by_adversary.values())
    assert found.exact_share == 1
    assert found.worst_posterior <= 1 / 2
    assert (table.rows - grouping.published) <= most_lost * table.rows


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
    assert found.by_adversary["joint"].robust is True
    assert found.exact_share == 1
    assert (table.rows - grouping.published) <= 0.3 * table.rows


@pytest.mark.parametrize("r", [5, pytest.param(10, marks=pytest.mark.slow)])
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
