"""Releases of the hospital together, by any tool, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.api.releases import shown_together
from shoal.auditing.releases import Shown, judge_releases
from shoal.data.datasets import HOSPITAL_EVENT, HOSPITAL_QI, HOSPITAL_SENSITIVE, hospital
from tests.cli.program import refused, shoal_

ROWS = 3000


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return hospital(ROWS, 4)


@pytest.fixture(scope="module")
def spec() -> shoal.Spec:
    return shoal.Spec(
        qi=HOSPITAL_QI[:3], sensitive=HOSPITAL_SENSITIVE, protect=[HOSPITAL_EVENT], r=3
    )


@pytest.fixture(scope="module")
def twice(
    frame: pl.DataFrame, spec: shoal.Spec, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """Two releases of the same table, each made with chance of its own."""
    folder = tmp_path_factory.mktemp("twice")
    frame.write_csv(folder / "table.csv")
    for seed in (1, 2):
        made = shoal.anonymize(frame, spec, seed=seed)
        assert made.robust
        made.save(
            folder / f"release-{seed}", private=folder / f"release-{seed}-private", alone=True
        )
    return folder / "release-1", folder / "release-2"


def test_two_fresh_releases_make_most_cases_certain(
    frame: pl.DataFrame, spec: shoal.Spec, twice: tuple[Path, Path]
) -> None:
    found = shoal.audit_releases(frame, twice)
    table = shoal.Table.from_frame(frame, spec)
    assert found.robust is False
    assert found.certain > table.carriers / 2
    assert (table.row_event[found.sure] >= 0).all(), "whoever is certain is so rightly"
    assert found.certain == int(found.sure.sum()) <= found.above == int((found.state == 2).sum())


def test_the_same_release_twice_tells_what_it_tells_once(
    frame: pl.DataFrame, twice: tuple[Path, Path]
) -> None:
    found = shoal.audit_releases(frame, [twice[0], twice[0]])
    assert found.robust is True
    assert found.groups_exact == found.groups_bounded == 0
    assert found.people == ROWS


def test_what_was_told_before_is_not_held_against_a_release_that_adds_nothing(
    frame: pl.DataFrame, twice: tuple[Path, Path]
) -> None:
    again = [*twice, twice[0]]
    whole = shoal.audit_releases(frame, again)
    found = shoal.audit_releases(frame, again, earlier=2)
    assert (found.robust, found.above, found.certain) == (True, 0, 0)
    assert found.told == whole.above + whole.undecided > 0
    assert found.told_certain == whole.certain > 0
    assert shoal.audit_releases(frame, twice, earlier=1).robust is False


def test_what_people_count_as_is_read_where_no_ledger_tells_it(
    frame: pl.DataFrame, spec: shoal.Spec, twice: tuple[Path, Path]
) -> None:
    table, both = shown_together(frame, twice)
    for folder, one in zip(twice, both, strict=True):
        made = shoal.Release.load(folder)
        assert made.weight is not None
        assert one.weight is not None
        published = made.qi[made.weight].drop_nulls().to_numpy()
        assert np.allclose(np.sort(one.weight[~np.isnan(one.weight)]), np.sort(published))
    alone = judge_releases(table, both)
    heavy = both[0]._replace(weight=np.where(np.isnan(both[0].weight), np.nan, 1.0))
    found = judge_releases(table, [heavy, both[1]])
    assert found.certain > alone.certain


def test_files_of_other_tools_meet(frame: pl.DataFrame, spec: shoal.Spec) -> None:
    tens = frame.with_columns(age=pl.col("age") // 10, region=pl.lit("all"))
    places = frame.select("patient", "region", HOSPITAL_SENSITIVE).sample(fraction=1, shuffle=True)
    found = shoal.audit_releases(frame, [tens, places], spec, key="patient")
    assert found.groups_bounded > 0
    alone = shoal.audit_releases(frame, [tens, tens], spec, key="patient")
    assert alone.groups_bounded == 0
    # Bounds never say less than what one of the releases says alone.
    assert (found.state[alone.state == 2] > 0).all()


def test_part_of_the_people_again(frame: pl.DataFrame, spec: shoal.Spec) -> None:
    table = shoal.Table.from_frame(frame, spec)
    first = np.arange(ROWS, dtype=np.int32) // 6
    half = np.where(np.arange(ROWS) < ROWS // 2, first, -1).astype(np.int32)
    both = [Shown(table, one, table.row_value) for one in (half, first)]
    assert judge_releases(table, both).groups_alone == ROWS // 6
    moved = np.roll(first, 3)
    few = np.where((np.arange(ROWS) // 3) % 4 == 1, moved, -1)
    few[few >= 0] = np.unique(few[few >= 0], return_inverse=True)[1]
    few = few.astype(np.int32)
    small = [Shown(table, half, table.row_value), Shown(table, few, table.row_value)]
    assert judge_releases(table, small).groups_exact > 0


def test_the_command_line(twice: tuple[Path, Path]) -> None:
    table = twice[0].with_name("table.csv")
    both = ["--releases", twice[0], "--releases", twice[1]]
    done = shoal_("audit", table, *both)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("NOT ROBUST: ")
    assert "Certain to have a protected value" in done.stdout
    refused(shoal_("audit", table, *both, "--models"), "releases-option")
    refused(shoal_("audit", table, *both[:2]), "releases-few")


def test_refusals(frame: pl.DataFrame, spec: shoal.Spec, twice: tuple[Path, Path]) -> None:
    with pytest.raises(shoal.InputError, match="judge: joint, binary"):
        shoal.audit_releases(frame, twice, adversary="all-views")
    with pytest.raises(shoal.InputError, match="none of the QI columns"):
        shoal.audit_releases(frame, [frame, frame.select("diagnosis", "patient")], spec)
    other = spec.with_(sensitive="sex", qi=["age", "region"], protect=None)
    with pytest.raises(shoal.InputError, match="of other values"):
        shoal.audit_releases(frame, twice, other)
    protect = [f"sex={frame['sex'][0]}", "diagnosis=HIV"]
    several = shoal.Spec(qi=["age"], sensitive=["sex", "diagnosis"], protect=protect, r=2)
    with pytest.raises(shoal.InputError, match="there are 2"):
        shoal.audit_releases(frame, [frame, frame], several)
