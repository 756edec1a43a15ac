"""Every verb takes a frame, a path or a Table, a spec, and knowledge; and says what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import Knowledge, Spec, Table
from shoal.data.datasets import hospital
from shoal.data.spec import InputWarning
from shoal.errors import InputError
from shoal.methods.art import Art
from shoal.release.utility import Workload

FRAME = hospital(600, seed=3)
SPEC = Spec(
    qi=("sex", "region"), sensitive="diagnosis", protect=[["HIV", "Schizophrenia"]], r=3
).with_(min_support=30)
LABELS = np.arange(600) // 3
QUERIES = Workload(queries=50, selectivity=0.2)
KINDS = ["polars", "pandas", "arrow", "csv", "parquet", "Path", "Table"]


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Outside knowledge under which one sex has the event twice as often as the other."""
    file = tmp_path_factory.mktemp("known") / "known.csv"
    sexes = FRAME["sex"].unique().sort()
    event = SPEC.protect[0].label if SPEC.protect else ""
    pl.DataFrame(
        {"sex": sexes, "value": [event] * len(sexes), "probability": [0.02, 0.04][: len(sexes)]}
    ).write_csv(file)
    return file


def given_as(kind: str, folder: Path, frame: pl.DataFrame = FRAME) -> Any:
    if kind == "Table":
        return Table.from_frame(frame, SPEC)
    if kind in ("csv", "Path"):
        frame.write_csv(folder / "table.csv")
        return folder / "table.csv" if kind == "Path" else str(folder / "table.csv")
    if kind == "parquet":
        frame.write_parquet(folder / "table.parquet")
        return str(folder / "table.parquet")
    if kind == "pandas":
        pytest.importorskip("pandas")
        return frame.to_pandas()
    return frame.to_arrow() if kind == "arrow" else frame


@pytest.mark.parametrize("kind", KINDS)
def test_every_verb_takes_every_kind(kind: str, tmp_path: Path) -> None:
    data = given_as(kind, tmp_path)
    release = shoal.anonymize(data, SPEC, seed=1)
    assert release.certificate == shoal.anonymize(FRAME, SPEC, seed=1).certificate
    release.save(tmp_path / "release", private=tmp_path / "private")
    assert (tmp_path / "private" / "report.json").is_file()
    assert shoal.verify(tmp_path / "release", data, spec=SPEC).confirmed
    assert shoal.verify(tmp_path / "release", data).recomputed
    assert shoal.plan(data, SPEC).to_dict() == shoal.plan(FRAME, SPEC).to_dict()
    expected = shoal.audit(FRAME, SPEC, groups=LABELS).to_dict()
    assert shoal.audit(data, SPEC, groups=LABELS).to_dict() == expected
    lines = shoal.compare(data, SPEC, methods=["anatomy"], workload=QUERIES).lines
    assert lines[0].measures["robust"] is False


def test_a_table_needs_no_spec_and_takes_its_groups_second() -> None:
    table = Table.from_frame(FRAME, SPEC)
    expected = shoal.audit(FRAME, SPEC, groups=LABELS).to_dict()
    assert shoal.audit(table, LABELS).to_dict() == expected
    assert shoal.audit(table, groups=LABELS).to_dict() == expected
    assert shoal.plan(table).feasible
    assert shoal.anonymize(table).robust


def test_groups_can_be_a_column_of_the_table(tmp_path: Path) -> None:
    frame = FRAME.with_columns(pl.Series("ward", [f"w{label}" for label in LABELS]))
    for kind in ("polars", "csv", "Table"):
        found = shoal.audit(given_as(kind, tmp_path, frame), SPEC, groups="ward")
        assert found.problematic == shoal.audit(FRAME, SPEC, groups=LABELS).problematic
        assert found.worst is not None
        assert found.worst.group.startswith("w")
    with pytest.raises(InputError, match="did you mean"):
        shoal.audit(frame, SPEC, groups="wards")


@pytest.mark.parametrize("kind", ["polars", "pandas", "csv", "Table"])
def test_another_tools_file_is_audited_by_one_call(kind: str, tmp_path: Path) -> None:
    other = FRAME.with_columns(pl.lit("*").alias("region")).drop("age")
    other.write_csv(tmp_path / "other.csv")
    data = given_as(kind, tmp_path)
    found = shoal.audit(data, SPEC, released=tmp_path / "other.csv", key=None)
    assert found.groups == FRAME["sex"].n_unique()
    shuffled = other.sample(fraction=0.5, shuffle=True, seed=1)
    keyed = shoal.audit(data, SPEC, released=shuffled, key="patient", adversary="binary", r=2)
    assert (keyed.published, keyed.adversaries, keyed.r) == (300, ("binary",), 2)
    released = {"theirs": str(tmp_path / "other.csv")}
    lines = shoal.compare(data, SPEC, methods=[], released=released, workload=QUERIES).lines
    assert lines[0].measures["groups"] == found.groups


