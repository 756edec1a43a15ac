"""`shoal find` as a user runs it, and the remedies that refusals name, followed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.program import SPEC, refused, shoal_
from tests.planning.comparison.test_finding import telling

ASKED = ["--qi", "tells,town,years", "--sensitive", "state", "--protect", "ill", "-r", "4"]
ASKED = [*ASKED, "--min-support", "50"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("find")
    telling().write_csv(folder / "t.csv")
    return folder


def test_a_refusal_sends_to_find_and_what_it_writes_is_released_and_verified(place: Path) -> None:
    done = shoal_("anonymize", "t.csv", *ASKED, "--out", "no", cwd=place)
    refused(done, "r-impossible")
    assert "`shoal find TABLE --spec S` tries what would work." in done.stderr
    assert "age" not in done.stderr
    given = ("--seconds", 30, "--write", "best.toml", "--picture", "p.svg")
    found = shoal_("find", "t.csv", *ASKED, *given, cwd=place)
    assert found.returncode == 0, found.stderr
    assert "Best: " in found.stdout
    assert (place / "p.svg").read_text("utf-8").startswith("<svg")
    made = shoal_("anonymize", "t.csv", "--spec", "best.toml", "--out", "out", cwd=place)
    assert made.returncode == 0, made.stdout
    assert shoal_("verify", "out", "--table", "t.csv", cwd=place).returncode == 0
    again = shoal_("find", "t.csv", *ASKED, "--write", "best.toml", cwd=place)
    refused(again, "output-exists")
    over = shoal_("find", "t.csv", *ASKED, "--write", "t.csv", "--force", cwd=place)
    refused(over, "output-input")


def test_none_that_holds_ends_with_1_and_a_sentence(place: Path) -> None:
    common = ["--qi", "town", "--sensitive", "tells", "--protect", "no", "-r", "3"]
    done = shoal_("find", "t.csv", *common, "--write", "none.toml", cwd=place)
    assert done.returncode == 1
    assert "with an absolute limit no r above" in done.stdout
    assert not (place / "none.toml").exists()
    told = json.loads(shoal_("find", "t.csv", *common, "--json", cwd=place).stdout)
    assert (told["holding"], told["tried"]) == (0, [])


def test_wrong_use_is_refused(place: Path) -> None:
    refused(shoal_("find", "t.csv", *ASKED, "--seconds", 0, cwd=place), "find-seconds")
    refused(shoal_("find", "t.csv", *ASKED, "--picture", "p.gif", cwd=place), "chart-file")
    wrong = shoal_("find", "t.csv", *ASKED, "--hierarchy", "twon=x.csv", cwd=place)
    refused(wrong, "hierarchy-column")
    for number in ("town=x", "town=0", "twon=2"):
        wrong = shoal_("find", "t.csv", *ASKED, "--importance", number, cwd=place)
        refused(wrong, "find-importance")


def test_plan_says_what_it_ran(place: Path, home: Path) -> None:
    done = shoal_("plan", "t.csv", *ASKED, cwd=place)
    assert done.returncode == 2
    assert "Impossible above r = " in done.stdout
    fine = shoal_("plan", home / "table.csv", *SPEC, "--json")
    told = json.loads(fine.stdout)
    assert fine.returncode == told["exit_code"] == 0
    assert {"r": 3.0, "robust": True, "refused": None, "stopped": False} in told["tried"]
    assert told["found"] >= 3
    untried = shoal_("plan", home / "table.csv", *SPEC, "--seconds", 0)
    assert untried.returncode == 3
    assert "r = 3 was not run to its end: --seconds gives it longer." in untried.stdout
    assert "found up to" not in untried.stdout


def test_plan_begins_no_run_that_takes_longer_than_it_may(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.planning.plan.PACE", 10)
    monkeypatch.setattr("shoal.api.plan.try_r", lambda *_, **__: pytest.fail("it was begun"))
    done = shoal_("plan", home / "table.csv", *SPEC)
    assert done.returncode == 3
    found = re.search(r"r = 3 was not run to its end, which takes about (\d+) s: ", done.stdout)
    counted = re.search(r"with (\d+) different .* values; (\d+) views", done.stdout)
    assert found is not None
    assert counted is not None
    assert int(found[1]) == round(int(counted[1]) * int(counted[2]) / 10) > 20
