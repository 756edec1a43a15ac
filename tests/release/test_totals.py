"""Totals tell what the adversary knows anyway: nothing about few people, nothing above 1/r."""

from __future__ import annotations

import json
from itertools import chain, combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.knowledge import Knowledge
from shoal.release.totals import event_totals, told_values
from shoal.spec import Spec
from shoal.table import Table
from shoal.verification.verify import verify
from tests.forging import mend


def crossed(seed: int, rows: int, support: int) -> Table:
    """Two attributes of which the second is mostly a coarser reading of the first."""
    rng = np.random.default_rng(seed)
    town = rng.integers(7, size=rows)
    stray = rng.random(rows) < rng.choice([0.0, 0.02, 0.1, 1.0])
    county = np.where(stray, rng.integers(4, size=rows), town // 2)
    carries = rng.random(rows) < 0.15
    frame = pl.DataFrame(
        {
            "town": [f"t{code}" for code in town],
            "county": [f"c{code}" for code in county],
            "s": np.where(carries, "event", "none"),
        }
    )
    spec = Spec(
        qi=("town", "county"), sensitive="s", protect=(("event",),), r=3, min_support=support
    )
    return Table.from_frame(frame, spec)


def blocks(table: Table, place: int, told: list[int]) -> list[set[int]]:
    """The signatures with each value that is told, and those of all others together."""
    codes = table.signatures[:, place]
    found = [set(np.flatnonzero(codes == code).tolist()) for code in told]
    rest = set(range(len(codes))).difference(*found)
    return [*found, rest] if rest else found


def unions(parts: list[set[int]]) -> list[set[int]]:
    sizes = range(len(parts) + 1)
    chosen = chain.from_iterable(combinations(parts, size) for size in sizes)
    return [set().union(*some) for some in chosen]


@pytest.mark.parametrize("seed", range(40))
def test_no_difference_of_totals_is_about_few_people(seed: int) -> None:
    support = 5 + seed % 20
    table = crossed(seed, 150 + 10 * seed, support)
    told = told_values(table, [0, 1])
    parts = [blocks(table, place, values) for place, values in enumerate(told)]
    for some in unions(parts[0]):
        for others in unions(parts[1]):
            people = int(table.signature_rows[sorted(some ^ others)].sum())
            assert people == 0 or people >= support
    for place, values in enumerate(told):
        for part in blocks(table, place, values):
            rows = np.isin(table.everybody.signature, sorted(part))
            carriers = int((table.value_event[table.everybody.value[rows]] >= 0).sum())
            if values:
                assert rows.sum() >= support
                assert carriers * 3 <= rows.sum()


def test_both_attributes_are_told_for_some_tables_and_held_back_for_others() -> None:
    tables = [crossed(seed, 150 + 10 * seed, 5 + seed % 20) for seed in range(40)]
    told = [tuple(map(len, told_values(table, [0, 1]))) for table in tables]
    assert sum(min(some) > 0 for some in told) >= 10
    assert sum(max(some) < 7 for some in told) >= 5


def test_most_totals_are_told_where_nothing_speaks_against_it() -> None:
    table = crossed(3, 4_000, 20)
    rng = np.random.default_rng(0)
    frame = table.native.with_columns(pl.Series("county", rng.choice(list("ABCD"), 4_000)))
    free = Table.from_frame(frame, table.spec)
    assert [len(values) for values in told_values(free, [0, 1])] == [7, 4]
    told = event_totals(free, Knowledge.of(free))
    assert told.height == 11
    for attribute, value, event, count in told.iter_rows():
        assert count == frame.filter(pl.col(attribute) == value, pl.col("s") == event).height


def test_an_attribute_with_a_value_above_the_limit_is_not_told() -> None:
    frame = pl.DataFrame(
        {
            "job": ["miner"] * 100 + ["clerk"] * 300 + ["baker"] * 200,
            "s": (["event"] * 60 + ["none"] * 40)
            + (["none"] * 270 + ["event"] * 30)
            + ["none"] * 200,
        }
    )
    spec = Spec(qi=("job",), sensitive="s", protect=(("event",),), r=2, min_support=50)
    table = Table.from_frame(frame, spec)
    told = event_totals(table, Knowledge.of(table))
    assert told.is_empty()
    fewer = Table.from_frame(frame.filter(pl.col("job") != "miner"), spec)
    told = event_totals(fewer, Knowledge.of(fewer))
    assert told.rows() == [("job", "baker", "event", 0), ("job", "clerk", "event", 30)]


def test_two_columns_that_differ_for_two_people_are_not_told() -> None:
    """Each way one person has another town; the totals' difference would tell who carries. Of two
    values each, without the smaller one the other stands for the rest, so that nothing is left."""
    rng = np.random.default_rng(5)
    home = rng.choice(["north", "south"], 3_000)
    billing = home.copy()
    billing[[np.argmax(home == "north"), np.argmax(home == "south")]] = ["south", "north"]
    event = np.where(rng.random(3_000) < 0.05, "event", "none")
    frame = pl.DataFrame({"home": home, "billing": billing, "s": event})
    spec = Spec(qi=("home", "billing"), sensitive="s", protect=(("event",),), r=3)
    table = Table.from_frame(frame, spec)
    told = event_totals(table, Knowledge.of(table))
    assert told.is_empty()


def test_knowledge_from_elsewhere_is_not_told() -> None:
    table = crossed(0, 500, 10)
    chances = np.full((len(table.signatures), len(table.values)), 1 / len(table.values))
    assert event_totals(table, Knowledge.model(table, "flat", chances)).is_empty()


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return shoal.datasets.hospital(3_000, seed=1)


SPEC = Spec(qi=("sex", "region"), sensitive="diagnosis", protect=(("HIV", "Schizophrenia"),), r=4)


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_totals_are_saved_described_read_and_verified(
    people: pl.DataFrame, tmp_path: Path, format: str
) -> None:
    # Where groups leave little room, scaling ends a few thousandths short of a total.
    release = shoal.anonymize(people, SPEC, totals=True, seed=1)
    release.save(tmp_path / "release", format=format, private=tmp_path / "private")
    again = shoal.Release.load(tmp_path / "release")
    assert again.totals.equals(release.totals)
    assert again.certificate["totals"] == {
        "told": {"sex": 2, "region": 8},
        "linked_above": release.coded_raked.linked,
    }
    where = {"sex": "Female", "diagnosis": "HIV|Schizophrenia"}
    true = (
        people.filter(sex="Female")
        .filter(pl.col("diagnosis").is_in(["HIV", "Schizophrenia"]))
        .height
    )
    assert again.count(where) == pytest.approx(true, rel=1e-3)
    package = json.loads((tmp_path / "release" / "datapackage.json").read_text(encoding="utf-8"))
    assert "totals" in [resource["name"] for resource in package["resources"]]
    readme = (tmp_path / "release" / "README.txt").read_text(encoding="utf-8")
    assert f"totals.{format}: how many people with a value of an attribute" in readme
    assert verify(tmp_path / "release", table=people).confirmed


def test_totals_are_told_only_when_asked_for(people: pl.DataFrame, tmp_path: Path) -> None:
    release = shoal.anonymize(people, SPEC)
    release.save(tmp_path / "release")
    assert not (tmp_path / "release" / "totals.csv").exists()
    assert release.certificate["totals"] == {"told": {}, "linked_above": 0}
    assert "totals" not in (tmp_path / "release" / "README.txt").read_text(encoding="utf-8")
    assert verify(tmp_path / "release", table=people).confirmed


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("sex,Female,HIV|Schizophrenia,", "sex,Female,HIV|Schizophrenia,9", "totals"),
        ("sex,Female,", "sex,Divers,", "totals of the table"),
        ("sex,Female,HIV|Schizophrenia", "sex,Female,other", "totals"),
        ("sex,Female,", "age,Female,", "totals"),
        ("sex,Female,HIV|Schizophrenia,", "sex,Male,HIV|Schizophrenia,", "totals"),
        ("sex,Female,HIV|Schizophrenia,", "sex,Female,HIV|Schizophrenia,-", "totals"),
    ],
)
def test_edited_totals_are_refuted(
    people: pl.DataFrame, tmp_path: Path, old: str, new: str, wrong: str
) -> None:
    folder = tmp_path / "release"
    shoal.anonymize(people, SPEC, totals=True).save(folder)
    file = folder / "totals.csv"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    mend(folder)
    found = verify(folder, table=people)
    assert [check.name for check in found.checks if not check.passed] == [wrong]


