"""Query workloads: the paper's predicate form, seeds, ranges and refusals."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from shoal.data.datasets import hospital
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.release.utility import Workload

SPEC = Spec(
    qi=("age", "sex", "region"), sensitive="diagnosis", r=3, protect=(Event(("HIV", "Asthma")),)
)


@pytest.fixture(scope="module")
def table() -> Table:
    return Table.from_frame(hospital(800, seed=3), SPEC)


@pytest.mark.parametrize(("qd", "s"), [(1, 0.05), (2, 0.01), (3, 0.05), (3, 1.0)])
def test_each_predicate_allows_b_distinct_values(table: Table, qd: int, s: float) -> None:
    queries = Workload(queries=300, dimensions=qd, selectivity=s, seed=1).draw(table)
    restricted = np.zeros(300, int)
    for column, allowed in zip(table.qi, queries.allowed, strict=True):
        b = min(len(column), math.ceil(len(column) * s ** (1 / (qd + 1)) - 1e-9))
        counts = allowed.sum(axis=0)
        assert set(counts.tolist()) <= {b, len(column)}
        restricted += counts == b
    assert (restricted >= qd).all()
    members = len(table.members)
    wanted = min(members, math.ceil(members * s ** (1 / (qd + 1)) - 1e-9))
    assert (queries.sensitive_allowed.sum(axis=0) == wanted).all()


def test_every_attribute_and_value_gets_its_turn(table: Table) -> None:
    queries = Workload(queries=400, dimensions=1).draw(table)
    for allowed in queries.allowed:
        assert 80 < (~allowed.all(axis=0)).sum() < 190
        assert allowed.any(axis=1).all()


def test_contiguous_ranges_for_numbers_only(table: Table) -> None:
    queries = Workload(queries=200, contiguous=True).draw(table)
    age, sex, region = queries.allowed
    assert (np.abs(np.diff(age.astype(int), axis=0)).sum(axis=0) <= 2).all()
    assert len(set(age.argmax(axis=0).tolist())) > 10
    jumps = np.abs(np.diff(region.astype(int), axis=0)).sum(axis=0)
    assert jumps.max() > 2
    assert sex.shape[0] == 2


def test_a_missing_value_lies_in_no_range() -> None:
    frame = pl.DataFrame({"age": [1, 2, 3, None], "x": ["a", "b", "a", "b"]})
    made = Table.from_frame(frame, Spec(qi=("age",), sensitive="x", r=2))
    queries = Workload(queries=50, contiguous=True, selectivity=1.0).draw(made)
    assert not queries.allowed[0][-1].any()
    assert queries.allowed[0][:-1].all()


def test_same_seed_same_queries(table: Table) -> None:
    first, again = (Workload(queries=50, seed=7).draw(table) for _ in range(2))
    other = Workload(queries=50, seed=8).draw(table)
    assert all(np.array_equal(a, b) for a, b in zip(first.allowed, again.allowed, strict=True))
    assert not np.array_equal(first.sensitive_allowed, other.sensitive_allowed)


def test_protected_queries_ask_for_one_event_under_the_same_qi_predicates() -> None:
    spec = SPEC.with_(protect=(Event(("HIV", "Asthma")), Event(("Depression",))))
    made = Table.from_frame(hospital(800, seed=3), spec)
    workload = Workload(queries=60)
    plain, protected = workload.draw(made), workload.draw_protected(made)
    assert all(np.array_equal(a, b) for a, b in zip(plain.allowed, protected.allowed, strict=True))
    asked = {
        tuple(np.array(made.members.labels)[column]) for column in protected.sensitive_allowed.T
    }
    assert asked == {("Asthma", "HIV"), ("Depression",)}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"queries": 0}, "whole-number"),
        ({"dimensions": True}, "whole-number"),
        ({"selectivity": 0.0}, "selectivity"),
        ({"selectivity": 1.5}, "selectivity"),
    ],
)
def test_impossible_settings_are_refused(change: dict[str, object], code: str) -> None:
    with pytest.raises(InputError) as caught:
        Workload(**change)  # type: ignore[arg-type]
    assert caught.value.code == code


def test_more_dimensions_than_qis_are_refused(table: Table) -> None:
    with pytest.raises(InputError, match="4 QIs"):
        Workload(dimensions=4).draw(table)
