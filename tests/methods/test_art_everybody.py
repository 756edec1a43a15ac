"""Everybody without an event in a group in which no value can be read."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import shoal
from shoal.auditing.adversaries.adversary import BOTH
from shoal.auditing.audit import audit
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.methods.art import Art
from shoal.methods.art.kernels.gather import gather
from tests.methods.test_art_around import hospital_table
from tests.methods.test_art_several import survey

Ints = NDArray[np.int64]


def slowly(people: Ints, values: list[set[int]], common: Ints, smallest: int, most: int) -> Ints:
    """The same as `gather` for one column, from the definition."""

    def cut(stretch: range) -> list[range]:
        held: set[int] = set().union(*(values[i] for i in stretch))
        total = int(people[list(stretch)].sum())
        ways = []
        for where in stretch[1:]:
            sides = range(stretch.start, where), range(where, stretch.stop)
            sizes = [int(people[list(side)].sum()) for side in sides]
            differ = all(
                len(set[int]().union(*(values[i] for i in side))) >= min(2, len(held))
                for side in sides
            )
            if min(sizes) >= smallest and (differ or total > most):
                ways.append((not differ, int(common[where]), abs(sizes[0] - sizes[1]), where))
        if not ways:
            return [stretch]
        where = min(ways)[-1]
        return cut(range(stretch.start, where)) + cut(range(where, stretch.stop))

    made = cut(range(len(people)))
    return np.repeat(np.arange(len(made)), [len(one) for one in made])


@pytest.mark.parametrize("seed", range(60))
def test_a_row_is_cut_as_it_is_defined(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 40))
    people, common = rng.integers(1, 6, count), rng.integers(0, 3, count)
    values = [set(rng.integers(0, rng.integers(1, 4), int(n)).tolist()) for n in people]
    low, high = (np.array([[of(one)] for one in values]) for of in (min, max))
    for smallest, most in ((1, 10), (3, 10_000), (6, 15)):
        found = gather(people, low, high, common, smallest, most)
        assert found.tolist() == slowly(people, values, common, smallest, most).tolist()


@pytest.mark.parametrize("seed", [1, 2])
def test_by_default_nobody_is_readable_and_groups_with_an_event_stay(seed: int) -> None:
    table = hospital_table(min_support=20)
    papers, usual = (Art(smallest_group=k).anonymize(table, seed=seed) for k in (1, None))
    found = audit(table, usual, adversary=BOTH)
    assert (found.robust, found.readable, found.suppressed) == (True, 0, 0)
    assert audit(table, papers).readable == int(papers.copies[papers.sizes == 1].sum()) > 0
    assert usual.sizes.min() >= table.spec.r
    first = int(papers.holding(table).sum())
    assert np.flatnonzero(usual.holding(table)).tolist() == list(range(first))
    for name in ("group", "signature", "value", "rows", "weight"):
        one, other = (getattr(of, name)[of.group < first] for of in (papers, usual))
        np.testing.assert_array_equal(one, other)


def test_the_largest_r_says_how_many() -> None:
    frame = shoal.datasets.hospital(4_000, seed=3)
    events = (Event(("HIV",), r=2), Event(("Schizophrenia",), r=3.5))
    spec = Spec(qi=("sex", "region"), sensitive="diagnosis", protect=events, r=2)
    table = Table.from_frame(frame, spec)
    made = Art().anonymize(table, seed=0)
    assert made.sizes[~made.holding(table)].min() >= 4


def test_no_column_of_several_can_be_read() -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "q": rng.integers(0, 30, 3_000),
            "s": rng.choice(["ill", "well", "flu"], 3_000, p=[0.02, 0.9, 0.08]),
            "t": rng.choice(["poor", "rich", "fair"], 3_000, p=[0.02, 0.2, 0.78]),
        }
    )
    spec = Spec(qi=("q",), sensitive=("s", "t"), protect=("s=ill", "t=poor"), r=3)
    usual, papers = (shoal.anonymize(frame, spec, seed=0, smallest_group=k) for k in (None, 1))
    assert usual.robust
    assert usual.audit is not None
    assert papers.audit is not None
    assert papers.audit.readable > 1_000
    event = (pl.col("s") == "ill").any() | (pl.col("t") == "poor").any()
    others = usual.sensitive.group_by("gid").agg(event.alias("event"), pl.col("s", "t").n_unique())
    others = others.filter(~pl.col("event"))
    assert others.height > 10
    assert others.select(pl.min_horizontal("s", "t").min()).item() > 1
    assert usual.audit.readable < 100, "some of a group with an event share what is no event"


def test_where_one_value_is_not_protected_it_can_be_read() -> None:
    frame, spec = survey(4_000, 2, 3)
    usual, papers = (shoal.anonymize(frame, spec, seed=0, smallest_group=k) for k in (None, 1))
    assert usual.audit is not None
    assert papers.audit is not None
    assert usual.audit.readable == papers.audit.readable > 0


def rows(**of: dict[str, int]) -> Table:
    """People by attribute and value."""
    lines = [(q, s, n) for q, values in of.items() for s, n in values.items()]
    frame = pl.DataFrame(lines, schema=["q", "s", "rows"], orient="row")
    spec = Spec(qi=("q",), sensitive="s", r=3, protect=(Event(("ill",)),), min_support=2)
    return Table.from_cells(frame, spec)


def test_who_has_no_other_value_beside_them_is_counted() -> None:
    table = rows(u={"ill": 2, "well": 400}, v={"well": 300})
    made = Art().anonymize(table, seed=0)
    found = audit(table, made)
    assert found.readable == int(made.people[~made.holding(table)[made.group]].sum()) > 0
    assert made.published == table.rows


def test_a_rare_value_does_not_put_everybody_into_one_group() -> None:
    many = {f"q{i:03}": {"well": 5} for i in range(400)} | {"r": {"ill": 1, "well": 9, "flu": 1}}
    made = Art(largest=50).anonymize(rows(**many), seed=0)
    assert made.sizes.max() <= 60
    assert made.count > 100


@pytest.mark.parametrize("few", [{"well": 1}, {"well": 1, "flu": 1}])
def test_fewer_people_than_a_group_needs(few: dict[str, int]) -> None:
    """One group, counted if it can be read; left out if a size was asked for."""
    from shoal.methods.art.everybody import gather_everybody

    table = rows(u={"ill": 1, "well": 4}, v=few)
    papers = Art(smallest_group=1).anonymize(table, seed=0)
    alone = int(papers.copies[papers.sizes == 1].sum())
    usual = gather_everybody(table, papers, 5, 200, strict=False)
    strict = gather_everybody(table, papers, 5, 200, strict=True)
    assert strict.published == papers.published - alone
    values = {int(v) for v in papers.value[(papers.sizes == 1)[papers.group]]}
    assert usual.published == papers.published
    assert audit(table, usual).readable == (alone if len(values) == 1 else 0)


def test_the_papers_variant_leaves_people_alone() -> None:
    table = hospital_table(min_support=20)
    made = Art(condition="bound", max_suppression=1.0).anonymize(table, seed=0)
    assert audit(table, made).readable > 0
    with pytest.raises(InputError) as raised:
        Art(condition="bound", smallest_group=3)
    assert raised.value.code == "art-variant"
