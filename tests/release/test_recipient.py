"""What a recipient makes of a release: files read with nothing but the data package, README.txt's
queries, and the weighted table."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import frictionless
import numpy as np
import pandas as pd
import polars as pl
import pytest

import shoal
from shoal.data.spec import Event, InputWarning, Spec
from shoal.data.table import Table
from shoal.groups import Grouping, Progress, silent
from shoal.release import Release
from shoal.wording import pooled_words
from tests.docs.blocks import blocks
from tests.golden.releases import METHODS, TABLES

duckdb = pytest.importorskip("duckdb")

TEXTS = [
    "=1+1",
    "'=1",
    "''=1",
    "＝x",
    " @y",
    "\tq",
    "\rq",
    "-A",
    "-9",
    "'-9",
    "- 9",
    "+49 30",
    "Yes",
    "No",
]
TEXTS += [
    "NA",
    "null",
    "NaN",
    "01",
    "1",
    "1e5",
    "true",
    "(other)",
    "it's",
    'say "so"',
    "a,b",
    "a\nb",
    "ü\u2028日",
    None,
]
VALUES = ["-7", "=cmd", "Yes", "No", "'s-Hertogenbosch", 'a "b"\nc', "(missing", "+", "NULL"]
QI, NUMBER, BORN, SENSITIVE = '=of "it', "-9", "born", "@ill, or\nnot"


def hostile() -> pl.DataFrame:
    rows, random = 30 * len(TEXTS), np.random.default_rng(5)
    filler = [VALUES[int(place)] for place in random.integers(1, len(VALUES), rows)]
    return pl.DataFrame(
        {
            QI: TEXTS * 30,
            NUMBER: [
                None if row % 17 == 0 else [-9, -9.5e3, 0.1, 7][row % 4] for row in range(rows)
            ],
            BORN: [None if row % 23 == 0 else date(1990, 1, 1 + row % 3) for row in range(rows)],
            "whole": [None if row % 29 == 0 else row % 3 - 9 for row in range(rows)],
            SENSITIVE: [
                VALUES[0] if row % 13 == 0 else None if row % 31 == 0 else filler[row]
                for row in range(rows)
            ],
        }
    )


SPEC = Spec(
    qi=(QI, NUMBER, BORN, "whole"),
    sensitive=SENSITIVE,
    protect=(Event(("-7",)),),
    r=2,
    min_support=50,
)


@dataclass(frozen=True)
class Pooling:
    """A method whose groups of five are published pooled, every second of them."""

    name: str = "pooling"

    def anonymize(self, table: Table, *, seed: int = 0, progress: Progress = silent) -> Grouping:
        groups = np.arange(table.rows, dtype=np.int32) // 5
        return Grouping.of_rows(table, groups, pooled=np.arange(groups[-1] + 1) % 2 == 0)


CASES: dict[str, dict[str, Any]] = {
    "art": {"max_suppression": 1},
    "art generalized": {"max_suppression": 1, "form": "generalized"},
    "art bound": {"max_suppression": 1, "condition": "bound"},
    "mondrian": {"l": 2},
    "anatomy": {"l": 2},
    "pooling": {},
}


@pytest.fixture(scope="module", params=CASES)
def release(request: pytest.FixtureRequest) -> Release:
    name = request.param.split()[0]
    method: Any = Pooling() if name == "pooling" else name
    with pytest.warns(InputWarning, match="look alike"):
        return shoal.anonymize(hostile(), SPEC, method=method, seed=3, **CASES[request.param])


@pytest.fixture(scope="module")
def documented() -> dict[str, Any]:
    """The readers, as the page for recipients shows them."""
    names: dict[str, Any] = {}
    for block in blocks("howto/use-a-release.md"):
        if block.language == "python" and re.search(r"^def (described|read_)", block.text, re.M):
            shown = re.sub(r"^print.*$", "", block.text, flags=re.M)
            exec(compile(shown, "use-a-release.md", "exec"), names)
    return names


def published(frame: pl.DataFrame) -> dict[str, list[Any]]:
    return frame.with_columns(pl.col(pl.Enum).cast(pl.String)).to_dict(as_series=False)


def plain(frame: Any) -> dict[str, list[Any]]:
    """Columns of a pandas or Polars frame as lists, missing values as None."""
    if isinstance(frame, pl.DataFrame):
        return frame.to_dict(as_series=False)
    return {
        str(name): [
            None if pd.isna(one) else one.date() if isinstance(one, pd.Timestamp) else one
            for one in frame[name].tolist()
        ]
        for name in frame
    }


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("library", ["pandas", "polars", "duckdb"])
def test_files_read_by_the_data_package_are_what_was_published(
    release: Release, documented: dict[str, Any], library: str, format: str, tmp_path: Path
) -> None:
    release.save(tmp_path / "out", format=format)
    for name, frame in release.frames.items():
        read = documented[f"read_{library}"](tmp_path / "out", name)
        assert plain(read) == published(frame), name


def test_the_data_package_is_valid_and_says_what_is_guarded(
    release: Release, tmp_path: Path
) -> None:
    release.save(tmp_path / "out")
    assert frictionless.validate(str(tmp_path / "out" / "datapackage.json")).valid
    package = json.loads((tmp_path / "out" / "datapackage.json").read_text("utf-8"))
    qi, sensitive = (resource["schema"] for resource in package["resources"][:2])
    assert sensitive["missingValues"] == [""]
    first, value = qi["fields"][1], sensitive["fields"][1]
    assert (first["name"], first["title"]) == ("'" + QI, QI)
    assert (value["name"], value["title"]) == ("'" + SENSITIVE, SENSITIVE)
    assert set(value["guarded"]) <= {"=cmd", "+"}
    if release.form == "bucketized":
        kinds = [field["type"] for field in qi["fields"]]
        weight = [] if release.weight is None else ["number"]
        assert kinds == ["integer", "string", "number", "date", "integer", *weight]
        assert {"=1+1", "'=1", "＝x", " @y", "-A"} <= set(first["guarded"])
        assert "guarded" not in qi["fields"][2]
        assert not {"-9", "'-9", "it's"} & set(first["guarded"])


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_to_pandas_is_what_was_published(release: Release, format: str, tmp_path: Path) -> None:
    release.save(tmp_path / "out", format=format)
    tables = Release.load(tmp_path / "out").to_pandas()
    assert {name: plain(table) for name, table in tables.items()} == {
        name: published(frame) for name, frame in release.frames.items()
    }


# --- README.txt --------------------------------------------------------------------------


def queries(folder: Path) -> list[str]:
    """Every statement of the page."""
    page = (folder / "README.txt").read_bytes().decode("utf-8")
    return re.findall(r"^WITH .*?;$", page, re.DOTALL | re.MULTILINE)


def check_readme(release: Release, folder: Path) -> None:
    """Its queries run, and give what `count` and `table` give."""
    from shoal.release.utility.sql import example, other_example

    sensitive, value, column = example(release)
    asked = {} if column is None else {column.name: [column.labels[0]]}
    first, *between, last = queries(folder)
    ((estimate, error),) = duckdb.sql(first).fetchall()
    counted = release.count({**asked, sensitive: value})
    assert estimate == pytest.approx(counted)
    assert error == pytest.approx(counted.standard_error, abs=1e-5)
    assert estimate > 0
    other = other_example(release)
    assert len(between) == (other is not None) == (release.certificate["groups"]["pooled"] > 0)
    for query in between:
        assert other is not None
        ((estimate, error),) = duckdb.sql(query).fetchall()
        counted = release.count({other[0]: other[1]})
        assert estimate == pytest.approx(counted)
        assert error == pytest.approx(counted.standard_error, abs=1e-5)
    weighted = duckdb.sql(last)
    assert len(weighted.columns) == len(release.spec.qi) + 3
    assert weighted.sum("weight").fetchall()[0][0] == pytest.approx(release.qi.height)


def test_readme_says_of_how_many_people_values_are_pooled(release: Release, tmp_path: Path) -> None:
    release.save(tmp_path / "out")
    text = " ".join((tmp_path / "out" / "README.txt").read_text().split())
    held = release.sensitive.filter(pl.col(SENSITIVE).cast(pl.String) == "(other)")
    people = int(held["count"].sum())
    assert (people > 0) == (release.certificate["groups"]["pooled"] > 0)
    groups = release.certificate["groups"]["pooled"]
    assert (pooled_words(groups, people) in text) == (people > 0)
    assert ("does not cover what stands behind (other)" in text) == (people > 0)


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_queries_of_the_readme_run(
    release: Release, format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release.save(tmp_path / "out", format=format)
    monkeypatch.chdir(tmp_path / "out")
    check_readme(release, tmp_path / "out")


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("table", TABLES)
def test_queries_run_for_every_method(
    table: str, method: str, format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame, spec = TABLES[table]()
    name = method.removesuffix("-generalized").removesuffix("-bound")
    release = shoal.anonymize(frame, spec, method=name, seed=7, **METHODS[method])
    release.save(tmp_path / "out", format=format)
    monkeypatch.chdir(tmp_path / "out")
    check_readme(release, tmp_path / "out")


# --- Weights -----------------------------------------------------------------------------


def test_weights_are_shares_of_groups(release: Release) -> None:
    """Against adding up person by person: by published weights, or equal shares."""
    slow: dict[tuple[Any, ...], float] = {}
    told = release.weight is not None and release.form == "bucketized"
    for line in release.qi.iter_rows(named=True):
        held = release.sensitive.filter(gid=line["gid"])
        size = int(held["count"].sum())
        cases = int(held.filter(pl.col(SENSITIVE).cast(pl.String) == "-7")["count"].sum())
        chance = cases / size
        if told and line["weight"] is not None:
            total = release.qi.filter(gid=line["gid"])["weight"].sum()
            chance = min(line["weight"] * cases / total, 1.0)
        for value, count in held.select(SENSITIVE, "count").iter_rows():
            key = (*(line[qi] for qi in release.spec.qi), value)
            part = chance / cases if value == "-7" else (1 - chance) / (size - cases)
            slow[key] = slow.get(key, 0.0) + count * part
    table = release.table()
    found = {tuple(line[:-1]): line[-1] for line in table.iter_rows()}
    assert found == pytest.approx({key: part for key, part in slow.items() if part > 0})
    assert table.columns == [*release.spec.qi, SENSITIVE, "weight"]


def test_weights_add_up_to_counts() -> None:
    people = shoal.datasets.hospital(3000, seed=2)
    spec = Spec(
        qi=shoal.datasets.HOSPITAL_QI[:3],
        sensitive="diagnosis",
        protect=[Event(shoal.datasets.HOSPITAL_EVENT, label="grave")],
        r=3,
    )
    release = shoal.anonymize(people.to_pandas(), spec, seed=1)
    table = release.table()
    assert isinstance(table, pd.DataFrame)
    assert table["weight"].sum() == pytest.approx(3000)
    for sex in ("Female", "Male"):
        lines = table[(table["sex"] == sex) & (table["diagnosis"] == "grave")]
        assert lines["weight"].sum() == pytest.approx(
            release.count({"sex": sex, "diagnosis": "grave"})
        )
