"""Estimates from published tables, against brute force over frames and against DuckDB."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.data.datasets import hospital
from shoal.data.spec import OTHER, Event, Spec
from shoal.data.table import Table
from shoal.engines.dealing import deal
from shoal.errors import InputError
from shoal.groups import FormName, Grouping
from shoal.groups.generalization import generalize
from shoal.release import Release
from shoal.release.facts.loss import released
from shoal.release.tables import build_tables, canonical
from shoal.release.utility import (
    Between,
    Published,
    Queries,
    Workload,
    estimate_counts,
    exact_counts,
    measure_errors,
    sql_for_count,
)

EVENT = Event(("HIV", "Schizophrenia"), "protected")
SPEC = Spec(qi=("age", "sex", "region"), sensitive="diagnosis", r=3, protect=(EVENT,))


@pytest.fixture(scope="module")
def table() -> Table:
    frame = hospital(700, seed=5).with_columns((pl.col("age") // 10 * 10).alias("age"))
    return Table.from_frame(frame, SPEC)


def release_of(
    table: Table, groups: Any, *, form: FormName = "bucketized", pooled: Any = None
) -> Release:
    groups = np.asarray(groups, dtype=np.int32)
    grouping = Grouping.of_rows(table, groups, pooled=pooled)
    if form == "generalized":
        recodings = generalize(table, grouping.group, grouping.signature, {})
        grouping = replace(grouping, form=form, recodings=recodings)
    grouping = canonical(table, grouping)
    qi, sensitive, members, ranges = build_tables(table, grouping, deal(table, grouping))
    return Release(table.spec, form, qi, sensitive, members, ranges, {})


def random_groups(table: Table, count: int, *, lost: int = 0) -> Any:
    rng = np.random.default_rng(1)
    groups = np.concatenate([np.arange(count), rng.integers(count, size=table.rows - count)])
    rng.shuffle(groups)
    if lost:
        kept_once = np.unique(groups, return_index=True)[1]
        free = np.setdiff1d(np.arange(table.rows), kept_once)
        groups[free[:lost]] = -1
    return groups


def brute_force(release: Release, queries: Queries, query: int) -> float:
    """One query at a time, group by group, in plain Python over the published frames."""
    wanted = [
        {label for label, ok in zip(labels, allowed[:, query], strict=True) if ok}
        for labels, allowed in zip(queries.labels, queries.allowed, strict=True)
    ]
    asked = {
        label
        for label, ok in zip(
            queries.sensitive_labels, queries.sensitive_allowed[:, query], strict=True
        )
        if ok
    }
    members = release.members.to_dicts()
    opened = {line[SPEC.sensitive]: 0 for line in release.sensitive.iter_rows(named=True)}
    for line in release.sensitive.iter_rows(named=True):
        opened[line[SPEC.sensitive]] += line["count"]
    filler = {v: n for v, n in opened.items() if v not in (OTHER, EVENT.label, *EVENT.values)}

    def part(value: str) -> float:
        if value == EVENT.label:
            mine = {m["value"]: m["count"] for m in members if m["event"] == value}
            return sum(n for v, n in mine.items() if v in asked) / sum(mine.values())
        if value == OTHER:
            told = {m["value"]: m["count"] for m in members if m["event"] == value}
            spread = told or filler
            return sum(n for v, n in spread.items() if v in asked) / sum(spread.values())
        return float(value in asked)

    total = 0.0
    held = release.sensitive.partition_by("gid", as_dict=True)
    for (gid,), people in release.qi.partition_by("gid", as_dict=True).items():
        values = sum(
            line["count"] * part(line[SPEC.sensitive])
            for line in held[(gid,)].iter_rows(named=True)
        )
        share = 0.0
        for person in people.iter_rows(named=True):
            chance = 1.0
            for qi, labels in zip(SPEC.qi, wanted, strict=True):
                if release.ranges is None:
                    chance *= str(person[qi]) in labels
                else:
                    covered = release.ranges.filter(attribute=qi, label=person[qi])["value"]
                    chance *= sum(value in labels for value in covered) / len(covered)
            share += chance / people.height
        total += values * share
    return total


@pytest.mark.parametrize("form", ["bucketized", "generalized"])
@pytest.mark.parametrize("lost", [0, 40])
def test_estimates_equal_brute_force(table: Table, form: FormName, lost: int) -> None:
    release = release_of(table, random_groups(table, 90, lost=lost), form=form)
    queries = Workload(queries=70, dimensions=2, selectivity=0.1).draw(table)
    estimates = estimate_counts(Published.of(release), queries)
    slow = [brute_force(release, queries, query) for query in range(0, 70, 14)]
    assert estimates[::14] == pytest.approx(slow)
    assert max(slow) > 1


@pytest.mark.parametrize("every", [3, 20])
def test_pooled_values_are_spread_by_what_is_published_openly(table: Table, every: int) -> None:
    pooled = np.arange(90) % every == 0
    release = release_of(table, random_groups(table, 90), pooled=pooled)
    assert OTHER in release.sensitive[SPEC.sensitive].to_list()
    assert OTHER not in release.members["event"].to_list()
    queries = Workload(queries=40, selectivity=0.3).draw(table)
    slow = [brute_force(release, queries, query) for query in range(0, 40, 4)]
    assert estimate_counts(Published.of(release), queries)[::4] == pytest.approx(slow)


def test_exact_counts_equal_filters(table: Table) -> None:
    queries = Workload(queries=130, dimensions=2, selectivity=0.1).draw(table)
    counts = exact_counts(table, queries)
    frame: pl.DataFrame = table.native
    for query in range(0, 130, 10):
        conditions = [
            pl.col(qi).cast(pl.String).is_in(list(np.array(labels)[allowed[:, query]]))
            for qi, labels, allowed in zip(
                queries.attributes, queries.labels, queries.allowed, strict=True
            )
        ]
        asked = np.array(queries.sensitive_labels)[queries.sensitive_allowed[:, query]]
        found = frame.filter(*conditions, pl.col("diagnosis").is_in(list(asked))).height
        assert counts[query] == found


def test_nothing_grouped_gives_no_error(table: Table) -> None:
    open_table = Table.from_frame(table.native, SPEC.with_(publish_members=True))
    release = release_of(open_table, np.arange(table.rows))
    every, protected = measure_errors(open_table, release.coded, Workload(queries=500))
    assert every.average == 0
    assert protected.percentile_95 == 0
    moved = [one.distance for one in released(open_table, release)]
    assert moved == pytest.approx([0] * 4, abs=1e-12)


def test_errors_see_lost_rows_and_broken_links(table: Table) -> None:
    release = release_of(table, random_groups(table, 20, lost=60))
    every, _ = measure_errors(table, release.coded, Workload(queries=500))
    assert every.average is not None
    assert every.average > 0.05
    moved = {one.name: one.distance for one in released(table, release)}
    assert 0 < moved["age"] < 0.1


def test_zero_count_queries_are_left_out_and_counted() -> None:
    frame = pl.DataFrame({"a": ["p", "p", "q", "q"], "x": ["1", "1", "2", "2"]})
    made = Table.from_frame(frame, Spec(qi=("a",), sensitive="x", r=2))
    published = release_of(made, [0, 1, 2, 3]).coded
    every, _ = measure_errors(made, published, Workload(queries=400, selectivity=0.2))
    assert 0.3 < every.zero_share < 0.7
    assert every.average == 0


# --- The recipient's estimator -----------------------------------------------------------


@pytest.mark.parametrize("form", ["bucketized", "generalized"])
def test_an_unrestricted_count_is_the_row_count(table: Table, form: FormName) -> None:
    release = release_of(table, random_groups(table, 50, lost=10), form=form)
    assert release.count() == pytest.approx(table.rows - 10)
    assert release.count({"age": range(200)}) == pytest.approx(table.rows - 10)


def test_counts_by_value_list_range_event_and_member(table: Table) -> None:
    release = release_of(table, np.arange(table.rows))
    frame: pl.DataFrame = table.native
    assert release.count({"sex": "Male"}) == frame.filter(sex="Male").height
    young = frame.filter(pl.col("age") < 50)
    assert release.count({"age": range(50)}) == young.height
    assert release.count({"age": Between(None, 40)}) == young.height
    assert release.count({"age": (0, 40)}) == release.count({"age": (-1.5, 40.0)}) == young.height
    listed = frame.filter(pl.col("age").is_in([20, 40])).height
    assert release.count({"age": [20, 40]}) == listed
    assert release.count({"age": [10, 20, 30, 40]}) == young.height
    protected = frame.filter(pl.col("diagnosis").is_in(EVENT.values)).height
    assert release.count({"diagnosis": "protected"}) == protected
    assert release.count({"diagnosis": list(EVENT.values)}) == pytest.approx(protected)
    assert release.count({"diagnosis": ["protected", "HIV"]}) == pytest.approx(protected)
    hiv = frame.filter(diagnosis="HIV").height
    assert release.count({"diagnosis": "HIV"}) == pytest.approx(hiv)


@pytest.mark.parametrize(
    ("where", "code", "named"),
    [
        ({"sax": "Male"}, "count-column", "sax"),
        ({"sex": "Mole"}, "count-value", "Mole"),
        ({"age": [20, 21]}, "count-value", "21"),
        ({"diagnosis": ["HIB"]}, "count-value", "HIB"),
        ({"sex": range(3)}, "count-range", "sex"),
        ({"age": Between("young", None)}, "count-range", "age"),
        ({"diagnosis": Between("A", "B")}, "count-range", "diagnosis"),
        ({"diagnosis": (3, 5)}, "count-range", "diagnosis"),
    ],
)
def test_what_is_not_in_the_release_is_named(
    table: Table, where: dict[str, Any], code: str, named: str
) -> None:
    release = release_of(table, random_groups(table, 50))
    with pytest.raises(InputError) as caught:
        release.count(where)
    assert caught.value.code == code
    assert named in caught.value.problem


WHERES: list[dict[str, Any]] = [
    {},
    {"age": range(20, 50), "sex": "Male", "diagnosis": ["HIV", "Asthma", "Fracture"]},
    {"region": ["North", "-it's"], "diagnosis": "protected"},
    {"w": [1.5], "age": [20, 70]},
    {"w": None},
    {"diagnosis": []},
]


@pytest.mark.parametrize("form", ["bucketized", "generalized"])
def test_the_sql_gives_the_same_counts_over_the_saved_files(
    table: Table, form: FormName, tmp_path: Path
) -> None:
    duckdb = pytest.importorskip("duckdb")
    from shoal.api.anonymize import anonymize

    frame: pl.DataFrame = table.native.with_columns(
        pl.when(pl.col("region") == "East")
        .then(pl.lit("-it's"))
        .otherwise("region")
        .alias("region"),
        pl.when(pl.int_range(pl.len()) % 3 == 0)
        .then(1.5)
        .when(pl.int_range(pl.len()) % 3 == 1)
        .then(2.0)
        .alias("w"),
    )
    spec = SPEC.with_(qi=("age", "sex", "region", "w"), min_support=50)
    method = "anatomy" if form == "bucketized" else "mondrian"
    anonymize(frame, spec, method=method).save(tmp_path / "release")
    release = Release.load(tmp_path / "release")
    assert release.form == form
    before = Path.cwd()
    try:
        os.chdir(tmp_path / "release")
        for where in WHERES:
            answer = duckdb.sql(sql_for_count(release, where)).fetchall()[0][0]
            assert answer == pytest.approx(release.count(where)), where
    finally:
        os.chdir(before)


@pytest.mark.data
def test_art_answers_better_than_anatomy_on_adult(adult_path: Path) -> None:
    from shoal.data.datasets import ADULT_EVENT, ADULT_QI, ADULT_SENSITIVE, adult
    from shoal.planning.comparison.trial import Trial, equip

    spec = Spec(qi=ADULT_QI[:5], sensitive=ADULT_SENSITIVE, r=5, protect=(Event(ADULT_EVENT),))
    made = Table.from_frame(adult(adult_path), spec)
    art, anatomy = (
        Trial.run(made, equip(name, {}, None), seed=0).errors(Workload())
        for name in ("art", "anatomy")
    )
    assert art["relative_error"] <= anatomy["relative_error"]
    assert art["relative_error_protected"] <= anatomy["relative_error_protected"]
