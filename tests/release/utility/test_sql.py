"""The SQL that shoal shows, run by DuckDB over the published files: hostile texts, every kind of
value, both forms, both formats."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.spec import Event, Spec
from shoal.errors import InputError
from shoal.release import Release
from shoal.release.utility import Between, sql_for_count
from shoal.release.utility.sql import example
from tests.release.test_types import KINDS

duckdb = pytest.importorskip("duckdb")

HOSTILE = (
    "-A",
    "'-A",
    "=1+1",
    "+x",
    "@y",
    "\ttab",
    "\rreturn",
    "it's",
    "''",
    'say "hi"',
    "a;b",
    "a,b",
    "#c",
    "-- d",
    "line\nbreak",
    "a\u2028b",
    "ü ☃ 日本",
    " padded ",
    "NULL",
    "1",
    "01",
    None,
)
QI, NUMBER, SENSITIVE = "-q; \"it's", "=n", "@sick, or\nnot"
EVENT = ("-A", "it's; --", 'x"y', "=2\nlines")


def hostile() -> pl.DataFrame:
    """Every hostile text as an attribute, among the events and outside them."""
    size = 40 * len(HOSTILE)
    filler = [text for text in HOSTILE if text not in (None, *EVENT)]
    random = np.random.default_rng(1)
    return pl.DataFrame(
        {
            QI: HOSTILE * 40,
            "SEX": random.choice(["f", "-m"], size),
            "sex": random.choice(["f", "'-m", "@"], size),
            NUMBER: pl.Series(random.choice([-2, -1, 0, 1.5, 7], size)).set(
                pl.Series(random.random(size) < 0.1), None
            ),
            SENSITIVE: [
                EVENT[i // 11 % 4] if i % 11 == 0 else filler[i % len(filler)] for i in range(size)
            ],
        }
    )


SPECS = {
    "one by one": tuple(Event((value,)) for value in EVENT),
    "set": (Event(EVENT, label="=all; 'of' them"),),
}
CASES = {
    "art": {"max_suppression": 1},
    "art generalized": {"max_suppression": 1, "form": "generalized"},
    "anatomy": {"l": 3},
    "mondrian": {"l": 2},
}


@pytest.fixture(scope="module", params=[(c, s) for c in CASES for s in SPECS], ids=" ".join)
def release(request: pytest.FixtureRequest) -> Release:
    case, events = request.param
    spec = Spec(
        qi=(QI, "SEX", "sex", NUMBER),
        sensitive=SENSITIVE,
        protect=SPECS[events],
        r=2,
        min_support=30,
    )
    return shoal.anonymize(hostile(), spec, method=case.split()[0], **CASES[case])


def run(sql: str) -> float:
    ((estimate, _),) = duckdb.sql(sql).fetchall()
    return float(estimate)


def first_count(release: Release) -> float:
    """What the README's example asks for."""
    name, value, column = example(release)
    attribute = {} if column is None else {column.name: column.labels[0]}
    return release.count({**attribute, name: value})


def readme_sql() -> str:
    page = Path("README.txt").read_bytes().decode("utf-8")
    first = re.search(r"^WITH (held|lines) AS .*?^FROM (counted|groups);$", page, re.M | re.S)
    assert first is not None
    return first.group()


def wheres(release: Release) -> list[dict[str, Any]]:
    values = release.sensitive[SENSITIVE].cast(pl.String).unique(maintain_order=True).to_list()
    shown = release.coded.columns[0].labels
    assert len(shown) > 15
    return [
        {},
        *({QI: text} for text in shown),
        *({SENSITIVE: value} for value in values),
        {SENSITIVE: list(EVENT)},
        {QI: shown},
        {QI: shown[::2], "sex": ["'-m", "@"], SENSITIVE: values[:4]},
        {"SEX": "-m", "sex": "f"},
        {NUMBER: [-2, None]},
        {NUMBER: Between(-1, 2)},
        {NUMBER: Between(-2, 100), "SEX": "f", SENSITIVE: values[0]},
        {SENSITIVE: []},
    ]


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_the_readme_and_the_sql_count_what_the_release_counts(
    release: Release, format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release.save(tmp_path / "out", format=format)
    monkeypatch.chdir(tmp_path / "out")
    first = first_count(release)
    assert first > 0
    assert run(readme_sql()) == pytest.approx(first)
    loaded = Release.load(tmp_path / "out")
    for where in wheres(release):
        expected = pytest.approx(release.count(where))
        assert run(sql_for_count(release, where, format=format)) == expected, where
        assert run(sql_for_count(loaded, where)) == expected, where


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("form", ["bucketized", "generalized"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_value_can_be_asked_for(
    kind: str, form: str, format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    column = pl.Series("q", *KINDS[kind])
    if kind == "time zone":
        column = column.dt.convert_time_zone("Europe/Berlin")
    rows = column.gather([i % len(column) for i in range(140)])
    frame = pl.DataFrame({"q": rows, "s": [*"xyzwvut"] * 20})
    spec = Spec(qi=("q",), sensitive="s", protect=(Event(("x",)),), r=2, min_support=5)
    release = shoal.anonymize(frame, spec, form=form)
    release.save(tmp_path / "out", format=format)
    monkeypatch.chdir(tmp_path / "out")
    assert run(readme_sql()) == pytest.approx(first_count(release))
    loaded = Release.load(tmp_path / "out")
    for made in (release, loaded):
        for label in made.coded.columns[0].labels:
            where = {"q": label, "s": "x"}
            expected = pytest.approx(made.count(where))
            assert run(sql_for_count(made, where, format=format)) == expected, where


def test_a_text_with_a_nul_is_asked_for_in_parquet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pl.DataFrame({"q": ["a\0b", "a"] * 70, "s": [*"xyzwvut"] * 20})
    spec = Spec(qi=("q",), sensitive="s", protect=(Event(("x",)),), r=2, min_support=5)
    release = shoal.anonymize(frame, spec)
    release.save(tmp_path / "out", format="parquet")
    monkeypatch.chdir(tmp_path / "out")
    assert run(sql_for_count(release, {"q": "a\0b"}, format="parquet")) == 70


def test_there_are_two_formats(release: Release) -> None:
    with pytest.raises(InputError) as raised:
        sql_for_count(release, format="excel")
    assert raised.value.code == "release-format"
