"""Who is known beforehand: the fast walk says what the plan says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.data.datasets import HOSPITAL_QI, hospital
from shoal.data.table import Table
from shoal.knowledge import Knowledge
from shoal.planning.supply import Supply
from shoal.workbench.foreknown import NotWanted, known_before
from tests.data.sources.expect import fails_with

FRAME = hospital(3_000, seed=3)
ONE, OTHER = sorted(set(FRAME["diagnosis"]))[:2]
SEX = sorted(set(FRAME["sex"]))[0]
USUAL: dict[str, Any] = {
    "qi": HOSPITAL_QI,
    "sensitive": "diagnosis",
    "protect": [[ONE, OTHER]],
    "r": 5,
    "min_support": 50,
}
TWO_COLUMNS = {
    "qi": ["age", "region"],
    "sensitive": ["diagnosis", "sex"],
    "protect": [{"values": [ONE], "column": "diagnosis"}, {"values": [SEX], "column": "sex"}],
}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"r": 10, "min_support": 20},
        {"r": 2, "min_support": 1},
        {"min_support": 5_000},
        {"bands": {"age": 10}, "min_support": 30},
        {"views": [["sex"], ["region", "age"]], "min_support": 30},
        {"max_attributes": 1},
        {"protect": [[ONE], [OTHER]], "r": 4},
        {"protect": None, "r": 3, "min_support": 40},
        TWO_COLUMNS,
    ],
)
def test_it_is_what_the_plan_says(more: dict[str, Any]) -> None:
    table = Table.from_frame(FRAME, shoal.Spec(**(USUAL | more)))
    plain = Supply.of(table, Knowledge.of(table)).known_before
    assert known_before(table).tolist() == plain.tolist()


def test_outside_knowledge_counts_instead_of_the_tables_own(tmp_path: Path) -> None:
    said = {"sex": [SEX], "value": [ONE], "probability": [0.9]}
    pl.DataFrame(said).write_csv(tmp_path / "known.csv")
    asked = shoal.Spec(**USUAL, knowledge=tmp_path / "known.csv")
    (known,) = known_before(Table.from_frame(FRAME, asked)).tolist()
    assert known == FRAME.filter(pl.col("sex") == SEX).height
    assert known != known_before(Table.from_frame(FRAME, shoal.Spec(**USUAL)))[0]


def test_more_events_than_memory_allows_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table.from_frame(FRAME, shoal.Spec(**USUAL))
    monkeypatch.setattr("shoal.workbench.foreknown.MOST_CELLS", 10)
    with fails_with("events-many"):
        known_before(table)


def test_what_nobody_waits_for_ends() -> None:
    table = Table.from_frame(FRAME, shoal.Spec(**USUAL))
    with pytest.raises(NotWanted):
        known_before(table, lambda: False)
