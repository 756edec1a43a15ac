"""compare: measures side by side, failures as lines, other tools' files beside them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.api.compare import compare
from shoal.data.datasets import hospital
from shoal.data.spec import Event, Spec
from shoal.errors import InputError
from shoal.planning.comparison import MEASURES, average
from shoal.release.utility import Workload

SPEC = Spec(
    qi=("age", "sex", "region"),
    sensitive="diagnosis",
    r=3,
    protect=(Event(("HIV", "Schizophrenia"), "protected"),),
    min_support=30,
)
QUERIES = Workload(queries=300, selectivity=0.2)


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return hospital(900, seed=2).with_columns((pl.col("age") // 10 * 10).alias("age"))


def test_the_worst_link_is_the_one_that_the_verdict_names(frame: pl.DataFrame) -> None:
    """Where limits differ that need not be the largest."""
    events = Event(("HIV",), r=5), Event(("Influenza",), r=1.5)
    spec = SPEC.with_(protect=events, r=2)
    line = compare(frame, spec, methods=("art",), workload=QUERIES).lines[0].to_dict()
    audit = shoal.anonymize(frame, spec, seed=line["seeds"][0]).audit
    assert audit is not None
    (check,) = (one for one in audit.checks if one.name == "one-view")
    assert line["nearest_link"] == check.worst == audit.nearest_link
    other = replace(check, worst=0.01)
    assert replace(audit, checks=(other,)).nearest_link == 0.01 < audit.worst_posterior


def test_every_method_has_every_measure(frame: pl.DataFrame) -> None:
    found = compare(
        frame,
        SPEC,
        methods=("art", "anatomy", "mask"),
        workload=QUERIES,
        repeat=2,
    )
    by_name = {line.method: line for line in found.lines}
    assert list(by_name) == ["art", "anatomy", "mask"]
    for line in found.lines:
        assert line.failed is None
        assert set(line.measures) == set(MEASURES)
        assert line.seeds == (0, 1)
        assert line.measures["seconds"] > 0
    assert by_name["art"].measures["robust"] is True
    assert by_name["art"].measures["worst_posterior"] <= 1 / 3 + 1e-9
    assert by_name["art"].measures["problematic_share"] == 0
    assert by_name["anatomy"].measures["suppressed"] == 0
    assert by_name["art"].measures["relative_error"] < by_name["anatomy"].measures["relative_error"]
    plain = found.to_dict()
    assert plain["methods"][0]["method"] == "art"
    assert plain["workload"]["queries"] == 300
    assert "numpy" in plain["machine"]
    assert found.to_frame().height == 3


def test_the_same_seed_gives_the_same_figures(frame: pl.DataFrame) -> None:
    first, again = (
        compare(frame, SPEC, methods=("anatomy",), workload=QUERIES, seed=4).lines[0].measures
        for _ in range(2)
    )
    assert {k: v for k, v in first.items() if k != "seconds"} == {
        k: v for k, v in again.items() if k != "seconds"
    }


def test_a_method_that_fails_is_a_line_with_its_reason(frame: pl.DataFrame) -> None:
    spec = SPEC.with_(protect=(Event(("Hypertension",)),), r=50)
    found = compare(frame, spec, methods=("anatomy", "mask"), workload=QUERIES)
    anatomy, mask = found.lines
    assert anatomy.failed is not None
    assert anatomy.measures["relative_error"] is None
    assert mask.failed is None
    assert mask.measures["relative_error"] > 0


def test_a_file_of_another_tool_takes_part(frame: pl.DataFrame) -> None:
    other = frame.with_columns(
        pl.lit("*").alias("region"),
        pl.when(pl.col("age") < 50).then(pl.lit("<50")).otherwise(pl.lit("50+")).alias("age"),
    )
    found = compare(
        frame,
        SPEC,
        methods=("anatomy",),
        released={"theirs": other, "same": frame},
        workload=QUERIES,
    )
    theirs, same = found.lines[1:]
    assert theirs.measures["groups"] == 4
    assert theirs.measures["seconds"] is None
    assert theirs.measures["relative_error"] > 0
    assert same.measures["groups"] == frame.select(SPEC.qi).unique().height
    assert same.measures["relative_error"] == pytest.approx(0, abs=1e-12)


def test_a_keyed_file_may_lack_rows(frame: pl.DataFrame) -> None:
    shuffled = frame.sample(fraction=0.9, shuffle=True, seed=1)
    found = compare(
        frame, SPEC, methods=(), released={"part": shuffled}, key="patient", workload=QUERIES
    )
    assert found.lines[0].measures["suppressed"] == frame.height - shuffled.height


def test_a_file_that_cannot_be_aligned_is_a_line(frame: pl.DataFrame) -> None:
    found = compare(frame, SPEC, methods=(), released={"short": frame.head(5)}, workload=QUERIES)
    assert found.lines[0].failed is not None
    assert "900 rows" in found.lines[0].failed


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"repeat": 0}, "whole-number"),
        ({"methods": ("art", "art")}, "name-twice"),
        ({"methods": ("arts",)}, "method"),
    ],
)
def test_bad_settings_are_refused(
    frame: pl.DataFrame, change: dict[str, object], code: str
) -> None:
    with pytest.raises(InputError) as caught:
        compare(frame, SPEC, **change)  # type: ignore[arg-type]
    assert caught.value.code == code


def test_averages_of_runs() -> None:
    runs = [
        {"seconds": 1.0, "robust": True, "worst_posterior": 0.1, "groups": 4},
        {"seconds": 9.0, "robust": False, "worst_posterior": 0.3, "groups": 6},
        {"seconds": 2.0, "robust": True, "worst_posterior": 0.2, "groups": 5},
    ]
    assert average("seconds", runs) == 2.0
    assert average("robust", runs) is False
    assert average("worst_posterior", runs) == 0.3
    assert average("groups", runs) == np.mean([4, 5, 6])
    assert average("seconds", [{"seconds": None}]) is None
