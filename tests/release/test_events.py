"""Releases whose events were written as people say them: concrete in everything published."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.data.sources import write_table

FRAME = shoal.datasets.hospital(2_000, seed=3)
SPEC = shoal.Spec(qi=["sex", "region"], sensitive="diagnosis", protect=[["Schizo*", "HI?"]], r=3)


def test_a_pattern_is_published_as_its_values_and_verified(tmp_path: Path) -> None:
    release = shoal.anonymize(FRAME, SPEC)
    release.save(tmp_path / "release", private=tmp_path / "private")
    certificate = json.loads((tmp_path / "release" / "certificate.json").read_text())
    (event,) = certificate["events"]
    assert event["label"] == "Schizo*|HI?"
    assert event["values"] == ["HIV", "Schizophrenia"]
    assert certificate["spec"]["protect"] == [{"values": event["values"], "label": event["label"]}]
    assert shoal.verify(tmp_path / "release", table=FRAME).confirmed
    loaded = shoal.Release.load(tmp_path / "release")
    true = FRAME["diagnosis"].is_in(["HIV", "Schizophrenia"]).sum()
    for one in (release, loaded):
        assert one.count({"diagnosis": "Schizo*|HI?"}) == pytest.approx(true)
    plain = shoal.anonymize(FRAME, SPEC.with_(protect=[["HIV", "Schizophrenia"]]))
    assert plain.certificate["rows"] == release.certificate["rows"]


def test_a_certificate_that_names_no_values_is_refuted(tmp_path: Path) -> None:
    shoal.anonymize(FRAME, SPEC).save(tmp_path / "release")
    path = tmp_path / "release" / "certificate.json"
    certificate = json.loads(path.read_text())
    for event in (certificate["events"][0], certificate["spec"]["protect"][0]):
        event["values"] = ["Schizo*", "HI?"]
    path.write_text(json.dumps(certificate))
    found = shoal.verify(tmp_path / "release", table=FRAME)
    assert "events" in [check.name for check in found.checks if not check.passed]


def test_an_audit_knows_the_members_behind_a_pattern(tmp_path: Path) -> None:
    released = FRAME.select("region", "diagnosis", sex=pl.lit("*"))
    found = shoal.audit(FRAME, SPEC, released=released)
    plain = shoal.audit(FRAME, SPEC.with_(protect=[["HIV", "Schizophrenia"]]), released=released)
    assert found.worst_posterior == plain.worst_posterior
    assert found.problematic == plain.problematic


def test_files_leave_no_trace_in_a_release(tmp_path: Path) -> None:
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "serious.txt").write_text("HIV\nSchizo*\n")
    write_table(FRAME, tmp_path / "table.csv")
    spec = SPEC.with_(protect=[f"@{tmp_path / 'hidden' / 'serious.txt'}"])
    release = shoal.anonymize(tmp_path / "table.csv", spec)
    release.save(tmp_path / "release", private=tmp_path / "private")
    for file in (tmp_path / "release").iterdir():
        assert "hidden" not in file.read_text()
    assert release.certificate["events"][0]["label"] == "serious"
    assert shoal.verify(tmp_path / "release", table=FRAME).confirmed
