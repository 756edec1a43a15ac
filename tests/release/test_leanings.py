"""Leanings: fitted within limits, counted with; and when none are told."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError
from shoal.grouping import Grouping
from shoal.knowledge import Knowledge
from shoal.release import Release
from shoal.release.leaning_fit import fit_leanings
from shoal.release.leanings import BANDS, LEAST, classes_told_of, limits
from shoal.spec import Event, Spec
from shoal.table import Table
from shoal.utility import KnownClasses

PLACES = ("north", "south", "east", "west")


def people(seed: int, rows: int = 6_000, share: float = 0.07) -> pl.DataFrame:
    """People of whom some places and ages lean to an illness."""
    random = np.random.default_rng(seed)
    place, age = random.integers(0, 4, rows), random.integers(0, 3, rows)
    chance = share * np.array([0.2, 1.0, 2.0, 0.6])[place] * np.array([0.3, 1.0, 1.4])[age]
    ill = random.random(rows) < chance
    flu = random.random(rows) < np.array([0.2, 0.1, 0.02, 0.05])[place]
    other = np.where(flu, "flu", random.choice(["cold", "none"], rows, p=[0.4, 0.6]))
    return pl.DataFrame(
        {
            "place": np.array(PLACES)[place],
            "age": age,
            "sex": random.choice(["f", "m"], rows),
            "state": np.where(ill, "ill", other),
        }
    )


def spec_of(**more: Any) -> Spec:
    asked = {"r": 4, "min_support": 30, "protect": [Event(("ill",))], **more}
    return Spec(qi=("place", "age", "sex"), sensitive="state", **asked)


@pytest.fixture(scope="module")
def release() -> Release:
    return shoal.anonymize(people(1), spec_of(), seed=5)


def slow_shares(release: Release, event_of: dict[str, str]) -> list[tuple[dict[str, Any], Any]]:
    """Everybody, with the part of each value that is theirs."""
    held: dict[int, Counter[str]] = {}
    for gid, value, count in release.sensitive.iter_rows():
        held.setdefault(gid, Counter())[value] += count
    members: dict[int, list[dict[str, Any]]] = {}
    for one in release.qi.iter_rows(named=True):
        members.setdefault(one["gid"], []).append(one)
    found = []
    for gid, group in members.items():
        values = held[gid]
        events = {event_of[value] for value in values if value in event_of}
        rest = sum(count for value, count in values.items() if value not in event_of)
        carriers = sum(values.values()) - rest
        for one in group:
            shares = {value: count / len(group) for value, count in values.items()}
            if len(events) == 1 and rest and one[release.share] is not None:
                mine = carriers * one[release.share] / sum(other[release.share] for other in group)
                shares = {
                    value: mine * count / carriers
                    if value in event_of
                    else (1 - mine) * count / rest
                    for value, count in values.items()
                }
            found.append((one, shares))
    return found


def test_counts_are_those_of_the_slow_twin(release: Release) -> None:
    everybody = slow_shares(release, {"ill": "ill"})
    assert release.qi["share"].n_unique() > 10
    for where in (
        {"state": "ill"},
        {"state": "ill", "place": "east"},
        {"state": "ill", "age": 2, "sex": "f"},
        {"state": ["flu", "ill"], "place": ["north", "west"]},
        {"state": "none", "age": 0},
        {"place": "south"},
    ):
        asked = {
            name: {str(one) for one in (value if isinstance(value, list) else [value])}
            for name, value in where.items()
        }
        values = asked.pop("state", None)
        expected = sum(
            sum(part for value, part in shares.items() if values is None or value in values)
            for one, shares in everybody
            if all(str(one[name]) in texts for name, texts in asked.items())
        )
        assert release.count(where) == pytest.approx(expected)


@pytest.mark.parametrize("limit", ["absolute", "prior"])
@pytest.mark.parametrize("r", [2, 3, 5])
@pytest.mark.parametrize("seed", [0, 1])
def test_nobody_is_above_their_limit_and_counts_are_better(seed: int, r: int, limit: str) -> None:
    table = Table.from_frame(people(seed), spec_of(r=r, limit=limit))
    release = shoal.anonymize(table, seed=seed + 7, max_suppression=1)
    known = Knowledge.of(table)
    classes = KnownClasses.of(table, known)
    equally = classes.errors(release.coded).average
    assert equally is not None
    if release.share is None:
        assert equally < 0.02  # about the noise in what shares are fitted to
        return
    assert classes.errors(release.coded_leaning).average < equally
    most = {
        tuple(str(column.labels[code]) for column, code in zip(table.qi, codes, strict=True)): one
        for codes, one in zip(table.signatures, limits(table, known, 0), strict=True)
    }
    size = Counter(release.qi["gid"].to_list())
    carriers = dict(
        release.sensitive.filter(pl.col("state") == "ill").select("gid", "count").iter_rows()
    )
    total: Counter[int] = Counter()
    for one in release.qi.iter_rows(named=True):
        equal = carriers.get(one["gid"], 0) / size[one["gid"]]
        mine = tuple(str(one[name]) for name in table.spec.qi)
        if one["share"] is None:
            assert equal in (0, 1)
        else:
            assert LEAST * equal * (1 - 1e-5) <= one["share"]
            assert one["share"] <= max(most[mine], equal) * (1 + 1e-9)
            total[one["gid"]] += one["share"]
    assert total == pytest.approx(
        {gid: held for gid, held in carriers.items() if held < size[gid]}, rel=1e-5
    )


def test_groups_at_their_limit_are_shared_equally() -> None:
    """Pairs of different people at r = 2: whoever leaned more would be above 1/2."""
    frame = people(2, rows=3_000)
    table = Table.from_frame(frame, spec_of(r=2))
    ill = (frame["state"] == "ill").to_numpy()
    random = np.random.default_rng(3)
    groups = np.full(table.rows, -1)
    groups[np.flatnonzero(ill)] = np.arange(ill.sum())
    groups[random.permutation(np.flatnonzero(~ill))[: ill.sum()]] = np.arange(ill.sum())
    grouping = Grouping.of_rows(table, groups.astype(np.int32))
    assert fit_leanings(table, Knowledge.of(table), grouping, seed=0) is None


def test_shares_come_from_the_seed_and_not_from_the_counts_alone() -> None:
    frame, spec = people(1), spec_of()
    one, same = (shoal.anonymize(frame, spec, seed=5).qi for _ in range(2))
    assert one.equals(same)
    table = Table.from_frame(frame, spec)
    made = shoal.anonymize(table, seed=5)
    assert made.grouping is not None
    other = fit_leanings(table, Knowledge.of(table), made.grouping, seed=6)
    assert other is not None
    shown = other.beside(made.qi_runs, made.grouping).frame()
    assert shown.drop("share").equals(one.drop("share"))
    assert not shown["share"].equals(one["share"])
    assert 0 < (shown["share"] - one["share"]).abs().mean() < 0.05


def test_events_lean_one_by_one() -> None:
    """Of groups with one event shares are told, whichever it is; others are shared equally."""
    spec = spec_of(protect=[Event(("ill",)), Event(("flu",), r=4)], r=5)
    release = shoal.anonymize(people(4, rows=12_000), spec, seed=2, max_suppression=1)
    held = release.sensitive.filter(pl.col("state").cast(pl.String).is_in(["ill", "flu"]))
    alone = held.filter(pl.col("gid").is_unique())
    told = release.qi.filter(pl.col("share").is_not_null())
    assert set(told["gid"]) <= set(alone["gid"])
    of_event = told.join(alone, on="gid").group_by("state").len()
    assert dict(of_event.iter_rows()) == release.certificate["leanings"]["told"]
    assert len(release.certificate["leanings"]["told"]) == 2
    everybody = slow_shares(release, {"ill": "ill", "flu": "flu"})
    for value in ("ill", "flu", "none"):
        expected = sum(
            shares.get(value, 0.0) for one, shares in everybody if one["place"] == "east"
        )
        assert release.count({"state": value, "place": "east"}) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("more", "asked"),
    [
        ({"leanings": False}, {}),
        ({"totals": True}, {}),
        ({"form": "generalized"}, {}),
        ({"method": "mask", "k": 3}, {}),
        ({}, {"protect": [Event(("flu",))], "min_support": 5_000}),
    ],
    ids=["not wanted", "totals", "generalized", "changed values", "no class is known"],
)
def test_some_releases_tell_none(more: dict[str, Any], asked: dict[str, Any]) -> None:
    release = shoal.anonymize(people(1), spec_of(**asked), seed=1, **more)
    assert release.share is None
    assert release.qi.columns == ["gid", "place", "age", "sex"]
    assert "leanings" not in release.certificate
    with pytest.raises(InputError, match="no leanings"):
        release.count(shares="leanings")


def test_bands_of_numbers_count_right_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few single ages have enough carriers, and recipients ask for bands of them. Groups of one who
    is ill and five others, whoever they are."""
    random = np.random.default_rng(1)
    age = random.integers(18, 90, 20_000)
    ill = random.random(len(age)) < 0.004 * np.exp((age - 18) / 22)
    sex, other = random.choice(["f", "m"], len(age)), random.choice(["cold", "none"], len(age))
    frame = pl.DataFrame({"age": age, "sex": sex, "state": np.where(ill, "ill", other)})
    spec = Spec(qi=("age", "sex"), sensitive="state", protect=["ill"], r=3, min_support=30)
    table, groups = Table.from_frame(frame, spec), np.full(len(age), -1, np.int32)
    groups[ill] = np.arange(ill.sum())
    partners = random.permutation(np.flatnonzero(~ill))[: 5 * ill.sum()]
    groups[partners] = np.repeat(np.arange(ill.sum()), 5)
    grouping = Grouping.of_rows(table, groups)
    old = np.asarray(table.qi[0].values.to_numpy())[table.signatures[grouping.signature, 0]] >= 72

    def counted() -> float:
        told = fit_leanings(table, Knowledge.of(table), grouping, seed=1)
        assert told is not None
        return float((told.share * grouping.rows)[old].sum())

    true = int(ill[age >= 72].sum())
    assert counted() == pytest.approx(true, rel=0.15)
    monkeypatch.setattr("shoal.release.leanings.BANDS", ())
    assert counted() < 0.8 * true


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_bands_follow_the_numbers_and_have_about_as_many_people(seed: int) -> None:
    random = np.random.default_rng(seed)
    size = int(random.integers(30, 400))
    number = random.integers(0, int(random.integers(2, 60)), size).astype(np.float64)
    dose = pl.Series(number).set(pl.Series(random.random(size) < 0.1), None)
    frame = pl.DataFrame({"dose": dose, "v": random.choice(["x", "y"], size)})
    table = Table.from_frame(frame, Spec(qi=["dose"], sensitive="v", protect=["x"], r=2))
    shown = table.qi[0].values
    for index, bands in zip(classes_told_of(table, []), BANDS, strict=False):
        found = pl.DataFrame({"dose": shown.gather(table.signatures[:, 0]), "band": index})
        assert (found.filter(pl.col("dose").is_null())["band"] == 0).all()
        there = found.drop_nulls().sort("dose")
        assert there["band"].is_sorted()
        assert there["band"].is_between(1, bands).all()
        people = frame.drop_nulls().join(there, on="dose").group_by("band").len()["len"]
        largest = frame.drop_nulls().group_by("dose").len()["len"].max()
        assert people.max() <= frame.drop_nulls().height / bands + largest


