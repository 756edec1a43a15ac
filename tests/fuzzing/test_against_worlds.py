"""Some seconds of random groups and tables against every possible world: `make fuzz` has more."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fuzzing.groups import BATCH, posteriors
from fuzzing.trial import fuzz
from tests.docs.blocks import DOCS
from tests.oracle import worlds
from tools.fuzzed import fuzzed_page
from tools.pages import MADE


def test_twenty_thousand_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = fuzz("groups", seed=1, seconds=300, count=10 * BATCH)
    assert (run.count, run.failed) == (10 * BATCH, 0), capsys.readouterr().out
    run.record(tmp_path / "runs.json")
    assert json.loads((tmp_path / "runs.json").read_text())["groups"]["count"] == run.count


def test_sixty_tables(capsys: pytest.CaptureFixture[str]) -> None:
    run = fuzz("tables", seed=1, seconds=300, count=60)
    assert (run.count, run.failed) == (60, 0), capsys.readouterr().out


def test_two_hundred_tables_with_several_rows_of_a_person(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = fuzz("persons", seed=1, seconds=300, count=200)
    assert (run.count, run.failed) == (200, 0), capsys.readouterr().out


@pytest.mark.parametrize("what", ["groups", "tables", "persons"])
def test_what_fails_is_told_with_the_command_that_repeats_it(
    what: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(f"fuzzing.{what}.ROUNDING", -1.0)
    run = fuzz(what, seed=5, seconds=300, count=1, first=3)
    assert run.failed == 1
    assert f"by {what} --seed 5 --first 3 --count 1" in capsys.readouterr().out


@pytest.mark.parametrize("seed", range(10))
def test_groups_weighed_together_are_weighed_as_each_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    chances, values = rng.dirichlet(np.ones(3), (4, 5)), tuple(rng.integers(0, 3, 5).tolist())
    for one, found in zip(chances, posteriors(chances, values), strict=True):
        assert found == pytest.approx(np.array(worlds.joint_posterior(one.tolist(), values)))


def test_the_page_tells_of_the_recorded_runs() -> None:
    assert (DOCS / "fuzzing.md").read_text("utf-8") == fuzzed_page(MADE), "run python -m tools"
