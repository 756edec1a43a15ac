"""Every command that takes a table takes what its file says of the columns, too."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from tests.cli.program import shoal_
from tests.data.sources.surveyed import SURVEY, save

ASKED = ("--qi", "V2,V3", "--sensitive", "V4", "--protect", "HIV", "-r", "5")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("labels")
    save(made / "survey.sav")
    for name, hidden in (("other", "V3"), ("third", "V2")):
        SURVEY.with_columns(pl.lit("*").alias(hidden)).write_csv(made / f"{name}.csv")
    return made


@pytest.mark.parametrize(
    "words",
    [
        ("audit", "survey.sav", "--released", "other.csv"),
        ("audit", "survey.sav", "--groups", "V7"),
        ("audit", "survey.sav", "--releases", "other.csv", "--releases", "third.csv"),
        ("attack", "survey.sav", "--released", "other.csv", "--attacker", "likeliest"),
        ("compare", "survey.sav", "--methods", "mondrian", "--queries", "10"),
        ("count", "survey.sav", "--out", "cells.parquet"),
        ("plan", "survey.sav"),
    ],
)
def test_events_are_named_by_label(
    folder: Path, words: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    done = shoal_(*words, *ASKED)
    assert done.returncode in (0, 1, 3), done.stderr
    assert "never occurs" not in done.stderr