def test_few_carriers_are_not_told_of() -> None:
    release = shoal.anonymize(people(1, rows=600), spec_of(), seed=1)
    assert release.share is None


def test_a_large_release_is_fitted_to_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table.from_frame(people(3, rows=20_000), spec_of())
    release = shoal.anonymize(table, seed=3, leanings=False)
    assert release.grouping is not None
    monkeypatch.setattr("shoal.release.leaning_fit.MOST_LINES", 4_000)
    told = fit_leanings(table, Knowledge.of(table), release.grouping, seed=1)
    assert told is not None
    shown = told.beside(release.qi_runs, release.grouping)
    made = replace(release, qi_held=shown, share=told.column)
    classes = KnownClasses.of(table)
    leaning, equal = classes.errors(made.coded_leaning), classes.errors(made.coded)
    assert leaning.average is not None
    assert equal.average is not None
    assert leaning.average < equal.average


def test_they_are_saved_listed_and_read_again(release: Release, tmp_path: Path) -> None:
    release.save(tmp_path / "release")
    loaded = Release.load(tmp_path / "release")
    assert loaded.qi["share"].equals(release.qi["share"])
    where = {"state": "ill", "place": "east"}
    assert loaded.count(where) == pytest.approx(release.count(where))
    listed = loaded.table().filter((pl.col("state") == "ill") & (pl.col("place") == "east"))
    assert listed["weight"].sum() == pytest.approx(release.count(where))
    page = (tmp_path / "release" / "README.txt").read_text("utf-8")
    assert "qi.csv: gid, place, age, sex, share, one line per person" in page
    assert "how much of their group's carriers they count as" in " ".join(page.split())
    package = json.loads((tmp_path / "release" / "datapackage.json").read_text("utf-8"))
    share = package["resources"][0]["schema"]["fields"][-1]
    assert (share["name"], share["type"]) == ("share", "number")
    assert share["description"].startswith("how many of the group's carriers")


def test_wrong_shares_are_told_apart(release: Release) -> None:
    with pytest.raises(InputError, match="There are no shares"):
        release.count(shares="learnt")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no totals"):
        release.count(shares="totals")
