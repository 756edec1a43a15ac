"""`shoal anonymize` beside a release of the same people, with what both tell together."""

from __future__ import annotations

import re
from pathlib import Path

from shoal.data.datasets import hospital
from tests.cli.program import SPEC, shoal_


def test_a_second_release_is_refused_with_the_figure_for_both(tmp_path: Path) -> None:
    frame = hospital(2500, 8)
    frame.head(2000).write_csv(tmp_path / "table.csv")
    frame.write_csv(tmp_path / "more.csv")
    assert shoal_("anonymize", "table.csv", "--out", "a", *SPEC, cwd=tmp_path).returncode == 0
    again = ["anonymize", "table.csv", "--out", "b", *SPEC, "-r", "2"]
    done = shoal_(*again, cwd=tmp_path)
    assert done.returncode == 2
    found = re.search(
        r"certain of the protected value of (\d+) (?:people|person) \((\d+(?:\.\d)?) %", done.stderr
    )
    assert found is not None, done.stderr
    assert int(found[1]) > 0
    assert "[same-people]" in done.stderr
    assert not (tmp_path / "b").exists()
    more = shoal_("anonymize", "more.csv", "--out", "c", *SPEC, cwd=tmp_path)
    assert more.returncode == 2
    assert "of the same people: about 100" in more.stderr
    assert "certain of the protected value" not in more.stderr, "not known before it is made"
    assert shoal_(*again, "--alone", cwd=tmp_path).returncode == 0
    both = shoal_(
        "audit", "table.csv", "--releases", "a", "--releases", "b", "--json", cwd=tmp_path
    )
    assert both.returncode == 1
    assert '"robust": false' in both.stdout
