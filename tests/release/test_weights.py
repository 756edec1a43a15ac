"""Published weights: rounded, counted with, kept in every form and record, and held against."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import duckdb
import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.table import Table
from shoal.engines.duckdb import DuckDBEngine
from shoal.errors import InternalError
from shoal.groups import FormName, Grouping, Progress, silent
from shoal.release import Release
from shoal.release.record import rows_recorded
from shoal.release.regroup import regroup, regroup_cells
from shoal.release.tables import canonical
from shoal.release.utility.sql import sql_for_count
from shoal.release.weights import DIGITS, ROUNDING, rounded_down, weight_column
from tests.forging import edit, mend, refused
from tests.release.weighed import SPEC, Weighed, people

FORMS: tuple[FormName, ...] = ("bucketized", "generalized")
WHERES: tuple[dict[str, Any], ...] = (
    {},
    {"state": "ill"},
    {"state": "ill", "place": "west"},
    {"state": "flu", "place": "north", "age": (1, 2)},
    {"state": ["ill", "flu"], "age": 3},
    {"place": "south"},
)


@pytest.fixture(scope="module")
def release() -> Release:
    return shoal.anonymize(people(), SPEC, method=Weighed(), seed=3)


def slow_chances(release: Release) -> list[tuple[dict[str, Any], dict[str, float]]]:
    """Everybody, and the chance of each value of their group, person by person."""
    found = []
    for (gid,), lines in release.qi.group_by("gid", maintain_order=True):
        held = dict(release.sensitive.filter(gid=gid).select("state", "count").iter_rows())
        size, cases = sum(held.values()), held.get("ill", 0)
        total = lines["weight"].sum() if "weight" in lines.columns else 0.0
        for person in lines.iter_rows(named=True):
            weight = person.get("weight")
            chance = cases / size if weight is None else weight * cases / total
            values = {
                value: chance if value == "ill" else (1 - chance) * count / (size - cases)
                for value, count in held.items()
            }
            found.append((person, values))
    return found


def matches(person: dict[str, Any], where: dict[str, Any]) -> bool:
    for name, asked in where.items():
        if name == "state":
            continue
        wanted = range(asked[0], asked[1] + 1) if isinstance(asked, tuple) else [asked]
        if person[name] not in wanted:
            return False
    return True


def slow_count(release: Release, where: dict[str, Any]) -> tuple[float, float]:
    """Estimate and variance, written from the definition."""
    asked = where.get("state", ["ill", "flu", "cold"])
    asked = [asked] if isinstance(asked, str) else asked
    estimate, groups = 0.0, dict[int, list[tuple[bool, float]]]()
    for person, values in slow_chances(release):
        chance = sum(values.get(value, 0.0) for value in asked)
        inside = matches(person, where)
        estimate += chance * inside
        groups.setdefault(person["gid"], []).append((inside, chance * (1 - chance)))
    variance = 0.0
    for members in groups.values():
        spread = [d for _, d in members if d > 1e-12]
        n, all_of = len(spread), sum(spread)
        mine = sum(d for inside, d in members if inside and d > 1e-12)
        variance += (mine - mine**2 / all_of) * n / (n - 1) if n > 1 else 0.0
    return estimate, variance


@pytest.mark.parametrize("where", WHERES, ids=str)
def test_counts_go_by_weights(release: Release, where: dict[str, Any]) -> None:
    estimate, variance = slow_count(release, where)
    found = release.count(where)
    assert found == pytest.approx(estimate)
    assert found.standard_error == pytest.approx(variance**0.5, abs=1e-6)
    low, high = found.interval
    assert low <= found <= high
    assert high - found == pytest.approx(1.96 * found.standard_error)


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_sql_counts_the_same(
    release: Release, format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release.save(tmp_path / "out", format=format)
    monkeypatch.chdir(tmp_path / "out")
    for where in WHERES:
        ((estimate, error),) = duckdb.sql(sql_for_count(release, where, format=format)).fetchall()
        found = release.count(where)
        assert estimate == pytest.approx(found)
        assert error == pytest.approx(found.standard_error, abs=1e-5)
    page = Path("README.txt").read_text("utf-8")
    assert "weight in qi" in " ".join(page.split())
    *_, query = re.findall(r"^WITH .*?;$", page, re.DOTALL | re.MULTILINE)
    listed = duckdb.sql(query).pl()
    assert listed["weight"].sum() == pytest.approx(600)
    mine = listed.group_by("place", "age", "state").agg(pl.col("weight").sum())
    table = release.table()
    assert table.columns == ["place", "age", "state", "weight"]
    both = mine.with_columns(pl.col("age").cast(pl.Int64)).join(
        table.with_columns(pl.col("age").cast(pl.Int64)), on=["place", "age", "state"], how="full"
    )
    np.testing.assert_allclose(
        both["weight"].fill_null(0.0).to_numpy(), both["weight_right"].fill_null(0.0).to_numpy(),
        atol=1e-9,
    )  # fmt: skip


def test_a_kind_of_people_has_as_many_cases_as_its_weights_add_up_to() -> None:
    release = shoal.anonymize(people(), SPEC, method=Weighed(equal=False), seed=3)
    for place in ("north", "south", "west"):
        added = release.qi.filter(place=place)["weight"].sum()
        assert added == pytest.approx(release.count({"state": "ill", "place": place}), rel=1e-5)


def test_people_who_were_added_hold_other_values_only(release: Release) -> None:
    added = release.qi.filter(pl.col("weight") == 0)
    assert added.height > 100
    for person, values in slow_chances(release):
        if person["weight"] == 0:
            assert values["ill"] == 0
    assert sum(values.get("ill", 0.0) for _, values in slow_chances(release)) == pytest.approx(
        release.count({"state": "ill"})
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("record", ["rows", "cells"])
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_weights_survive_saving_and_the_private_record(
    form: FormName, record: Literal["rows", "cells"], format: str, tmp_path: Path
) -> None:
    frame, folder, private = people(2), tmp_path / "out", tmp_path / "private"
    made = shoal.anonymize(frame, SPEC, method=Weighed(form=form), seed=5)
    told = made.certificate["weights"]
    weighed = int(made.qi["weight"].is_not_null().sum())
    assert told == {"column": "weight", "digits": DIGITS, "people": weighed}
    made.save(folder, private=private, record=record, format=format)
    for table in (None, frame):
        assert shoal.verify(folder, table, private=private).confirmed
    loaded = Release.load(folder)
    assert loaded.qi.equals(made.qi.with_columns(pl.col(pl.Enum).cast(pl.String)))
    for where in WHERES:
        assert loaded.count(where) == pytest.approx(made.count(where))
    table = Table.from_frame(frame, SPEC)
    if record == "rows":
        again = regroup(loaded, table, *rows_recorded(private, table))
        attacked = shoal.attack(made, attackers=["weight"])
        assert not attacked.not_run
    else:
        again = regroup_cells(loaded, table, private)
    assert by_person(table, again) == by_person(table, made.made.grouping)


def by_person(table: Table, grouping: Grouping) -> Counter[Any]:
    """Everybody's group, as what is in it, with signature, value and weight."""
    assert grouping.weight is not None
    found: Counter[Any] = Counter()
    first = grouping.first_number
    lines = zip(
        grouping.group.tolist(), grouping.signature.tolist(), grouping.value.tolist(),
        np.nan_to_num(grouping.weight, nan=-1.0).tolist(), grouping.rows.tolist(), strict=True,
    )  # fmt: skip
    for group, signature, value, weight, rows in lines:
        for copy in range(grouping.copies[group]):
            found[int(first[group]) + copy, signature, value, weight] += rows
    return found


