"""The engine seam: one that never brings rows here makes the same release."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.sources import write_parts
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.engines import CountedTable, Dealt, Part, Runs
from shoal.errors import InputError
from shoal.groups import Grouping
from shoal.release.release import Release
from shoal.release.verification.verify import verify
from tests.golden.releases import TABLES


class Elsewhere:
    """Counts a frame as a database would; its rows are never seen."""

    name = "elsewhere"

    def count(self, source: Any, spec: Spec, *, progress: Any = None) -> Table:
        return self.counted(source, spec).table(spec)

    def counted(self, source: Any, spec: Spec, *, progress: Any = None) -> CountedTable:
        columns = [*spec.qi, spec.sensitive]
        return CountedTable.of(source.group_by(columns).len("rows"), columns)

    def deal(self, table: Table, grouping: Grouping, *, seed: int) -> Dealt | None:
        return None

    def parts(self, table: Table, grouping: Grouping, *, seed: int) -> Iterator[Part] | None:
        return None

    def write(self, runs: Runs, path: Path) -> None:
        self.wrote = [*getattr(self, "wrote", []), path.name]
        write_parts(runs.slices(), path)


def made(table: str, method: str, engine: Any = None, **parameters: Any) -> tuple[Any, Release]:
    frame, spec = TABLES[table]()
    release = shoal.anonymize(frame, spec, method=method, engine=engine, seed=7, **parameters)
    return frame, release


@pytest.mark.parametrize("table", list(TABLES))
@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("art", {}),
        ("art", {"form": "generalized"}),
        ("mondrian", {}),
        ("anatomy", {}),
        ("injector", {}),
        ("mask", {}),
        ("t-closeness", {"t": 0.5, "max_suppression": 0.5}),
    ],
)
def test_counts_from_elsewhere_make_the_same_release(
    table: str, method: str, parameters: Any
) -> None:
    _, here = made(table, method, **parameters)
    _, there = made(table, method, Elsewhere(), **parameters)
    assert there.qi.equals(here.qi)
    assert there.sensitive.equals(here.sensitive)
    assert there.members.equals(here.members)
    assert there.certificate == here.certificate
    assert there.row_groups is None


@pytest.mark.parametrize("method", ["anatomy", "injector", "mask"])
def test_methods_that_draw_people_need_no_rows(method: str, tmp_path: Path) -> None:
    frame, release = made("hospital", method, Elsewhere())
    release.save(tmp_path / "release")
    checked = verify(tmp_path / "release", table=frame) if method != "mask" else None
    assert checked is None or checked.confirmed
    assert release.certificate["rows"]["published"] + release.certificate["rows"][
        "suppressed"
    ] == len(frame)


def test_the_engine_writes_the_tables(tmp_path: Path) -> None:
    engine = Elsewhere()
    _, release = made("hospital", "art", engine)
    release.save(tmp_path / "release")
    assert engine.wrote == ["qi.csv", "sensitive.csv"]
    with pytest.raises(InputError, match="rows are not here"):
        release.save(tmp_path / "other", private=tmp_path / "private", record="rows")
    release.save(tmp_path / "other", private=tmp_path / "private")
    assert not (tmp_path / "private" / "row_groups.parquet").exists()


def test_members_of_the_suppressed_are_drawn() -> None:
    """Six of one cell, two of them suppressed: what is left adds up, and chance decides."""
    frame = pl.DataFrame({"q": ["a"] * 12, "v": ["x"] * 3 + ["y"] * 3 + ["z"] * 6})
    spec = Spec(qi=["q"], sensitive="v", protect=[["x", "y"]], r=2)
    table = Elsewhere().count(frame, spec)
    from shoal.release.tables import build_tables

    lines = np.zeros(2, np.int32), np.zeros(2, np.int32), np.array([0, 1], np.int32)
    grouping = Grouping.of_lines(table, *lines, np.array([4, 6]))
    drawn = {
        tuple(build_tables(table, grouping, seed=seed)[2]["count"].to_list()) for seed in range(40)
    }
    assert drawn == {(1, 3), (2, 2), (3, 1)}


def test_rows_that_are_elsewhere_cannot_be_named() -> None:
    frame, spec = TABLES["hospital"]()
    table = Elsewhere().count(frame, spec)
    assert table.rows == len(frame)
    with pytest.raises(InputError, match="rows are not here"):
        table.row_signature  # noqa: B018


@pytest.mark.parametrize(
    ("cells", "code"),
    [
        ({"q": ["a", "b"], "v": ["x", "y"]}, "cells-rows"),
        ({"q": ["a", "b"], "v": ["x", "y"], "rows": [1.5, 2.0]}, "cells-rows"),
        ({"q": ["a", "b"], "v": ["x", "y"], "rows": [0, 4]}, "cells-rows"),
        ({"q": ["a"], "v": ["x"], "rows": [1]}, "table-empty"),
    ],
)
def test_what_is_no_count_of_cells_is_refused(cells: dict[str, list[Any]], code: str) -> None:
    with pytest.raises(InputError) as raised:
        Table.from_cells(pl.DataFrame(cells), Spec(qi=["q"], sensitive="v", protect=["x"], r=2))
    assert raised.value.code == code