def test_knowledge_is_a_file_or_an_object_everywhere(known: Path, tmp_path: Path) -> None:
    told = SPEC.with_(knowledge=known)
    table = Table.from_frame(FRAME, SPEC)
    itself = Knowledge.of(table, known)
    for number, knowledge in enumerate((str(known), known, itself)):
        folder = tmp_path / str(number)
        for method in ("art", "anatomy"):
            release = shoal.anonymize(FRAME, SPEC, method=method, knowledge=knowledge, seed=1)
            asked = shoal.anonymize(FRAME, told, method=method, seed=1)
            assert release.certificate["audit"] == asked.certificate["audit"]
            assert release.certificate["groups"] == asked.certificate["groups"]
        release.save(folder)
        assert shoal.verify(folder, FRAME, knowledge=knowledge, spec=SPEC).confirmed
        assert shoal.plan(FRAME, SPEC, knowledge=knowledge) == shoal.plan(FRAME, told)
        found = shoal.audit(FRAME, SPEC, groups=LABELS, knowledge=knowledge)
        assert found.to_dict() == shoal.audit(FRAME, told, groups=LABELS).to_dict()
        methods = shoal.compare(
            FRAME,
            SPEC,
            methods=["art"],
            parameters={"art": {"cell": 3}},
            knowledge=knowledge,
            workload=QUERIES,
        ).to_dict()["methods"]
        assert methods[0]["robust"] is True
        assert methods[0]["worst_posterior"] == pytest.approx(1 / 3)
    released = shoal.audit(FRAME, SPEC, released=FRAME, knowledge=known)
    assert released.knowledge == itself.source


def test_a_file_of_knowledge_leaves_no_folder_name_in_the_release(
    known: Path, tmp_path: Path
) -> None:
    shoal.anonymize(FRAME, SPEC, knowledge=known).save(tmp_path / "release")
    for file in (tmp_path / "release").iterdir():
        assert str(known.parent) not in file.read_text(encoding="utf-8")


def test_a_release_for_another_spec_is_refuted(tmp_path: Path) -> None:
    shoal.anonymize(FRAME, SPEC.with_(identifiers="patient")).save(tmp_path / "release")
    assert shoal.verify(tmp_path / "release", spec=SPEC).confirmed
    found = shoal.verify(tmp_path / "release", spec=SPEC.with_(r=4))
    assert [check.name for check in found.checks if not check.passed] == ["what was asked for"]


def test_values_written_in_two_ways_are_warned_of_by_every_verb() -> None:
    frame = FRAME.with_columns(
        pl.when(pl.int_range(pl.len()) < 40)
        .then(pl.lit("hiv"))
        .otherwise("diagnosis")
        .alias("diagnosis")
    )
    for run in (
        lambda: shoal.plan(frame, SPEC),
        lambda: shoal.audit(frame, SPEC, groups=LABELS),
        lambda: shoal.anonymize(frame, SPEC, method="anatomy"),
        lambda: shoal.compare(frame, SPEC, methods=[], workload=QUERIES),
    ):
        with pytest.warns(InputWarning, match="spaces or case"):
            run()


@pytest.mark.parametrize(
    ("run", "code"),
    [
        (lambda: shoal.anonymize(FRAME), "spec-needed"),
        (lambda: shoal.anonymize(FRAME, "spec.toml"), "spec-needed"),  # type: ignore[arg-type]
        (lambda: shoal.plan(Table.from_frame(FRAME, SPEC), SPEC.with_(r=9)), "spec-other"),
        (lambda: shoal.audit(FRAME, SPEC), "audit-what"),
        (lambda: shoal.audit(FRAME, SPEC, groups=LABELS, released=FRAME), "audit-what"),
        (lambda: shoal.audit(FRAME, LABELS), "spec-needed"),
        (lambda: shoal.audit(FRAME, SPEC, groups=LABELS, key="patient"), "key-alone"),
        (lambda: shoal.audit("nowhere.csv", SPEC, groups=LABELS), "file-missing"),
        (lambda: shoal.audit(forgotten(), released=FRAME), "table-forgotten"),
        (lambda: shoal.audit(forgotten(), groups="sex"), "table-forgotten"),
        (lambda: shoal.plan(FRAME, SPEC, knowledge=elsewhere()), "knowledge-other"),
        (
            lambda: shoal.anonymize(
                FRAME, SPEC, method=Art(knowledge=elsewhere()), knowledge=elsewhere()
            ),
            "knowledge-other",
        ),
    ],
)
def test_what_is_missing_or_contradicts_is_said(run: Any, code: str) -> None:
    with pytest.raises(InputError) as raised:
        run()
    assert raised.value.code == code


def forgotten() -> Table:
    return Table.from_frame(FRAME, SPEC, keep=False)


def elsewhere() -> Knowledge:
    return Knowledge.of(Table.from_frame(FRAME, SPEC.with_(qi=("sex", "age"))))


def test_a_table_of_which_nobody_can_be_published_is_refused() -> None:
    """All who could hide the carriers are of another class."""
    frame = pl.DataFrame({"p": [*"bbaaaa"], "v": [*"xxyyyy"]})
    spec = shoal.Spec(qi=["p"], sensitive="v", protect=["x"], r=3, min_support=1, limit="prior")
    with pytest.raises(InputError, match="Nobody can be published at r = 3") as caught:
        shoal.anonymize(frame, spec, seed=0, max_suppression=1.0)
    assert caught.value.code == "nothing-published"