def test_every_engine_deals_weights_alike(tmp_path: Path) -> None:
    frame = people(3)
    frame.write_csv(tmp_path / "people.csv")
    made = [
        shoal.anonymize(frame, SPEC, method=Weighed(), seed=4),
        shoal.anonymize(tmp_path / "people.csv", SPEC, method=Weighed(), seed=4),
        shoal.anonymize(
            tmp_path / "people.csv", SPEC, method=Weighed(), seed=4, engine=DuckDBEngine()
        ),
    ]
    for number, one in enumerate(made):
        one.save(tmp_path / f"{number}", private=tmp_path / f"private-{number}", alone=True)
        assert (tmp_path / f"{number}" / "qi.csv").read_bytes() == (
            tmp_path / "0" / "qi.csv"
        ).read_bytes()
        rows = pl.read_parquet(tmp_path / f"private-{number}" / "row_groups.parquet")
        assert rows.equals(pl.read_parquet(tmp_path / "private-0" / "row_groups.parquet"))
    # Every row has the weight of a line of its group and attributes.
    shown = Counter(made[0].qi.select("gid", "place", "age", "weight").iter_rows())
    both = pl.concat([rows.select("gid", "weight"), frame], how="horizontal")
    kept = both.filter(pl.col("gid") > 0).select("gid", "place", "age", "weight")
    assert Counter(kept.iter_rows()) == shown
    sick = both.filter(state="ill")
    assert not (sick["weight"] == 0).any()


