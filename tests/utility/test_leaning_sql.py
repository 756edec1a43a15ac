"""SQL by leanings counts what the release counts, whatever columns and values are called."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

import shoal
from shoal.release import Release
from shoal.spec import Event, Spec
from shoal.utility import sql_for_count
from shoal.utility.sql import example, weights_sql
from tests.release.test_leanings import people, spec_of
from tests.utility.test_sql import EVENT, NUMBER, QI, SENSITIVE, SPECS, hostile, run, wheres

EVENTS = {"set": SPECS["set"], "one": SPECS["one by one"][:1], "two": SPECS["one by one"][:2]}


@pytest.fixture(scope="module", params=EVENTS)
def release(request: pytest.FixtureRequest) -> Release:
    """With shares by hand, in all groups that hold one event."""
    events, qi = EVENTS[request.param], (QI, "SEX", "sex", NUMBER)
    spec = Spec(qi=qi, sensitive=SENSITIVE, protect=events, r=2, min_support=30)
    made = shoal.anonymize(hostile(), spec, method="anatomy", l=3)
    random = np.random.default_rng(1)
    names = {text: event.label for event in events for text in (event.label, *event.values)}
    held = made.sensitive.with_columns(
        event=pl.col(SENSITIVE).cast(pl.String).replace_strict(names, default=None)
    )
    mixed = held.group_by("gid").agg(
        events=pl.col("event").drop_nulls().n_unique(), others=pl.col("event").null_count()
    )
    alone = mixed.filter((pl.col("events") == 1) & (pl.col("others") > 0))["gid"]
    share = pl.Series("(share)", random.uniform(0.1, 0.9, made.qi.height)).round(6)
    told = pl.when(pl.col("gid").is_in(alone.implode())).then(share)
    said = {**made.certificate, "leanings": {"column": "(share)", "told": {}}}
    shown = made.qi.with_columns(told.alias("(share)"))
    return replace(made, qi_held=shown, share="(share)", certificate=said)


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_the_sql_counts_what_the_release_counts(
    release: Release, format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release.save(tmp_path / "out", format=format)
    monkeypatch.chdir(tmp_path / "out")
    leans = 0
    carriers = [{QI: text, SENSITIVE: list(EVENT)} for text in release.coded.columns[0].labels]
    for where in [*wheres(release), *carriers]:
        counted = release.count(where)
        leans += abs(counted - release.count(where, shares="equal")) > 1e-6
        assert run(sql_for_count(release, where, format=format)) == pytest.approx(counted), where
    # Where every group holds two events, nobody leans.
    assert (leans > 3) == (len(release.spec.protect or ()) == 1)
    listed = duckdb.sql(weights_sql(release, format=format)).pl()
    assert listed.columns[-2:] == [listed.columns[-2], "weight"]
    found = listed["weight"].sum()
    assert found == pytest.approx(release.qi.height)
    by_value = release.table().group_by(SENSITIVE).agg(pl.col("weight").sum())
    sums = listed.group_by(listed.columns[-2]).agg(pl.col("weight").sum())
    assert sorted(sums["weight"]) == pytest.approx(sorted(by_value["weight"]))


@pytest.mark.parametrize(
    "names",
    [
        ("share_1", "kind", "matches", "number"),
        ("weight", "Share", "alike", "Count"),
        ("share", "total", "(share)", "part"),
    ],
    ids=["as the SQL calls its own", "as those of a release", "as shares"],
)
def test_columns_may_be_called_anything(
    names: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    *qi, sensitive = names
    spec = Spec(qi=qi, sensitive=sensitive, protect=[Event(("ill",))], r=4, min_support=30)
    renamed = people(1).rename(dict(zip(("place", "age", "sex", "state"), names, strict=True)))
    made = shoal.anonymize(renamed, spec, seed=5)
    assert made.share is not None
    made.save(tmp_path / "out")
    monkeypatch.chdir(tmp_path / "out")
    where = {qi[0]: "east", qi[1]: (1, 2), sensitive: "ill"}
    mine = (pl.col(qi[0]) == "east") & (pl.col(qi[1]).is_in([1, 2])) & (pl.col(sensitive) == "ill")
    for shares in ("equal", "leanings"):
        counted = pytest.approx(made.count(where, shares=shares))
        assert run(sql_for_count(made, where, shares=shares)) == counted
        listed = made.table(shares)
        assert listed.filter(mine)[listed.columns[-1]].sum() == counted
    told = duckdb.sql(weights_sql(made, format="csv")).pl()
    some = told.filter(pl.col(qi[0]) == "east", pl.col(sensitive) == "ill")
    assert some[told.columns[-1]].sum() == pytest.approx(
        made.count({qi[0]: "east", sensitive: "ill"})
    )


def test_the_page_of_a_release_counts_by_leanings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = shoal.anonymize(people(1), spec_of(), seed=5)
    made.save(tmp_path / "out")
    monkeypatch.chdir(tmp_path / "out")
    page = Path("README.txt").read_text("utf-8")
    first = page.index("WITH lines AS")
    name, value, column = example(made)
    assert column is not None
    asked = {name: value, column.name: column.labels[0]}
    sql = page[first : page.index("\n\n", first)]
    assert run(sql) == pytest.approx(made.count(asked))
    assert "carry the event as their share adds up to" in " ".join(page.split())
    short = f"SELECT sum(share) FROM 'qi.csv' WHERE {column.name} = '{column.labels[0]}'"
    assert run(short) == pytest.approx(made.count(asked), rel=1e-5)
    assert made.count(asked) != pytest.approx(made.count(asked, shares="equal"))
