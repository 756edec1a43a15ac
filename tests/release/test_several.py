"""Releases of several sensitive columns: written, read, counted in, verified, forged."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.data.datasets import ILLNESSES_QI, illnesses
from shoal.data.spec import OTHER, Spec
from shoal.data.table import Table
from shoal.knowledge import Knowledge
from shoal.release import Release
from shoal.release.facts import loss
from shoal.release.utility import Workload
from shoal.release.utility.sql import sql_for_count
from shoal.release.utility.summary import errors_of
from tests.forging import mend

duckdb = pytest.importorskip("duckdb")

NAMES = ("asthma", "diabetes", "heart")
SPEC = Spec(qi=ILLNESSES_QI, sensitive=NAMES, protect=[f"{name}=Yes" for name in NAMES], r=3)
FRAME = illnesses(4_000, seed=2)


@pytest.fixture(scope="module")
def release() -> Release:
    return shoal.anonymize(FRAME, SPEC, seed=0)


@pytest.fixture
def folder(release: Release, tmp_path: Path) -> Path:
    release.save(tmp_path / "out", private=tmp_path / "inside")
    return tmp_path / "out"


def test_what_is_saved_is_read_and_verified(release: Release, folder: Path) -> None:
    loaded = Release.load(folder)
    assert loaded.sensitive.columns == ["gid", *NAMES, "count"]
    texts = pl.col(NAMES).cast(pl.String)
    assert loaded.sensitive.with_columns(texts).equals(release.sensitive.with_columns(texts))
    assert shoal.verify(folder).confirmed
    assert shoal.verify(folder, table=FRAME).confirmed
    found = shoal.verify(folder, table=FRAME, private=folder.with_name("inside"))
    assert found.confirmed
    assert found.adversaries == ("joint", "binary", "together")


def test_a_record_by_cells_is_read_where_masks_and_combinations_look_alike(tmp_path: Path) -> None:
    names = NAMES[:2]
    spec = SPEC.with_(sensitive=names, protect=[f"{names[0]}=Yes", f"{names[1]}=No"], r=1.1)
    release = shoal.anonymize(FRAME, spec.with_(limit="prior"), seed=0, max_suppression=1)
    release.save(tmp_path / "out", private=tmp_path / "inside", record="cells")
    found = shoal.verify(tmp_path / "out", table=FRAME, private=tmp_path / "inside")
    assert found.confirmed, [check for check in found.checks if not check.passed]


@pytest.mark.parametrize(
    "where",
    [
        {"asthma": "Yes"},
        {"asthma": "Yes", "sex": "Female"},
        {"asthma": "Yes", "diabetes": "Yes"},
        {"asthma": "No", "diabetes": "Yes", "heart": "No", "smoker": "No"},
    ],
)
def test_columns_can_be_crossed_in_python_and_in_sql(
    where: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = Release.load(folder)
    estimate = loaded.count(where)
    monkeypatch.chdir(folder)
    assert duckdb.sql(sql_for_count(loaded, where)).fetchall()[0][0] == pytest.approx(estimate)
    chosen = pl.all_horizontal(pl.col(name) == value for name, value in where.items())
    assert estimate == pytest.approx(FRAME.filter(chosen).height, rel=0.2, abs=3)


def test_one_column_of_a_release_is_a_release(release: Release) -> None:
    alone = release.alone("diabetes")
    assert alone.spec == release.spec.alone("diabetes")
    assert alone.sensitive.columns == ["gid", "diabetes", "count"]
    assert alone.count({"diabetes": "Yes"}) == release.count({"diabetes": "Yes"})
    assert alone.alone("diabetes") is alone


def test_the_loss_is_measured_column_by_column(release: Release) -> None:
    assert {one.name for one in loss.released(release.made.table, release)} == {
        *ILLNESSES_QI,
        *NAMES,
    }
    _, _, errors = errors_of(release.made.table, release, Workload())
    assert errors.classes
    assert all(one.event.startswith(NAMES) for one in errors.classes)


def test_a_weighted_table_has_all_columns(release: Release) -> None:
    table = release.table()
    assert set(NAMES) < set(table.columns)
    assert table["weight"].sum() == pytest.approx(FRAME.height)


def test_the_report_speaks_of_every_column(folder: Path, tmp_path: Path) -> None:
    from shoal.release.facts import load_facts
    from shoal.report.page import render

    page = render(load_facts(folder.with_name("inside")))
    for name in NAMES:
        assert f"{name}: Yes" in page
    assert "asthma and diabetes and heart" in page


Forgery = Callable[[pl.DataFrame], pl.DataFrame]


def swapped(lines: pl.DataFrame) -> pl.DataFrame:
    """Moves an event of a pooled group to another column."""
    at = lines.with_row_index().filter((pl.col("asthma") == "Yes") & (pl.col("diabetes") == OTHER))[
        "index"
    ][0]
    here = pl.int_range(pl.len()) == at
    return lines.with_columns(
        pl.when(here).then(pl.lit(OTHER)).otherwise("asthma").alias("asthma"),
        pl.when(here).then(pl.lit("Yes")).otherwise("diabetes").alias("diabetes"),
    )


def companion(lines: pl.DataFrame) -> pl.DataFrame:
    """Gives a carrier of a whole combination another illness."""
    at = lines.with_row_index().filter(
        (pl.col("asthma") == "Yes") & (pl.col("diabetes") == "No") & (pl.col("heart") == "No")
    )["index"][0]
    here = pl.int_range(pl.len()) == at
    return lines.with_columns(pl.when(here).then(pl.lit("Yes")).otherwise("heart").alias("heart"))


def moved(lines: pl.DataFrame) -> pl.DataFrame:
    """Exchanges two people's asthma between groups."""
    whole = lines.with_row_index().filter(pl.col("diabetes") == "No", pl.col("heart") == "No")
    ill = whole.filter(pl.col("asthma") == "Yes")["index"][0]
    well = whole.filter(pl.col("asthma") == "No")["index"][0]
    at = pl.int_range(pl.len())
    other = pl.when(at == ill).then(pl.lit("No")).when(at == well).then(pl.lit("Yes"))
    return lines.with_columns(other.otherwise("asthma").alias("asthma"))


