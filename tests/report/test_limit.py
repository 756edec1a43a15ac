"""Everything that is said of a release under the honest limit is true of it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.release import facts as recorded
from shoal.release.verification.verify import verify
from shoal.report import page as report
from tests.release.fixed import Fixed
from tests.report.page import Page

FRAME = pl.DataFrame({"q": ["a"] * 10 + ["b"] * 90, "v": ["x", "y"] * 5 + ["y"] * 90})
"""Half of the people with a carry x, and nobody else."""
SPEC = shoal.Spec(qi=("q",), sensitive="v", protect=("x",), r=4, min_support=5, limit="prior")
ONE_CLASS = (*[0] * 10, *range(1, 91))
"""The people with a are one group: everybody in it is linked as before, with 50 %."""
HALF = "25 % (or what was known of the person before, if that is more)"


@pytest.fixture(scope="module")
def made() -> tuple[shoal.Release, shoal.Table]:
    table = shoal.Table.from_frame(FRAME, SPEC)
    return shoal.anonymize(table, SPEC, method=Fixed(ONE_CLASS)), table


def test_a_link_as_strong_as_before_is_no_breach_in_any_text(
    made: tuple[shoal.Release, shoal.Table], tmp_path: Path
) -> None:
    release, table = made
    assert release.robust
    assert "robust at r = 4, limit prior" in repr(release)
    assert "robust at r = 4, limit prior" in repr(release.audit)
    release.save(tmp_path / "release", private=tmp_path / "private")
    text = " ".join((tmp_path / "release" / "README.txt").read_text(encoding="utf-8").split())
    assert (
        "The release is 4-robust, with the limit 1/r (25 %) (or what was known of the person "
        "before, if that is more): the verdict on the checks below."
    ) in text
    page = Page(report.render_release(release, table)).text.replace("\u00a0", " ")
    assert "Robust at r = 4, limit prior: all 5 checks are kept. The largest link" in page
    assert "nearest to its limit is 50 %, where 50 % is allowed" in page
    assert "Limits differ from person to person" in page
    found = verify(tmp_path / "release", table=FRAME, private=tmp_path / "private")
    assert found.confirmed, found
    assert found.limit == "prior"
    assert "all-views adversaries, limit prior" in repr(found)


def test_the_same_groups_are_judged_by_the_limit_that_was_asked_for(
    made: tuple[shoal.Release, shoal.Table], tmp_path: Path
) -> None:
    release, table = made
    strict = shoal.audit(table, ONE_CLASS, limit="absolute")
    assert strict.robust is False
    assert strict.problematic == 10
    page = Page(report.render_audit(strict, table)).text.replace("\u00a0", " ")
    assert "Not robust at r = 4: 10 people are linked above their limit" in page
    assert "limit prior" not in page.split("Spec")[0]
    release.save(tmp_path / "release")
    file = tmp_path / "release" / "certificate.json"
    certificate = json.loads(file.read_text(encoding="utf-8"))
    certificate["limit"] = certificate["spec"]["limit"] = "absolute"
    file.write_text(json.dumps(certificate), encoding="utf-8")
    assert not verify(tmp_path / "release", table=FRAME).confirmed


def test_no_bar_is_above_the_limit_and_the_limit_is_everybodys_own(
    made: tuple[shoal.Release, shoal.Table],
) -> None:
    facts = recorded.release_facts(*made)
    assert facts.relative
    assert not [bar for bar in facts.risk["after"] if bar.people and bar.low >= 1]
    assert [bar for bar in facts.risk["before"] if bar.people and bar.low >= 1]