def test_what_totals_tell_all_together_is_said_and_checked(tmp_path: Path) -> None:
    """Most miners in town A carry it, by the totals of jobs and towns together; each alone tells
    little."""
    rng = np.random.default_rng(0)
    job, town = rng.choice(["miner", "clerk"], 4_000), rng.choice(["A", "B"], 4_000)
    odds = np.where(job == "miner", 6.0, 0.3) * np.where(town == "A", 6.0, 0.3) / 20
    frame = pl.DataFrame(
        {
            "job": job,
            "town": town,
            "s": np.where(rng.random(4_000) < odds / (1 + odds), "event", "none"),
        }
    )
    spec = Spec(qi=("job", "town"), sensitive="s", protect=(("event",),), r=2, max_attributes=1)
    release = shoal.anonymize(frame, spec, method="anatomy", l=2, totals=True)
    linked = release.certificate["totals"]["linked_above"]
    assert linked == release.coded_raked.linked > 100
    release.save(tmp_path / "release")
    assert verify(tmp_path / "release", table=frame).confirmed
    readme = (tmp_path / "release" / "README.txt").read_text(encoding="utf-8")
    assert f"by the totals links {linked:,} people above 1/r" in " ".join(readme.split())
    file = tmp_path / "release" / "certificate.json"
    claims = json.loads(file.read_text(encoding="utf-8"))
    claims["totals"]["linked_above"] = 0
    file.write_text(json.dumps(claims), encoding="utf-8")
    found = verify(tmp_path / "release")
    assert [check.name for check in found.checks if not check.passed] == ["totals"]


def test_ranges_go_without_totals(people: pl.DataFrame) -> None:
    with pytest.raises(InputError) as caught:
        shoal.anonymize(people, SPEC, form="generalized", totals=True)
    assert caught.value.code == "totals-form"
