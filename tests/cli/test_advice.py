"""What a refusal advises can be done, and helps: on tables on which advice once failed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.cli.program import refused, shoal_

SURVEY = ["--qi", "region,job,town", "--sensitive", "illness", "--protect", "bad"]
STAYS = ["--qi", "sex,region,job", "--sensitive", "illness", "--protect", "bad", "--person", "who"]


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """400 people, one in five of whom has the event; nobody has an age."""
    random = np.random.default_rng(1)
    illness = np.where(random.random(400) < 0.2, "bad", random.choice(list("abcde"), 400))
    columns = {name: random.integers(0, n, 400) for name, n in (("region", 4), ("job", 5))}
    coded = {name: [f"{name} {one}" for one in codes] for name, codes in columns.items()}
    towns = [f"town {one}" for one in random.integers(0, 60, 400)]
    file = tmp_path_factory.mktemp("survey") / "survey.csv"
    pl.DataFrame({**coded, "town": towns, "illness": illness}).write_csv(file)
    return file


@pytest.fixture(scope="module")
def stays(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """700 people with up to twelve rows, whose illness mostly stays."""
    random = np.random.default_rng(1)
    rows = random.choice([1, 1, 1, 2, 3, 12], 700)
    who = np.repeat(np.arange(700), rows)
    ill = (random.random(700) < 0.06)[who] & (random.random(len(who)) < 0.7)
    frame = pl.DataFrame(
        {
            "who": [f"p{one}" for one in who],
            "sex": random.choice(["M", "F"], 700)[who],
            "region": [f"R{one}" for one in random.integers(0, 4, 700)[who]],
            "job": [f"J{one}" for one in random.integers(0, 5, len(who))],
            "illness": np.where(ill, "bad", random.choice(list("abcde"), len(who))),
        }
    )
    file = tmp_path_factory.mktemp("stays") / "stays.csv"
    frame.write_csv(file)
    return file


def test_the_remedy_for_people_with_several_rows_works(stays: Path, tmp_path: Path) -> None:
    asked = ["anonymize", stays, *STAYS, "-r", "4", "--seed", "1"]
    done = shoal_(*asked, "--out", tmp_path / "out")
    assert done.returncode == 1
    assert re.search(r"^BROKEN +One row, one person: ", done.stdout, re.MULTILINE)
    advised = re.findall(r"`(--rows-per-person (?:\w+|'[^']*'))`", done.stdout + done.stderr)
    assert len(advised) == 2
    one_row, few_rows = (shlex.split(one) for one in advised)
    kept = shoal_(*asked, *one_row, "--out", tmp_path / "one")
    assert kept.returncode == 0, kept.stdout
    beside = shoal_(*asked, *few_rows, "--out", tmp_path / "few")
    refused(beside, "same-people")  # with other rows of them, which are not judged together
    kept = shoal_(*asked, *few_rows, "--out", tmp_path / "few", "--alone")
    assert kept.returncode == 0, kept.stdout


def test_a_refusal_names_no_column_that_there_is_not_and_no_untried_figure(
    survey: Path, tmp_path: Path
) -> None:
    known = set(re.findall(r"--[a-z-]+", shoal_("anonymize", "--help-all").stdout))
    for r in ("6", "12"):
        for limit in ([], ["--limit", "prior"]):
            asked = ["anonymize", survey, *SURVEY, "-r", r, *limit, "--seed", "1"]
            done = shoal_(*asked, "--out", tmp_path / "out")
            said = done.stdout + done.stderr
            assert done.returncode in (1, 2), said
            assert not (tmp_path / "out").exists()
            assert not re.search(r"\bage\b|bands=|would find|r of \d", said)
            assert set(re.findall(r"(?<!-)--[a-z]+[a-z-]*", said)) <= known | {"--spec"}


def test_what_a_refusal_names_finds_a_setting_that_holds(survey: Path, tmp_path: Path) -> None:
    refused(
        shoal_("anonymize", survey, *SURVEY, "-r", "12", "--out", tmp_path / "a"), "r-impossible"
    )
    best = tmp_path / "best.toml"
    done = shoal_("find", survey, *SURVEY, "-r", "12", "--seconds", "20", "--write", best)
    assert done.returncode == 0, done.stdout + done.stderr
    made = shoal_("anonymize", survey, "--spec", best, "--out", tmp_path / "b", "--seed", "1")
    assert made.returncode == 0, made.stdout
