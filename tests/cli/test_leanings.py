"""What `shoal anonymize` says of leanings, and does without them."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from tests.cli.program import shoal_
from tests.release.test_leanings import people

SPEC = [
    "--qi",
    "place,age,sex",
    "--sensitive",
    "state",
    "--protect",
    "ill",
    "--min-support",
    "30",
    "-r",
    "5",
    "--seed",
    "5",
]


def test_leanings_are_told_unless_they_are_not_wanted(tmp_path: Path) -> None:
    people(1).write_csv(tmp_path / "table.csv")
    done = shoal_("anonymize", "table.csv", *SPEC, "--out", "told", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shares = pl.read_csv(tmp_path / "told" / "qi.csv")["share"]
    told = len(shares) - shares.null_count()
    assert (
        f"For counts by class it is told of {told:,} people in groups with an event" in done.stdout
    )
    asked = ["anonymize", "table.csv", *SPEC, "--json"]
    found = json.loads(shoal_(*asked, "--out", "again", cwd=tmp_path).stdout)
    assert found["leanings"] == {"column": "share", "told": {"ill": told}}
    without = shoal_(*asked, "--out", "untold", "--no-leanings", cwd=tmp_path)
    assert json.loads(without.stdout)["leanings"] == {"told": {}}
    assert "share" not in pl.read_csv(tmp_path / "untold" / "qi.csv").columns
    page = (tmp_path / "untold" / "README.txt").read_text("utf-8")
    assert "For counts by class" not in page
