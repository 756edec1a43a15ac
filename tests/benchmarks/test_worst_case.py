"""The worst case: every run is kept as soon as it is done, and shown in ranges over seeds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import worst_case
from benchmarks.settings import hospital_subject
from benchmarks.worst_case import Run, Truth, every_run, measure_worst_case, wide
from benchmarks.worst_tables import counted, named, reached, runs, true


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs of two small tables."""
    file = tmp_path_factory.mktemp("runs") / "runs.jsonl"
    small = {"hospital": lambda: Truth(hospital_subject(4_000)), "wide": lambda: wide(3_000)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worst_case, "TABLES", small)
        worst_case._truth.cache_clear()
        wanted = [Run("hospital", 2.0, "absolute", 1), Run("hospital", 2.0, "absolute", 2)]
        measure_worst_case(_quiet, wanted=[*wanted, Run("wide", 2.0, "prior", 1)], file=file)
        kept = file.read_text("utf-8")
        measure_worst_case(_refuse, wanted=wanted, file=file)
        assert file.read_text("utf-8") == kept
    worst_case._truth.cache_clear()
    return file


def _quiet(text: str) -> None:
    """Says nothing."""


def _refuse(text: str) -> None:
    raise AssertionError(f"made anew: {text}")


def test_a_run_is_what_was_seen(file: Path) -> None:
    lines = runs(file)
    assert [one["seed"] for one in lines] == [1, 2, 1]
    for line in lines:
        tries, hits = line["attackers"]["counter-all"][:2]
        assert 0 <= hits <= tries <= line["cases"] <= line["people"]
        assert line["far_above"] <= line["above"] <= line["people"]
        assert line["robust"] is (line["far_above"] == 0) or line["robust"] is False
    assert "by_truth" in lines[2]
    assert "by_truth" not in lines[0]


@pytest.mark.parametrize("same", [True, False])
def test_other_code_is_attacked_again_only_where_it_publishes_something_else(
    file: Path, tmp_path: Path, same: bool
) -> None:
    other, seen = tmp_path / "runs.jsonl", runs(file)[0]
    old = {**seen, "code": "of yesterday", "surest": "of yesterday"}
    if not same:
        old["release"] = "of yesterday"
    other.write_text(json.dumps(old) + "\n", "utf-8")
    said = list[str]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worst_case, "TABLES", {"hospital": lambda: Truth(hospital_subject(4_000))})
        worst_case._truth.cache_clear()
        measure_worst_case(said.append, wanted=[Run(*worst_case._name(old))], file=other)
    worst_case._truth.cache_clear()
    (made,) = runs(other)
    assert len(said) == 1
    assert made.pop("cpu")[2] >= 0
    expected = {**seen, "surest": "of yesterday"} if same else dict(seen)
    expected.pop("cpu")
    assert made == expected


def test_tables_give_the_range_over_seeds(file: Path) -> None:
    lines = runs(file)
    for block in (reached, named, counted):
        shown = block({"worst_case": lines}).splitlines()
        assert len(shown) == 4  # a head, a rule, and two settings
        assert len({line.count("|") for line in shown}) == 1
    assert len(true({"worst_case": lines}).splitlines()) == 3
    ends = sorted(f"{one['per_case']:.1f}" for one in lines[:2])
    assert " to ".join(dict.fromkeys(ends)) in reached({"worst_case": lines})


def test_a_refusal_is_shown_in_words() -> None:
    line: dict[str, Any] = {"table": "t", "r": 2.0, "limit": "prior", "seed": 1}
    shown = reached({"worst_case": [line | {"failed": "suppression-limit"}]})
    assert "refused: suppression-limit" in shown


def test_the_wide_table_is_drawn_from_what_it_says() -> None:
    truth = wide(20_000, seed=3)
    assert truth.chance is not None
    carries = (truth.subject.frame["s"] == "v0").to_numpy()
    chance = truth.chance["chance"].to_numpy()
    spread = np.sqrt((chance * (1 - chance)).sum())
    assert abs(carries.sum() - chance.sum()) < 4 * spread


def test_one_setting_of_every_table_comes_before_the_second_of_any() -> None:
    first = [run.table for run in every_run()][: len(worst_case.TABLES)]
    assert set(first) == set(worst_case.TABLES)
