"""What `shoal anonymize` says of leanings, and does without them."""

from __future__ import annotations

import json
from pathlib import Path

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
    lines = (tmp_path / "told" / "leanings.csv").read_text("utf-8").splitlines()
    assert f"How much {len(lines) - 1} classes of people lean to an event is told" in done.stdout
    asked = ["anonymize", "table.csv", *SPEC, "--json"]
    told = json.loads(shoal_(*asked, "--out", "again", cwd=tmp_path).stdout)
    assert told["leanings"] == {"told": {"ill": len(lines) - 1}}
    without = shoal_(*asked, "--out", "untold", "--no-leanings", cwd=tmp_path)
    assert json.loads(without.stdout)["leanings"] == {"told": {}}
    assert not (tmp_path / "untold" / "leanings.csv").exists()
    page = (tmp_path / "untold" / "README.txt").read_text("utf-8")
    assert "lean" not in page
