"""Survey weights: known distributions by them, against tables that repeat each row so often."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.auditing.audit import audit
from shoal.data.datasets import hospital
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.data.table.survey import UNITS
from shoal.engines.duckdb import DuckDBEngine
from shoal.engines.polars import PolarsEngine
from shoal.errors import InputError
from shoal.knowledge import WEIGHTED, Knowledge, View, event_chances
from shoal.methods.anatomy.anatomy import Anatomy

RANDOM = np.random.default_rng(35)
ILL = pl.col("diagnosis").is_in(["HIV", "Depression"])
FRAME = hospital(1_200, seed=3).with_columns(
    # Cases and old people were sampled more often: weights tell of both.
    W=pl.when(ILL).then(1).otherwise(4)
    + (pl.col("age") < 60) * pl.Series(RANDOM.integers(0, 4, 1_200))
)
SPEC = Spec(
    qi=["sex", "age", "region"],
    sensitive="diagnosis",
    protect=["HIV", ["Depression", "Schizophrenia"]],
    r=3,
    weight="W",
    min_support=30,
)
REPEATED = FRAME[np.repeat(np.arange(FRAME.height), FRAME["W"].to_numpy())].drop("W")


def weighted(views: Any) -> list[View]:
    return [view for view in views if view.weighted]


def by_people(knowledge: Knowledge) -> Knowledge:
    return Knowledge(tuple(one for one in knowledge.views if not one.weighted), knowledge.source)


def repeated(table: Table) -> list[View]:
    """The same strata, counted in the table that repeats rows: what the weighted views must say."""
    many = Table.from_frame(REPEATED, table.spec.with_(weight=None))
    found = []
    for view in Knowledge.of(table).class_views:
        full = table.signatures.tolist()
        place = {tuple(row): number for number, row in enumerate(full)}
        of = np.array([view.index[place[tuple(row)]] for row in many.signatures.tolist()])
        size, values = len(view.distributions), len(many.values)
        counts = np.zeros((size, values))
        signature, value, rows = many.cells
        np.add.at(counts, (of[signature], value), rows)
        counts[0] = many.value_rows
        found.append(View(view.attributes, view.index, counts / counts.sum(axis=1, keepdims=True)))
    return found


def test_every_view_is_known_by_people_and_by_weights() -> None:
    table = Table.from_frame(FRAME, SPEC)
    known = Knowledge.of(table)
    plain = Knowledge.of(Table.from_frame(FRAME, SPEC.with_(weight=None)))
    assert known.source == 'the table itself, min_support 30, also weighted by "W"'
    assert [one.parts for one in known.views] == [
        *(one.attributes for one in plain.views),
        *((*one.attributes, WEIGHTED) for one in plain.views),
    ]
    for mine, other in zip(known.class_views, plain.views, strict=True):
        np.testing.assert_array_equal(mine.distributions, other.distributions)
    found, wanted = weighted(known.views), repeated(table)
    for mine, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(mine.distributions, other.distributions)
    differ = [
        abs(a.distributions - b.distributions).max()
        for a, b in zip(found, plain.class_views, strict=True)
    ]
    assert max(differ) > 0.05  # else nothing was tested


@pytest.mark.parametrize("adversary", ["joint", "binary"])
def test_the_audit_is_that_of_a_reader_who_counted_repeated_rows(adversary: str) -> None:
    table = Table.from_frame(FRAME, SPEC)
    grouping = Anatomy(l=4).anonymize(table, seed=1)
    found = audit(table, grouping, adversary=adversary)
    brute = Knowledge(tuple(repeated(table)), "repeated rows")
    wanted = audit(table, grouping, knowledge=brute, adversary=adversary)
    plain = audit(table, grouping, knowledge=by_people(Knowledge.of(table)), adversary=adversary)
    risks = found.by_view
    for view in brute.views:
        name = " + ".join((*view.attributes, WEIGHTED))
        assert risks[name].problematic == wanted.by_view[view.name].problematic
        assert risks[name].worst == wanted.by_view[view.name].worst
        assert risks[view.name] == plain.by_view[view.name]
    posterior = [one.risks.worst["posterior"].to_numpy() for one in (found, wanted, plain)]
    exposure = [one.risks.worst["exposure"].to_numpy() for one in (found, wanted, plain)]
    np.testing.assert_array_equal(exposure[0], np.maximum(exposure[1], exposure[2]))
    assert (posterior[1] > posterior[2] + 0.01).any()
    assert (posterior[2] > posterior[1] + 0.01).any()
    assert found.problematic > plain.problematic


def test_counts_are_of_people_whatever_they_weigh() -> None:
    table = Table.from_frame(FRAME, SPEC)
    bare = Table.from_frame(FRAME, SPEC.with_(weight=None))
    grouping = Anatomy(l=4).anonymize(bare, seed=1)
    with_weights, without = audit(table, grouping), audit(bare, grouping)
    assert with_weights.counter == without.counter
    assert with_weights.absence == without.absence
    assert with_weights.certain == without.certain
    assert with_weights.problematic >= without.problematic


def test_every_engine_adds_up_the_same_weights(tmp_path: Path) -> None:
    frame = FRAME.with_columns(W=pl.col("W") * 0.37 + 0.001)
    frame.write_csv(tmp_path / "t.csv")
    frame.write_parquet(tmp_path / "t.parquet")
    wanted = Table.from_frame(frame, SPEC)
    assert wanted.weights is not None
    assert abs(wanted.weights.sum() / UNITS - frame["W"].sum()) < 1e-3
    for engine in (PolarsEngine(), PolarsEngine(large=0), DuckDBEngine()):
        for name in ("t.csv", "t.parquet"):
            found = engine.count(tmp_path / name, SPEC)
            np.testing.assert_array_equal(found.weights, wanted.weights)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=1)
    np.testing.assert_array_equal(Table.from_frame(shuffled, SPEC).weights, wanted.weights)


def test_several_columns_know_masks_by_weights_too() -> None:
    spec = SPEC.with_(
        qi=["sex", "region"],
        sensitive=["diagnosis", "insurance"],
        protect=[
            {"values": ["HIV"], "column": ["diagnosis"]},
            {"values": ["Private"], "column": ["insurance"]},
        ],
    )
    table, many = Table.from_frame(FRAME, spec), Table.from_frame(REPEATED, spec.with_(weight=None))
    (one,) = [view for view in weighted(Knowledge.of(table).views) if view.attributes == ("sex",)]
    (other,) = [view for view in Knowledge.of(many).views if view.attributes == ("sex",)]
    np.testing.assert_allclose(
        event_chances(one, table)[one.index], event_chances(other, many)[other.index], rtol=1e-12
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (pl.lit(0.0), "1,200 lines have no survey weight above 0"),
        (pl.lit(None, pl.Float64), "1,200 lines have no"),
        (pl.lit(float("inf")), "1,200 lines have no"),
        (pl.lit("heavy"), "is no number"),
        (pl.lit(1e12), "add up to 1,200,000,000,000,000 people"),
    ],
)
def test_what_is_no_weight_is_refused(change: pl.Expr, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        Table.from_frame(FRAME.with_columns(W=change), SPEC)
    assert refused.value.code == "survey-weight"


def test_a_weight_is_one_row_s_and_has_one_role() -> None:
    rows = pl.concat([FRAME, FRAME]).with_columns(who=pl.int_range(pl.len()) % FRAME.height)
    with pytest.raises(InputError, match="a survey weight is that of one row"):
        Table.from_frame(rows, SPEC.with_(person="who"))
    one_each = SPEC.with_(person="who", rows_per_person="first")
    np.testing.assert_array_equal(
        Table.from_frame(rows, one_each).weights, Table.from_frame(FRAME, SPEC).weights
    )
    for wrong in (
        {"weight": "diagnosis"},
        {"weight": "who", "identifiers": ["who"]},
        {"weight": 3},
    ):
        with pytest.raises(InputError, match="weight"):
            SPEC.with_(**wrong)
    with pytest.raises(InputError, match='column "V" does not exist'):
        Table.from_frame(FRAME, SPEC.with_(weight="V"))


def test_parts_of_a_table_weigh_what_their_cells_do_on_average() -> None:
    table = Table.from_frame(FRAME, SPEC)
    part = table.only(np.arange(600))
    assert table.weights is not None
    assert part.weights is not None
    assert len(part.weights) == len(part.member_cells.rows)
    ratio = part.weights / part.member_cells.rows
    assert (ratio >= FRAME["W"].min() * UNITS).all()
    assert (ratio <= FRAME["W"].max() * UNITS).all()
    whole = table.only(np.arange(1_200)).weights
    assert whole is not None
    assert (abs(whole - table.weights) < table.member_cells.rows).all()


def test_a_weight_that_is_published_is_a_qi_in_means() -> None:
    frame = FRAME.with_columns(W=pl.col("W") + pl.Series(RANDOM.random(1_200)))
    spec = SPEC.with_(qi=["sex", "W"], recode={"W": {"quantiles": 6}})
    table = Table.from_frame(frame, spec)
    (column,) = [one for one in table.qi if one.name == "W"]
    assert column.numeric
    assert len(column) == 6
    shown = column.values.to_numpy()[table.signatures[table.row_signature, 1]]
    assert abs(shown.sum() / frame["W"].sum() - 1) < 1e-5  # totals stay, but for rounding
    assert table.weights is not None
    assert abs(table.weights.sum() / UNITS - frame["W"].sum()) < 1e-3  # known are the true ones
    for recipe in ({"rare": 5}, {"nominal": True}, {"missing": [1], "bands": 2}):
        with pytest.raises(InputError, match="would not be a number for everybody"):
            spec.with_(recode={"W": recipe})
