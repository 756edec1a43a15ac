"""Several sensitive columns that are permuted apart: who can still cross them, and the claim."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.datasets import ILLNESSES_QI, illnesses
from shoal.data.spec import OTHER, Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups import Grouping
from shoal.release import GID, Release
from shoal.release.tables import build_tables, canonical, permuted
from tests.forging import mend
from tests.release.test_recipient import check_readme

NAMES = ("asthma", "diabetes", "heart")
SPEC = Spec(
    qi=ILLNESSES_QI,
    sensitive=NAMES,
    protect=[f"{name}=Yes" for name in NAMES],
    r=3,
    publish_apart=True,
)
FRAME = illnesses(4_000, seed=2)


@pytest.fixture(scope="module", params=["bucketized", "generalized"])
def release(request: pytest.FixtureRequest) -> Release:
    return shoal.anonymize(FRAME, SPEC, seed=0, form=request.param)


@pytest.fixture
def folder(release: Release, tmp_path: Path) -> Path:
    release.save(tmp_path / "out", private=tmp_path / "out-private")
    return tmp_path / "out"


def groups(release: Release, column: str) -> Counter[Any]:
    """Every group: its people, and what it shows of one column."""
    held: dict[int, list[Any]] = {}
    for gid, *person in release.qi.iter_rows():
        held.setdefault(gid, [[], []])[0].append(tuple(person))
    for line in release.sensitive.iter_rows(named=True):
        held[line[GID]][1] += [line[column]] * line["count"]
    return Counter((tuple(sorted(people)), tuple(sorted(shown))) for people, shown in held.values())


def test_groups_show_the_same_of_each_column_and_nothing_of_two() -> None:
    apart = shoal.anonymize(FRAME, SPEC, seed=0)
    whole = shoal.anonymize(FRAME, SPEC.with_(publish_apart=False), seed=0)
    for name in NAMES:
        assert groups(apart, name) == groups(whole, name)
    pairs = {
        name: one.sensitive.filter((pl.col("asthma") == "Yes") & (pl.col("diabetes") == "Yes"))
        for name, one in (("apart", apart), ("whole", whole))
    }
    both = FRAME.filter(pl.col("asthma") == "Yes", pl.col("diabetes") == "Yes").height
    assert pairs["whole"]["count"].sum() == both
    assert not pairs["apart"].equals(pairs["whole"])


def test_how_values_were_paired_does_not_show() -> None:
    """Two tables that differ in who has two illnesses at once are published alike, with one seed:
    order, numbers and pairs are those of each column's values alone."""
    random = np.random.default_rng(4)
    rows, size = 240, 8
    group = np.repeat(np.arange(rows // size), size)
    ill = [np.where(random.random(rows) < 0.2, "Yes", "No") for _ in NAMES]
    qi = {name: random.choice(["a", "b", "c"], rows) for name in ("x", "y")}
    order = np.lexsort((random.random(rows), group))
    tables = []
    for second in (ill[1], ill[1][order]):
        frame = pl.DataFrame({**qi, **dict(zip(NAMES, (ill[0], second, ill[2]), strict=True))})
        spec = SPEC.with_(qi=("x", "y"))
        table = Table.from_frame(frame, spec)
        grouping = canonical(table, Grouping.of_rows(table, group.astype(np.int32)))
        tables.append(build_tables(table, grouping, seed=5)[:2])
    for one, other in zip(*tables, strict=True):
        assert one.frame().equals(other.frame())


def test_pairs_are_drawn_evenly() -> None:
    """Two who are ill in either column, of ten: both at once in one draw of ten each."""
    held = pl.DataFrame({GID: [1] * 3, "a": ["y", "n", "n"], "b": ["n", "y", "n"], "count": 1})
    held = held.with_columns(count=pl.Series([1, 1, 8]))
    ill = (pl.col("a") == "y") & (pl.col("b") == "y")
    both = sum(permuted(held, ["a", "b"], seed).filter(ill).height for seed in range(2_000))
    assert both == pytest.approx(200, abs=60)


def test_it_is_judged_column_by_column(release: Release) -> None:
    """Against each column as a release of its own."""
    assert release.robust
    names = [one["name"] for one in release.certificate["audit"]["adversaries"]]
    assert names == ["joint", "binary"]
    assert release.row_groups is not None
    for name in NAMES:
        alone = shoal.audit(FRAME, SPEC.alone(name), groups=release.row_groups)
        (mine,) = (e for e in release.certificate["events"] if e["columns"] == [name])
        # Groups that hide what is no event tell no more than groups that show it.
        assert mine["worst_posterior"] <= alone.worst_posterior + 1e-9
        assert alone.worst_posterior == pytest.approx(mine["worst_posterior"], abs=0.05)


def test_it_is_verified(folder: Path) -> None:
    assert shoal.verify(folder).confirmed
    found = shoal.verify(folder, table=FRAME, private=folder.with_name("out-private"))
    assert found.confirmed
    assert found.recomputed
    report = shoal.audit(FRAME, released=folder)
    assert report.robust


def edited(folder: Path, lines: pl.DataFrame) -> None:
    """Other values, under a certificate that has their hash."""
    lines.write_csv(folder / "sensitive.csv")
    mend(folder)


@pytest.mark.parametrize("private", [False, True])
def test_a_value_moved_in_one_column_is_refused(folder: Path, *, private: bool) -> None:
    lines = pl.read_csv(folder / "sensitive.csv", infer_schema=False).with_row_index()
    shown = lines.filter(pl.col("heart") != OTHER)
    ill = shown.filter(pl.col("heart") == "Yes")["index"][0]
    well = shown.filter(pl.col("heart") == "No", pl.col("count") == "1")["index"][-1]
    other = pl.when(pl.col("index") == ill).then(pl.lit("No"))
    other = other.when(pl.col("index") == well).then(pl.lit("Yes"))
    edited(folder, lines.with_columns(other.otherwise("heart").alias("heart")).drop("index"))
    inside = folder.with_name("out-private") if private else None
    if Release.load(folder).form == "generalized":
        inside = folder.with_name("out-private")
    assert not shoal.verify(folder, table=FRAME, private=inside).confirmed


def test_a_certificate_that_claims_more_is_refused(folder: Path) -> None:
    certificate = json.loads((folder / "certificate.json").read_text("utf-8"))
    adversaries = certificate["audit"]["adversaries"]
    adversaries.append({**adversaries[0], "name": "together"})
    (folder / "certificate.json").write_text(json.dumps(certificate), "utf-8")
    mend(folder)
    wrong = [check.detail for check in shoal.verify(folder).checks if not check.passed]
    assert wrong == ["columns that are published apart are judged together"]


def test_a_strange_value_is_named(folder: Path) -> None:
    lines = pl.read_csv(folder / "sensitive.csv", infer_schema=False)
    edited(folder, lines.with_columns(asthma=pl.col("asthma").str.replace("No", "Never")))
    inside = folder.with_name("out-private")
    wrong = [one for one in shoal.verify(folder, table=FRAME, private=inside).checks if one.detail]
    assert [one.name for one in wrong if not one.passed] == ["private folder", "people"]
    assert '"Never | ' in wrong[-1].detail


def test_the_recipient_is_told(
    release: Release, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = " ".join((folder / "README.txt").read_text("utf-8").split())
    assert "each of asthma and diabetes and heart is permuted by itself" in page
    assert "Nothing is claimed against somebody who knows how often" in page
    package = json.loads((folder / "datapackage.json").read_text("utf-8"))
    fields = {field["name"]: field for field in package["resources"][1]["schema"]["fields"]}
    assert fields["heart"]["description"] == "permuted by itself within each group"
    monkeypatch.chdir(folder)
    check_readme(release, folder)


def test_nothing_is_crossed_by_mistake(release: Release) -> None:
    with pytest.raises(InputError, match='"asthma" and "heart" were permuted apart') as found:
        release.count({"asthma": "Yes", "heart": "Yes"})
    assert found.value.code == "count-apart"
    with pytest.raises(InputError, match="were permuted apart") as found:
        release.table()
    assert found.value.code == "table-apart"
    alone = release.alone("asthma")
    assert alone.table()["weight"].sum() == pytest.approx(release.qi.height)
    assert alone.count({"asthma": "Yes"}) == pytest.approx(release.count({"asthma": "Yes"}))


def test_what_cannot_be_apart_is_refused() -> None:
    with pytest.raises(InputError, match='"asthma" is the only one') as found:
        Spec(qi=["age"], sensitive="asthma", r=3, publish_apart=True)
    assert found.value.code == "apart"
    with pytest.raises(InputError, match="is one of several columns") as found:
        SPEC.with_(protect=["asthma,diabetes=Yes", "heart=Yes"])
    assert found.value.code == "apart"
    with pytest.raises(InputError, match="show no combinations") as found:
        shoal.anonymize(FRAME, SPEC, adversary="together")
    assert found.value.code == "adversary-apart"
    with pytest.raises(InputError, match="publish_apart is 'yes'"):
        SPEC.with_(publish_apart="yes")