def test_groups_that_differ_by_weight_alone_are_two() -> None:
    frame = pl.DataFrame({"q": ["a", "a", "b", "b"] * 2, "v": ["x", "y", "y", "y"] * 2})
    spec = shoal.Spec(qi=("q",), sensitive="v", protect=("x",), r=2, min_support=2)
    table = Table.from_frame(frame, spec)
    groups = np.repeat(np.arange(2, dtype=np.int32), 4)
    weights = np.array([0.5, 0.5, 0.0, 0.0, 0.4, 0.2, 0.2, 0.2])
    grouping = canonical(table, Grouping.of_rows(table, groups, weights=weights))
    assert grouping.count == 2
    assert grouping.rows.tolist() == [1, 1, 2, 1, 1, 2]
    one_way = canonical(table, Grouping.of_rows(table, 1 - groups, weights=weights))
    assert grouping.weight is not None
    assert one_way.weight is not None
    np.testing.assert_array_equal(grouping.weight, one_way.weight)
    np.testing.assert_array_equal(grouping.signature, one_way.signature)


def test_a_column_of_that_name_gets_no_other_meaning() -> None:
    frame = people().rename({"place": "weight"})
    spec = SPEC.with_(qi=("weight", "age"))
    release = shoal.anonymize(frame, spec, method=Weighed(), seed=3)
    assert release.qi.columns == ["gid", "weight", "age", "(weight)"]
    assert release.weight == weight_column(spec) == "(weight)"
    other = shoal.anonymize(people(), SPEC, method=Weighed(), seed=3)
    assert release.count({"weight": "west", "state": "ill"}) == other.count(
        {"place": "west", "state": "ill"}
    )


def test_rounding_leaves_few_digits_and_lifts_nobody() -> None:
    random = np.random.default_rng(2)
    weight = np.concatenate([random.random(2_000) ** 6, 1 / np.arange(1, 200), [0.0, np.nan, 1.0]])
    shown = rounded_down(weight)
    assert np.isnan(shown[-2])
    known = ~np.isnan(weight)
    assert (shown[known] <= weight[known] * (1 + 1e-11)).all()
    assert (shown[known] >= weight[known] * (1 - ROUNDING)).all()
    np.testing.assert_array_equal(rounded_down(shown), shown)
    # Below, powers of ten are no longer exact.
    usual = shown[known & (shown > 1e-15)].tolist()
    assert all(float(f"{one:.{DIGITS}g}") == one for one in usual)


