"""Releases of recoded columns: published as such, verified, undone nowhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.cli.report import EDITIONS, render_reports
from shoal.data.table import Table
from shoal.release.facts import release_facts
from tests.forging import mend

FRAME = shoal.datasets.hospital(3_000, seed=3)
SPEC = shoal.Spec(
    qi=["age", "sex", "region"],
    sensitive="diagnosis",
    protect=[["HIV", "Schizophrenia"]],
    r=3,
    recode={"age": {"bands": 20}, "diagnosis": {"rare": 25}, "region": {"rare": 200}},
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recoded")
    shoal.anonymize(FRAME, SPEC).save(path / "release", private=path / "private")
    return path


def test_it_is_said_wherever_a_release_speaks(folder: Path) -> None:
    release = folder / "release"
    certificate = json.loads((release / "certificate.json").read_text())
    words = "numbers in bands of 20"
    assert certificate["recoded"]["age"] == words
    assert certificate["spec"]["recode"]["age"] == {"bands": 20}
    assert f"age: {words};" in " ".join((release / "README.txt").read_text().split())
    package = json.loads((release / "datapackage.json").read_text())
    fields = {one["name"]: one for one in package["resources"][0]["schema"]["fields"]}
    assert fields["age"]["description"] == f"recoded before publication: {words}"
    assert "description" not in fields["sex"]
    loaded = shoal.Release.load(release)
    assert set(loaded.qi["age"].unique()) <= {f"{low}-{low + 19}" for low in range(0, 120, 20)}
    assert loaded.spec.recode == SPEC.recode


def test_the_report_says_it_in_both_editions(tmp_path: Path) -> None:
    table = Table.from_frame(FRAME, SPEC)
    facts = release_facts(shoal.anonymize(table), table)
    pages = render_reports(facts, {name: tmp_path / name for name in EDITIONS})
    for page in pages.values():
        assert "What was recoded beforehand" in str(page)


def test_verify_recodes_the_table_again(folder: Path) -> None:
    found = shoal.verify(folder / "release", FRAME, spec=SPEC, private=folder / "private")
    assert found.confirmed, found.checks


@pytest.mark.parametrize("both", [False, True])
def test_an_edited_entry_is_refused(folder: Path, tmp_path: Path, both: bool) -> None:
    edited = tmp_path / "edited"
    edited.mkdir()
    for file in (folder / "release").iterdir():
        (edited / file.name).write_bytes(file.read_bytes())
    certificate = json.loads((edited / "certificate.json").read_text())
    certificate["recoded"]["age"] = "numbers in bands of 10"
    if both:
        certificate["spec"]["recode"]["age"] = {"bands": 10.0}
    (edited / "certificate.json").write_text(json.dumps(certificate))
    mend(edited)
    assert shoal.verify(edited).confirmed is both  # without the table they agree
    assert not shoal.verify(edited, FRAME).confirmed


def test_without_a_recoding_nothing_is_said() -> None:
    release = shoal.anonymize(FRAME, SPEC.with_(recode=()))
    assert "recoded" not in release.certificate
    assert "recode" not in release.certificate["spec"]


def test_originals_are_in_no_published_file(tmp_path: Path) -> None:
    """Numbers that mean themselves: a mark on every original value, looked for in every byte."""
    frame = FRAME.with_columns(
        age=pl.col("age").cast(pl.Float64) + 0.8317,
        region=pl.format("{}-Ursprung", "region"),
        diagnosis=pl.when(pl.col("diagnosis") == "HIV")
        .then(pl.lit("HIV"))
        .otherwise(pl.format("{}-Ursprung", "diagnosis")),
    )
    tree = tmp_path / "secret-folder"
    tree.mkdir()
    names = sorted(frame["region"].unique())
    (tree / "tree.csv").write_text("".join(f"{name},{name[0]},*\n" for name in names))
    values = sorted(frame["diagnosis"].unique())
    lines = [f"{one},{'HIV' if one == 'HIV' else 'other'},*\n" for one in values]
    (tree / "ill.csv").write_text("".join(lines))
    spec = SPEC.with_(
        protect=["HIV"],
        recode={
            "age": {"bands": 20},
            "region": {"hierarchy": str(tree / "tree.csv")},
            "diagnosis": {"hierarchy": str(tree / "ill.csv")},
        },
    )
    table = Table.from_frame(frame, spec)
    release = shoal.anonymize(table)
    facts: Any = release_facts(release, table)
    pages = render_reports(facts, {"public_report": tmp_path / "public.html"})
    release.save(tmp_path / "release")
    published = [file.read_text() for file in (tmp_path / "release").iterdir()]
    for text in [*published, *(str(page) for page in pages.values())]:
        for mark in ("8317", "Ursprung", "secret-folder"):
            assert mark not in text
    files = {"region": tree / "tree.csv", "diagnosis": tree / "ill.csv"}
    assert shoal.verify(tmp_path / "release", frame, hierarchies=files).confirmed
    assert shoal.verify(tmp_path / "release", frame, spec=spec, hierarchies=files).confirmed
    with pytest.raises(shoal.InputError, match=r'"tree.csv" could not be read'):
        shoal.verify(tmp_path / "release", frame)


@pytest.mark.parametrize("method", ["mondrian", "anatomy"])
def test_other_methods_take_recoded_columns(method: str, tmp_path: Path) -> None:
    shoal.anonymize(FRAME, SPEC, method=method).save(tmp_path / "r", private=tmp_path / "p")
    assert shoal.verify(tmp_path / "r", FRAME, private=tmp_path / "p").confirmed