def unmasked(lines: pl.DataFrame) -> pl.DataFrame:
    """Names what a pooled group hides."""
    return lines.with_columns(
        pl.when(pl.col(name) == OTHER).then(pl.lit("No")).otherwise(name).alias(name)
        for name in NAMES
    )


@pytest.mark.parametrize("forge", [swapped, companion, moved, unmasked])
def test_forged_values_are_refused(forge: Forgery, folder: Path) -> None:
    lines = pl.read_csv(folder / "sensitive.csv", infer_schema=False)
    forged = forge(lines)
    assert not forged.equals(lines)
    forged.write_csv(folder / "sensitive.csv")
    mend(folder)
    assert not shoal.verify(folder, table=FRAME).confirmed
    inside = folder.with_name("inside")
    assert not shoal.verify(folder, table=FRAME, private=inside).confirmed


def test_a_pooled_group_that_names_something_else_is_refused_without_the_table(
    folder: Path,
) -> None:
    lines = pl.read_csv(folder / "sensitive.csv", infer_schema=False)
    here = (pl.col("asthma") == "Yes") & (pl.col("diabetes") == OTHER)
    named = pl.when(here).then(pl.lit("No")).otherwise("diabetes").alias("diabetes")
    lines.with_columns(named).write_csv(folder / "sensitive.csv")
    mend(folder)
    wrong = [check.name for check in shoal.verify(folder).checks if not check.passed]
    assert wrong == ["pooled values"]


def test_several_columns_that_nobody_read_together_are_refused(folder: Path) -> None:
    certificate = json.loads((folder / "certificate.json").read_text("utf-8"))
    audit = certificate["audit"]
    audit["adversaries"] = [one for one in audit["adversaries"] if one["name"] != "together"]
    (folder / "certificate.json").write_text(json.dumps(certificate), "utf-8")
    (wrong,) = [check for check in shoal.verify(folder).checks if not check.passed]
    assert wrong.detail == "several columns are judged one by one, and not together"


def test_other_tools_are_judged_on_several_columns() -> None:
    banded = FRAME.with_columns(pl.col("age").str.slice(0, 1))
    found = shoal.audit(FRAME, SPEC, released=banded)
    assert set(found.by_adversary) == {"joint", "binary", "together"}
    changed = banded.with_columns(asthma=pl.lit("No"))
    with pytest.raises(shoal.InputError) as raised:
        shoal.audit(FRAME, SPEC, released=changed)
    differing = (FRAME["asthma"] == "Yes").sum()
    assert str(raised.value) == (
        f'{differing:,} rows have another "asthma" in the release, and with several sensitive '
        "columns their values must be the table's own. Align the rows with --key COLUMN, or judge "
        "one sensitive column at a time."
    )


def handed_over() -> Knowledge:
    """What somebody else may know of the same people."""
    own = Knowledge.of(Table.from_frame(FRAME, SPEC))
    views = [replace(view, distributions=view.distributions[:, ::-1]) for view in own.views]
    return Knowledge(tuple(views), "handed over")


def test_what_knows_one_column_says_so(release: Release) -> None:
    for ask, message in (
        (
            lambda: shoal.attack(release),
            "Attackers read one sensitive column, and there are 3. Name one: --column asthma, or "
            "column='asthma'.",
        ),
        (
            lambda: shoal.compare(FRAME, SPEC),
            "Methods are compared on one sensitive column, and there are 3. Compare them on a spec "
            "with one of them.",
        ),
        (
            lambda: shoal.audit(FRAME, SPEC, groups=[0] * FRAME.height, knowledge=handed_over()),
            "Knowledge of your own speaks of one sensitive column, and there are 3. Leave it out, "
            "or judge a spec with one of them.",
        ),
        (
            lambda: shoal.anonymize(FRAME, SPEC, model="kernel"),
            "A model speaks of one sensitive column, and there are 3. Leave it out, or judge a "
            "spec with one of them.",
        ),
    ):
        with pytest.raises(shoal.InputError) as raised:
            ask()  # type: ignore[no-untyped-call]
        assert str(raised.value) == message
    found = shoal.attack(release, column="asthma", attackers=["likeliest"])
    assert found["likeliest"].everybody.tries > 0
    with pytest.raises(shoal.InputError, match='"asthm" is no sensitive column'):
        shoal.attack(release, column="asthm")


def test_plan_speaks_of_every_event(release: Release) -> None:
    found = shoal.plan(FRAME, SPEC)
    assert [event.label for event in found.events] == [f"{name}: Yes" for name in NAMES]
    low = shoal.plan(FRAME, replace(SPEC, r=60.0))
    assert not low.feasible