def test_weights_that_do_not_add_up_are_an_error_of_the_method() -> None:
    table = Table.from_frame(people(), SPEC)
    grouping = Weighed().anonymize(table)
    assert grouping.weight is not None
    for wrong in (grouping.weight * 0.9, np.where(np.arange(len(grouping.weight)) == 3, 2.0, 0.0)):
        with pytest.raises(InternalError):
            canonical(table, replace(grouping, weight=wrong))


# --- verify ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def honest(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("honest")
    release.save(folder / "release", private=folder / "private")
    assert shoal.verify(folder / "release", people(), private=folder / "private").confirmed
    return folder


def forged(honest: Path, tmp_path: Path, change: Any) -> Path:
    """The release with other weights, and all else made to fit."""
    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    frame = pl.read_csv(folder / "qi.csv", schema_overrides={"weight": pl.Float64})
    change(frame).write_csv(folder / "qi.csv")
    mend(folder)
    return folder


def first(frame: pl.DataFrame, condition: pl.Expr, weight: float | None) -> pl.DataFrame:
    """Another weight for the first line of which this is true."""
    place = frame.select(condition).to_series().fill_null(False).arg_max()
    mine = pl.int_range(pl.len()) == place
    return frame.with_columns(pl.when(mine).then(weight).otherwise("weight").alias("weight"))


