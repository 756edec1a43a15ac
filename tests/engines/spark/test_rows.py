"""Dealing on Spark: every group gets the people that it counts, and the same ones each time."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.engines.spark import SparkEngine
from shoal.engines.spark.rows import marks_of
from shoal.errors import InputError
from shoal.methods.registry import make_method
from shoal.release.tables import build_tables, canonical
from tests.engines.kinds import hospital
from tests.engines.test_dealing import random_grouping
from tests.release import weighed


@pytest.mark.parametrize("seed", range(12))
def test_marks_deal_everybody_once(seed: int) -> None:
    """Against the counts of a grouping; counted lines are finer than cells."""
    table, grouping = random_grouping(seed)
    random = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "q": table.qi[0].values.gather(table.signatures[table.row_signature, 0]),
            "v": table.members.values.gather(table.row_member),
            "fine": random.integers(0, 3, table.rows),
        }
    )
    lines = frame.group_by("q", "v", "fine", maintain_order=True).len("rows")
    counted = Table.from_cells(lines, table.spec)
    counts = lines["rows"].cast(pl.Int64).to_numpy()
    marks = marks_of(counted, grouping, counts, seed=seed)
    found: Counter[tuple[int, ...]] = Counter()
    for line in range(lines.height):
        mine = np.flatnonzero(marks.line == line)
        mine = mine[np.argsort(marks.start[mine])]
        for rank in range(counts[line]):
            mark = mine[np.searchsorted(marks.start[mine], rank, side="right") - 1]
            copy = (marks.taken[mark] + rank - marks.start[mark]) // marks.each[mark]
            gid = marks.gid[mark] if marks.gid[mark] < 0 else marks.gid[mark] + copy
            assert counted.counted is not None
            signature, member = (codes[line] for codes in counted.counted)
            found[int(gid), int(signature), int(counted.member_value[member])] += 1
    expected: Counter[tuple[int, ...]] = Counter()
    for line, group in enumerate(grouping.group):
        for copy in range(grouping.copies[group]):
            gid = int(grouping.first_number[group]) + copy + 1
            key = (gid, int(grouping.signature[line]), int(grouping.value[line]))
            expected[key] += int(grouping.rows[line])
    assert Counter({key: n for key, n in found.items() if key[0] > 0}) == expected
    assert found.total() == table.rows


def test_rows_are_dealt_on_the_cluster(spark: Any, tmp_path: Path) -> None:
    frame, spec = hospital(4000)
    spec = spec.with_(recode={"age": {"bands": 20}})
    frame = frame.with_columns(pl.when(pl.col("age") > 80).then(None).otherwise("age").alias("age"))
    frame.write_parquet(tmp_path / "table.parquet")
    engine, source = SparkEngine(spark), spark.read.parquet(str(tmp_path / "table.parquet"))
    table = engine.count(source, spec)
    grouping = canonical(table, make_method("art", {}).anonymize(table, seed=1))
    one, other = (read(engine.row_groups(table, grouping, seed=seed)) for seed in (1, 2))
    assert one.columns == ["patient", "gid", "weight"]
    assert one["patient"].equals(frame["patient"].sort())
    assert not other.equals(one)
    check_groups(frame.join(one, on="patient"), table, grouping)
    again = engine.row_groups(table, grouping, seed=1)
    engine.write_rows(again, tmp_path / "rows.parquet", rows=4000)
    parts = sorted((tmp_path / "rows.parquet").iterdir())
    assert [part.name for part in parts] == [f"part-{n:05}.parquet" for n in range(len(parts))]
    assert pl.read_parquet(parts).sort("patient").equals(one)


def test_weights_are_dealt_with_the_rows(spark: Any, tmp_path: Path) -> None:
    frame = weighed.people(4).with_row_index("patient")
    frame.write_parquet(tmp_path / "table.parquet")
    engine, source = SparkEngine(spark), spark.read.parquet(str(tmp_path / "table.parquet"))
    table = engine.count(source, weighed.SPEC.with_(identifiers=("patient",)))
    grouping = canonical(table, weighed.Weighed().anonymize(table, seed=1))
    dealt = read(engine.row_groups(table, grouping, seed=1))
    assert dealt.columns == ["patient", "gid", "weight"]
    both = frame.join(dealt, on="patient").filter(pl.col("gid") > 0)
    shown = build_tables(table, grouping, seed=1)[0].frame().select("gid", "place", "age", "weight")
    assert Counter(both.select(shown.columns).iter_rows()) == Counter(shown.iter_rows())
    assert not (both.filter(state="ill")["weight"] == 0).any()


def read(frame: Any) -> pl.DataFrame:
    found = pl.from_arrow(frame.toArrow())
    assert isinstance(found, pl.DataFrame)
    return found.sort("patient")


def check_groups(people: pl.DataFrame, table: Table, grouping: Any) -> None:
    """Whether groups hold whom they publish, and members are those that are told of."""
    here = Table.from_frame(people, table.spec.with_(recode={"age": {"bands": 20}}))
    gid = people["gid"].to_numpy()
    found = Counter(zip(gid.tolist(), here.row_signature.tolist(), here.row_value, strict=True))
    expected: Counter[Any] = Counter()
    for line, group in enumerate(grouping.group):
        for copy in range(grouping.copies[group]):
            number = int(grouping.first_number[group]) + copy + 1
            key = (number, int(grouping.signature[line]), int(grouping.value[line]))
            expected[key] += int(grouping.rows[line])
    assert Counter({key: n for key, n in found.items() if key[0] > 0}) == expected
    qi, _, members = build_tables(table, grouping, seed=1)[:3]
    published = people.filter(pl.col("gid") > 0)
    shown = qi.frame().select("gid", *(name for name in table.spec.qi if name != "age"), "weight")
    assert Counter(published.select(shown.columns).iter_rows()) == Counter(shown.iter_rows())
    told = dict(published["diagnosis"].value_counts().iter_rows())
    assert [told[value] for value in members["value"]] == members["count"].to_list()


def test_identifiers_must_tell_rows_apart(spark: Any) -> None:
    people = spark.range(40).selectExpr(
        "if(id < 2, null, id) AS who", "id % 2 AS q", "if(id < 5, 'x', 'y') AS v"
    )
    spec = Spec(qi=["q"], sensitive="v", protect=["x"], r=2)
    for identifiers, words in (((), "names no identifiers"), (("who",), "the same identifiers")):
        engine = SparkEngine(spark)
        table = engine.count(people, spec.with_(identifiers=identifiers))
        grouping = make_method("art", {}).anonymize(table, seed=0)
        with pytest.raises(InputError, match=words):
            engine.row_groups(table, grouping, seed=0)


@pytest.mark.parametrize(
    ("apart", "repeating"),
    [
        ("if(id < 2, null, id)", "id % 39"),
        ("if(id < 2, '', string(id))", "string(id % 39)"),
        ("if(id < 2, double('NaN'), id / 2)", "double(id % 39)"),
    ],
)
def test_an_identifier_that_repeats_is_refused(spark: Any, apart: str, repeating: str) -> None:
    spec = Spec(qi=["q"], sensitive="v", protect=["x"], r=2, identifiers=["who"])
    engine = SparkEngine(spark)
    rest = ("id % 2 AS q", "if(id < 5, 'x', 'y') AS v")
    assert engine.count(spark.range(40).selectExpr(f"{apart} AS who", *rest), spec).rows == 40
    with pytest.raises(InputError, match="40 rows have one of 39 values"):
        engine.count(spark.range(40).selectExpr(f"{repeating} AS who", *rest), spec)
