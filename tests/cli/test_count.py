"""`shoal count`, and what else works from cells, as a user sees it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.cli.program import shoal_
from tests.engines.kinds import hospital


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    frame, spec = hospital(3_000)
    frame.write_csv(tmp_path / "people.csv")
    (tmp_path / "spec.toml").write_text(spec.to_toml())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_cells_are_counted_and_published(home: Path) -> None:
    done = shoal_("count", "people.csv", "--spec", "spec.toml", "--out", "cells.parquet")
    assert done.returncode == 0
    assert "3,000 rows in" in done.stdout
    assert "as private as the table" in done.stdout
    options = ("--spec", "spec.toml", "--seed", "1")
    assert shoal_("anonymize", "cells.parquet", "--out", "cells", *options).returncode == 0
    assert shoal_("anonymize", "people.csv", "--out", "rows", *options).returncode == 0
    for name in ("qi.csv", "sensitive.csv", "certificate.json"):
        assert (home / "cells" / name).read_bytes() == (home / "rows" / name).read_bytes()
    assert (home / "cells-private" / "cell_groups.parquet").is_file()
    for table in ("cells.parquet", "people.csv"):
        assert (
            shoal_("verify", "cells", "--table", table, "--private", "cells-private").returncode
            == 0
        )
    assert shoal_("plan", "cells.parquet", "--spec", "spec.toml").returncode == 0
    again = shoal_("count", "people.csv", "--spec", "spec.toml", "--out", "cells.parquet")
    assert again.returncode == 2
    assert "exists already" in again.stderr


def test_figures_for_machines(home: Path) -> None:
    command = ("count", "people.csv", "--spec", "spec.toml", "--out", "cells.parquet", "--json")
    told = json.loads(shoal_(*command, "--engine", "duckdb").stdout)
    cells = pl.read_parquet(home / "cells.parquet")
    assert told["rows"] == 3_000 == cells["rows"].sum()
    assert told["cells"] == cells.height


def test_the_private_record_can_be_kept_by_cell(home: Path) -> None:
    options = ("--spec", "spec.toml", "--seed", "1")
    assert (
        shoal_("anonymize", "people.csv", "--out", "a", "--private", "cells", *options).returncode
        == 0
    )
    assert (home / "a-private" / "cell_groups.parquet").is_file()
    assert not (home / "a-private" / "row_groups.parquet").exists()
    named = ("--private", "cells:inside", "--alone")
    assert shoal_("anonymize", "people.csv", "--out", "b", *named, *options).returncode == 0
    assert (home / "inside" / "cell_groups.parquet").is_file()


def test_the_wrong_thing_gets_a_sentence(home: Path) -> None:
    unknown = shoal_(
        "count", "people.csv", "--spec", "spec.toml", "--out", "c.parquet", "--engine", "x"
    )
    assert unknown.returncode == 2
    assert 'no engine "x"' in unknown.stderr
    kind = shoal_("count", "people.csv", "--spec", "spec.toml", "--out", "cells.csv")
    assert kind.returncode == 2
    assert "kept as Parquet" in kind.stderr
    assert not (home / "cells.csv").exists()