CHANGES = {
    "too much": lambda frame: first(frame, pl.col("weight") > 0, 0.9),
    "too little": lambda frame: first(frame, pl.col("weight") > 0, 0.01),
    "missing": lambda frame: first(frame, pl.col("weight") > 0, None),
    "where none was": lambda frame: first(frame, pl.col("weight").is_null(), 0.5),
    "more than one": lambda frame: first(frame, pl.col("weight") > 0, 1.5),
    "less than nothing": lambda frame: first(frame, pl.col("weight") == 0, -0.1),
    "many digits": lambda frame: frame.with_columns(pl.col("weight") * (1 - 3e-7)),
    "scaled": lambda frame: frame.with_columns((pl.col("weight") * 0.99).round_sig_figs(6)),
    "no column": lambda frame: frame.drop("weight"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_weights_cannot_be_changed(honest: Path, tmp_path: Path, change: str) -> None:
    assert refused(forged(honest, tmp_path, CHANGES[change]))


def test_weights_are_those_that_the_certificate_tells_of(honest: Path, tmp_path: Path) -> None:
    def fewer(content: Any) -> None:
        content["weights"]["people"] -= 1

    def others(content: Any) -> None:
        content["weights"]["digits"] = 3

    def none(content: Any) -> None:
        del content["weights"]

    for number, change in enumerate((fewer, others, none)):
        folder = Path(shutil.copytree(honest / "release", tmp_path / f"{number}"))
        edit(folder, change)
        assert refused(folder)


def with_weights(tmp_path: Path, weights: list[float], values: str, **spec: Any) -> Path:
    """A release of one group and of people alone."""
    frame = pl.DataFrame({"q": list("aaabbbcc"), "v": list(values)})
    asked = shoal.Spec(qi=("q",), sensitive="v", protect=("x",), r=2, min_support=2, **spec)

    class One(Weighed):
        def anonymize(self, table: Table, **_: Any) -> Grouping:
            groups = np.array([0, 0, 0, 0, 0, 0, 1, 2], np.int32)
            told = np.array([*weights, np.nan, np.nan])
            return Grouping.of_rows(table, groups, weights=told)

    made = shoal.anonymize(frame, asked, method=One(), seed=1)
    made.save(tmp_path / "one", private=tmp_path / "private")
    (tmp_path / "frame.csv").write_text(frame.write_csv())
    return tmp_path / "one"


def failed(folder: Path, **given: Any) -> list[tuple[str, str]]:
    found = shoal.verify(folder, **given)
    return [(one.name, one.detail) for one in found.checks if not one.passed]


def test_people_who_are_alike_have_one_weight_or_none(tmp_path: Path) -> None:
    folder = with_weights(tmp_path, [0.4, 0.2, 0.0, 0.2, 0.2, 0.0], "xyyyyyyy")
    assert failed(folder) == [("weights", "people of a group who are alike count differently")]


def test_by_the_table_nobody_is_above_one_in_r_and_what_was_known(tmp_path: Path) -> None:
    folder = with_weights(tmp_path, [0.6, 0.0, 0.0, 0.2, 0.2, 0.0], "xyyyyyyy")
    found = failed(folder, table=pl.read_csv(tmp_path / "frame.csv"))
    assert ("weights of the table", "they put 1 people above their limit") in found


def test_nobody_counts_as_more_than_one_in_r_or_far_more_than_known(tmp_path: Path) -> None:
    """All counts say .6 of a, whose limit is 6/7, and .2 of b, whose limit is 1/r."""
    frame = pl.DataFrame({"q": ["a"] * 5 + ["b"] * 10, "v": list("xxxyy") + list("xx") + ["y"] * 8})
    spec = shoal.Spec(qi=("q",), sensitive="v", protect=("x",), r=2, min_support=2, limit="prior")
    for name, weights, above in (
        ("within", [0.59] * 5 + [0.205] * 10, 0),
        ("above", [0.1] * 5 + [0.5625] * 8 + [0.0] * 2, 8),
        ("by chance", [0.85] * 5 + [0.075] * 10, 0),
        ("by far", [0.86] * 5 + [0.07] * 10, 5),
    ):
        made = shoal.anonymize(frame, spec, method=All(tuple(weights)), seed=1)
        made.save(tmp_path / name, private=tmp_path / f"{name}-private", alone=True)
        assert not failed(tmp_path / name)
        found = dict(failed(tmp_path / name, table=frame))
        told = f"they put {above:,} people above their limit"
        assert found.get("weights of the table") == (told if above else None)


@dataclass(frozen=True)
class All:
    """Everybody in one group, with these weights by row."""

    weights: tuple[float, ...]
    name: str = "all"

    def anonymize(self, table: Table, *, seed: int = 0, progress: Progress = silent) -> Grouping:
        groups = np.zeros(table.rows, np.int32)
        return Grouping.of_rows(table, groups, weights=np.array(self.weights))


def test_whoever_has_an_event_has_a_weight(tmp_path: Path) -> None:
    """Seen from the table where everybody of a kind counts as nothing, else from the record."""
    folder = with_weights(tmp_path, [0.0, 0.0, 0.0, 0.5, 0.5, 0.0], "xyyyyyyy")
    frame = pl.read_csv(tmp_path / "frame.csv")
    assert not failed(folder)
    name = "weights of the table"
    assert (name, "more people have an event than have a weight") in failed(folder, table=frame)


def test_whoever_has_an_event_has_a_weight_by_the_record(tmp_path: Path) -> None:
    frame = people()
    made = shoal.anonymize(frame, SPEC, method=Weighed(wrong=True), seed=3)
    made.save(tmp_path / "out", private=tmp_path / "private")
    name, found = "weights of the table", failed(tmp_path / "out", table=frame)
    assert not found
    found = failed(tmp_path / "out", table=frame, private=tmp_path / "private")
    assert found == [(name, "1 people with an event count as nothing")]


def test_the_private_record_has_the_same_weights(honest: Path, tmp_path: Path) -> None:
    private = Path(shutil.copytree(honest / "private", tmp_path / "private"))
    rows = pl.read_parquet(private / "row_groups.parquet")
    rows.with_columns(pl.col("weight").sort()).write_parquet(private / "row_groups.parquet")
    found = failed(honest / "release", table=people(), private=private)
    assert ("weights of the table", "the private record has others") in found


def test_the_command_says_that_there_are_weights(release: Release) -> None:
    assert json.dumps(release.certificate["weights"])
    assert "have a weight" in " ".join(readme(release).split())


def readme(release: Release) -> str:
    from shoal.release.readme import readme_text

    return readme_text(release, {name: f"{name}.csv" for name in release.frames})
