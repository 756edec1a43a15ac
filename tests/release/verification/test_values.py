"""Published values against the table: what a forger of values can do, and what gives him away."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.groups.ragged import Counts
from shoal.release import GID, Release
from shoal.release.facts import release_facts
from shoal.release.record import Record
from shoal.release.verification.files import Claim
from shoal.release.verification.values import (
    PublishedLines,
    _check_record,
    _check_single,
    _check_totals,
)
from shoal.release.verification.verify import Verification, verify

SET = Event(("x1", "x2"), label="x")
SPEC = Spec(qi=("q", "p"), sensitive="s", protect=(SET, Event(("y",))), r=2, min_support=20)


def frame(seed: int = 1, rows: int = 400) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    values = random.choice([*"abcdef", "x1", "x2", "y"], rows, p=[0.14] * 6 + [0.04, 0.04, 0.08])
    return pl.DataFrame(
        {"q": random.integers(0, 4, rows), "p": random.choice([*"mf"], rows), "s": values}
    )


FRAME = frame()


@pytest.fixture(scope="module")
def release() -> Release:
    return shoal.anonymize(FRAME, SPEC, condition="bound", seed=0)


def failures(found: Verification) -> list[str]:
    """What is wrong besides the order, which a forger could mend."""
    return [check.name for check in found.checks if not check.passed and check.name != "order"]


def saved(release: Release, home: Path, **changed: pl.DataFrame) -> Path:
    """A folder as a forger would write it: other tables, with hashes that fit."""
    forged = replace(
        release,
        qi_held=changed.get("qi", release.qi),
        sensitive_held=changed.get("sensitive", release.sensitive),
        members=changed.get("members", release.members),
    )
    facts = release_facts(release, release.made.table)
    forged.save(home / "release", private=home / "private", facts=facts)
    return home / "release"


def relabelled(release: Release, gid: int, old: str, new: str) -> pl.DataFrame:
    data = release.sensitive.with_columns(pl.col("s").cast(pl.String))
    there = (pl.col(GID) == gid) & (pl.col("s") == old)
    assert data.filter(there).height == 1
    changed = data.with_columns(pl.when(there).then(pl.lit(new)).otherwise("s").alias("s"))
    return changed.group_by(GID, "s").agg(pl.col("count").sum()).sort(GID, "s")


def alone(release: Release, value: str, place: int = 0) -> int:
    """A group that publishes nothing but this value: of all such, that in this place."""
    single = release.sensitive.filter(pl.len().over(GID) == 1).filter(pl.col("s") == value)
    return int(single[GID][place])


def test_an_honest_release_passes_with_and_without_the_private_record(
    release: Release, tmp_path: Path
) -> None:
    folder = saved(release, tmp_path)
    found = verify(folder, table=FRAME)
    assert found.confirmed, failures(found)
    assert "private record" not in [check.name for check in found.checks]
    whole = verify(folder, table=FRAME, private=tmp_path / "private")
    assert whole.confirmed, failures(whole)
    assert "private record" in [check.name for check in whole.checks]


def test_a_value_published_too_often_is_caught(release: Release, tmp_path: Path) -> None:
    folder = saved(release, tmp_path, sensitive=relabelled(release, alone(release, "a"), "a", "b"))
    assert not failures(verify(folder))
    found = verify(folder, table=FRAME)
    assert "values of the table" in failures(found)
    assert '"b" is published more often than it occurs in the table' in str(found.checks)


def test_people_with_each_other_s_values_are_caught(release: Release, tmp_path: Path) -> None:
    """Two people of different attributes, each published alone, change values."""
    a, b = alone(release, "a"), alone(release, "b", -1)
    once = relabelled(release, a, "a", "b")
    there = (pl.col(GID) == b) & (pl.col("s") == "b")
    swapped = once.with_columns(pl.when(there).then(pl.lit("a")).otherwise("s").alias("s"))
    assert not release.qi.filter(pl.col(GID) == a)[["q", "p"]].equals(
        release.qi.filter(pl.col(GID) == b)[["q", "p"]]
    )
    folder = saved(release, tmp_path, sensitive=swapped)
    told = ["groups of one value", "groups of one signature"]
    assert failures(verify(folder, table=FRAME)) == told
    whole = failures(verify(folder, table=FRAME, private=tmp_path / "private"))
    assert whole == [*told, "private record"]


def test_values_moved_between_larger_groups_are_caught(release: Release, tmp_path: Path) -> None:
    """Its groups are of people with the same attributes, so that the table tells."""
    held = release.sensitive.filter((pl.col("s").is_in(["x", "y"])).any().over(GID))
    held = held.filter(pl.col("s").is_in([*"abcdef"]) & (pl.col("count") == 1))
    first = held.row(0, named=True)
    other = held.filter((pl.col("s") != first["s"]) & (pl.col(GID) != first[GID]))
    second = other.row(0, named=True)
    swap = {first[GID]: second["s"], second[GID]: first["s"]}
    data = release.sensitive.with_columns(pl.col("s").cast(pl.String))
    moved = {(first[GID], first["s"]), (second[GID], second["s"])}
    lines = [
        (gid, swap[gid] if (gid, value) in moved else value, count)
        for gid, value, count in data.iter_rows()
    ]
    swapped = pl.DataFrame(lines, schema=data.schema, orient="row")
    folder = saved(release, tmp_path, sensitive=swapped)
    told = ["groups of one signature"]
    assert failures(verify(folder, table=FRAME)) == told
    found = verify(folder, table=FRAME, private=tmp_path / "private")
    assert failures(found) == [*told, "private record"]


def test_people_who_change_groups_are_caught_by_the_record(
    release: Release, tmp_path: Path
) -> None:
    folder = saved(release, tmp_path)
    file = tmp_path / "private" / "row_groups.parquet"
    rows = pl.read_parquet(file)
    rows.with_columns(pl.col(GID).reverse()).write_parquet(file)
    assert failures(verify(folder, table=FRAME, private=tmp_path / "private"))[-1:] == [
        "private record"
    ]


def instead_of_x1(value: str) -> Callable[[pl.DataFrame], pl.DataFrame]:
    return lambda members: members.with_columns(pl.col("value").replace("x1", value))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (instead_of_x1("a"), "does not list"),
        (instead_of_x1("x2"), "does not list"),
        (lambda members: members.with_columns(pl.col("count").reverse()), "occurs"),
        (
            lambda members: members.with_columns(
                count=pl.when(pl.col("value") == "x1").then(0).otherwise(pl.col("count").sum())
            ),
            "occurs",
        ),
    ],
    ids=["value of no event", "value twice", "counts swapped", "all in one"],
)
def test_members_that_are_not_the_table_s_are_caught(
    release: Release, change: Any, said: str, tmp_path: Path
) -> None:
    forged = change(release.members)
    assert not forged.equals(release.members)
    folder = saved(release, tmp_path, members=forged)
    found = verify(folder, table=FRAME)
    assert failures(found) == ["members of the table"]
    assert said in str(found.checks)


def test_saying_that_values_were_changed_does_not_hide_more_changes(
    release: Release, tmp_path: Path
) -> None:
    sensitive = relabelled(release, alone(release, "a"), "a", "b")
    folder = saved(release, tmp_path, sensitive=relabelled_again(sensitive))
    certificate = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    certificate["rows"]["values_changed"] = 1
    assert failures(verify(folder, table=FRAME))
    certificate["method"]["name"] = "mask"
    (folder / "certificate.json").write_text(json.dumps(certificate), encoding="utf-8")
    assert "values of the table" in failures(verify(folder, table=FRAME))


def relabelled_again(sensitive: pl.DataFrame) -> pl.DataFrame:
    gid = sensitive.filter(pl.len().over(GID) == 1).filter(pl.col("s") == "a")[GID][0]
    there = (pl.col(GID) == gid) & (pl.col("s") == "a")
    return sensitive.with_columns(pl.when(there).then(pl.lit("b")).otherwise("s").alias("s"))


def test_a_count_below_one_is_caught(release: Release, tmp_path: Path) -> None:
    gid = alone(release, "a")
    extra = pl.DataFrame({GID: [gid, gid], "s": ["b", "c"], "count": [1, -1]})
    data = release.sensitive.with_columns(pl.col("s").cast(pl.String))
    lines = pl.concat([data, extra.cast(dict(data.schema))])  # type: ignore[arg-type]
    assert "group sizes" in failures(verify(saved(release, tmp_path, sensitive=lines)))


@pytest.mark.parametrize("method", ["mondrian", "anatomy", "injector", "t-closeness"])
def test_honest_releases_of_other_methods_pass(method: str, tmp_path: Path) -> None:
    made = shoal.anonymize(FRAME, SPEC, method=method)
    made.save(tmp_path / "release", private=tmp_path / "private")
    found = verify(tmp_path / "release", table=FRAME, private=tmp_path / "private")
    assert found.confirmed, failures(found)


def test_an_honest_release_with_changed_values_passes(tmp_path: Path) -> None:
    made = shoal.anonymize(FRAME, SPEC, method="mask", m=12)
    assert made.certificate["rows"]["values_changed"] > 0
    made.save(tmp_path / "release", private=tmp_path / "private")
    found = verify(tmp_path / "release", table=FRAME, private=tmp_path / "private")
    assert found.confirmed, failures(found)


# --- The fast checks against slow twins ------------------------------------------------------


def random_lines(table: Table, random: np.random.Generator) -> tuple[PublishedLines, np.ndarray]:
    """A true grouping of the table, pooled here and there, and then perhaps a few values moved."""
    rows = random.integers(-1, 6, table.rows) * 7
    ids = np.unique(rows[rows >= 0])
    kept = np.flatnonzero(rows >= 0)
    pools = random.random(len(ids)) < 0.3
    counted: Counter[tuple[int, int]] = Counter()
    for row in kept:
        group = int(np.searchsorted(ids, rows[row]))
        value = int(table.row_value[row])
        hidden = pools[group] and table.value_event[value] < 0
        counted[group, len(table.values) if hidden else value] += 1
    for _ in range(random.integers(0, 3)):
        group, value = list(counted)[random.integers(len(counted))]
        counted[group, value] -= 1
        counted[group, int(random.integers(len(table.values) + 1))] += 1
        counted += Counter()
    keys = sorted(counted)
    lines = PublishedLines(
        ids=ids,
        copies=np.ones(len(ids), np.int64),
        group=np.searchsorted(ids, rows[kept]),
        signature=table.row_signature[kept],
        people=np.ones(len(kept), np.int64),
        values=Counts.of_lines(
            np.array([group for group, _ in keys], np.int32),
            np.array([value for _, value in keys], np.int32),
            np.array([counted[key] for key in keys]),
            len(ids),
        ),
    )
    return lines, rows


def slow_excess(published: Counter[Any], there: Counter[Any]) -> int:
    return sum((published - there).values())


def slow_checks(table: Table, lines: PublishedLines, rows: np.ndarray) -> tuple[int, int, int]:
    """By how much totals, groups of one value and the record exceed the table."""
    pooled = len(table.values)
    fill = [*(int(event) < 0 for event in table.value_event), True]
    values: dict[int, list[int]] = {}
    for group, value, count in zip(
        lines.values.owner, lines.values.code, lines.values.count, strict=True
    ):
        values.setdefault(int(group), []).extend([int(value)] * int(count))
    shown = [value for held in values.values() for value in held]
    true = table.row_value.tolist()
    totals = max(
        slow_excess(Counter(v for v in shown if v != pooled), Counter(true)),
        sum(fill[v] for v in shown) - sum(fill[v] for v in true),
    )
    cells = Counter(zip(table.row_signature.tolist(), true, strict=True))
    free = Counter(s for s, v in cells.elements() if fill[v])
    sure = [
        (int(signature), values[int(group)][0])
        for group, signature in zip(lines.group, lines.signature, strict=True)
        if len(set(values[int(group)])) == 1
    ]
    single = max(
        slow_excess(Counter(one for one in sure if one[1] != pooled), cells),
        slow_excess(Counter(s for s, v in sure if fill[v]), free),
    )
    record = 0
    for group, gid in enumerate(lines.ids):
        mine = table.row_value[rows == gid].tolist()
        if pooled in values[group]:
            mine = [pooled if fill[v] else v for v in mine]
        record += slow_excess(Counter(values[group]), Counter(mine))
    return totals, single, record


@pytest.mark.parametrize("seed", range(60))
def test_fast_checks_agree_with_slow_ones(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = int(random.integers(4, 12))
    data = pl.DataFrame(
        {
            "q": random.integers(0, 2, rows),
            "s": ["a", "y", "b", *random.choice([*"aby"], rows - 3)],
        }
    )
    spec = Spec(qi=("q",), sensitive="s", protect=(Event(("y",)),), r=2, min_support=1)
    table = Table.from_frame(data, spec)
    lines, gids = random_lines(table, random)
    if not len(lines.ids):
        return
    totals, single, record = slow_checks(table, lines, gids)
    for changed in range(3):
        found: list[Claim] = [
            _check_totals(table, lines, changed),
            _check_single(table, lines, changed),
            _check_record(table, lines, Record.of_rows(gids, None, table), changed),
        ]
        assert [check.passed for check in found] == [
            totals <= changed,
            single <= changed,
            record <= changed,
        ]
