"""How many people share a published combination: by cells, by rows, from files, by pyCANON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pycanon import anonymity
from typer.testing import CliRunner

import shoal
from shoal.cli import app
from shoal.data.spec import MISSING, Spec
from shoal.groups.lookup import Lookup, lookup_of
from shoal.release import Release
from tests.forging import edit, listed_anew

QI = ["age", "sex", "insurance"]
SPEC = Spec(qi=QI, sensitive="diagnosis", protect=[["HIV", "Schizophrenia"]], r=3, min_support=50)


@pytest.fixture(scope="module")
def hospital() -> pl.DataFrame:
    return shoal.datasets.hospital(800, seed=4)


def _by_rows(published: pl.DataFrame, k: int) -> tuple[int, int]:
    """The slow twin: everybody beside everybody."""
    rows = published.select(QI).rows()
    shared = [sum(one == other for other in rows) for one in rows]
    return shared.count(1), sum(count < k for count in shared)


def _kept(audit: Any) -> bool:
    """Whether it was asked for, and holds."""
    return {one.name: one.state for one in audit.checks}["lookup"] == "kept"


def _told(lookup: Lookup) -> tuple[int, int]:
    return lookup.unique, lookup.fewer_than.people


@pytest.mark.parametrize("method", ["anatomy", "mondrian", "t-closeness"])
@pytest.mark.parametrize("k", [None, 7])
def test_forms_agree_with_rows_files_and_pycanon(
    hospital: pl.DataFrame, tmp_path: Path, method: str, k: int | None
) -> None:
    release = shoal.anonymize(hospital, SPEC.with_(k=k), method=method, adversary="binary", seed=1)
    audit = release.audit
    assert audit is not None
    few = k or 5
    assert _told(audit.lookup) == _by_rows(release.qi, few) == _told(release.lookup)
    shown = release.qi.select(pl.col(QI).cast(pl.String).fill_null(MISSING))
    least = anonymity.k_anonymity(shown.to_pandas(), QI)
    assert (audit.lookup.fewer_than.people == 0) == (least >= few)
    assert audit.lookup.asked is (k is not None)
    release.save(tmp_path / "out", private=tmp_path / "out-private")
    checked = shoal.verify(tmp_path / "out", table=hospital)
    assert checked.confirmed
    named = {one.name: one.passed for one in checked.checks}
    assert named["people with rare combinations"]
    assert named["cost of k"]
    again = shoal.audit(hospital, released=tmp_path / "out", adversary="binary")
    assert again.lookup == audit.lookup


@pytest.mark.parametrize("form", ["bucketized", "generalized"])
def test_art_keeps_k_in_both_forms(hospital: pl.DataFrame, form: str) -> None:
    release = shoal.anonymize(hospital, SPEC.with_(k=6), form=form, seed=1)
    counts = release.qi.group_by(QI).len()["len"]
    assert counts.min() >= 6  # type: ignore[operator]
    assert release.audit is not None
    assert _kept(release.audit)
    assert release.spec.k == 6


def test_people_who_are_missing_are_missed() -> None:
    """k is judged by what is published: who is left out shares nothing."""
    people = pl.DataFrame(
        {"age": [1] * 5 + [2] * 5, "sick": ["no"] * 4 + ["yes"] + ["no"] * 4 + ["yes"]}
    )
    table = shoal.Table.from_frame(
        people, Spec(qi="age", sensitive="sick", protect=["yes"], r=2, k=5)
    )
    assert table.cost is not None
    found = shoal.audit(table, [0] * 9 + [-1], adversary="binary")
    assert (_kept(found), *_told(found.lookup)) == (False, 0, 4)
    assert _kept(shoal.audit(table, [0] * 10, adversary="binary"))


def test_another_tools_classes_are_held_against_k(hospital: pl.DataFrame) -> None:
    other = hospital.with_columns(pl.col("age") // 20, insurance=pl.lit("*"))
    sizes = other.group_by(QI).len()["len"]
    for k in (2, 30):
        found = shoal.audit(
            hospital, SPEC.with_(k=k), released=other, key="patient", adversary="binary"
        )
        assert found.lookup.fewer_than.people == sizes.filter(sizes < k).sum()
        assert _kept(found) is (found.lookup.fewer_than.people == 0)


def _forged(release: Path, change: dict[str, Any]) -> list[str]:
    """What is found where everything else fits the change, the list of checks too."""

    def forge(content: Any) -> None:
        content["audit"]["lookup"] |= change
        listed_anew(content)

    edit(release, forge)
    return [one.name for one in shoal.verify(release).checks if not one.passed]


@pytest.mark.parametrize(
    ("change", "fails"),
    [
        ({"unique": 0}, "people with rare combinations"),
        ({"fewer_than": {"k": 5, "people": 799}}, "people with rare combinations"),
        ({"fewer_than": {"k": 2, "people": 0}}, "certificate"),
        ({"asked": True}, "certificate"),
    ],
)
def test_what_is_forged_is_found(
    hospital: pl.DataFrame, tmp_path: Path, change: dict[str, Any], fails: str
) -> None:
    release = shoal.anonymize(hospital, SPEC, method="anatomy", adversary="binary", seed=1)
    assert release.lookup.unique
    release.save(tmp_path / "out", private=tmp_path / "inside")
    assert fails in _forged(tmp_path / "out", change)


def test_the_command_line_says_it(hospital: pl.DataFrame, tmp_path: Path) -> None:
    hospital.write_csv(tmp_path / "people.csv")
    common = ["--qi", ",".join(QI), "--sensitive", "diagnosis", "--protect", "HIV|Schizophrenia"]
    common += ["-r", "3", "--adversary", "binary", "--write-anyway", "--alone"]
    for method, asked in (("anatomy", 8), ("mondrian", None)):
        out = tmp_path / method
        asks = ["--out", str(out), *common, "--method", method, "--k", "8"]
        ran = CliRunner().invoke(app, ["anonymize", str(tmp_path / "people.csv"), *asks])
        assert "share every published combination of attributes" in ran.output
        certificate = Release.load(out).certificate
        assert certificate["spec"].get("k") == asked
        if method == "anatomy":
            assert certificate["audit"]["lookup"]["cost"]["k"] == 8
            assert "published without attributes" in ran.output
            assert "8 people share" in (out / "README.txt").read_text(encoding="utf-8")
        else:
            assert certificate["method"]["parameters"]["k"] == 8


def test_a_lookup_of_lines(hospital: pl.DataFrame) -> None:
    table = shoal.Table.from_frame(hospital, SPEC)
    everybody = shoal.Grouping.of_rows(table, table.everybody.signature * 0)
    assert _told(lookup_of(table, everybody)) == _by_rows(hospital, 5)
    assert _told(lookup_of(table, everybody, k=1000)) == (lookup_of(table, everybody).unique, 800)
    assert _told(lookup_of(table, everybody, exact=False)) == (0, 0)
