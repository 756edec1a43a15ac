"""Closed forms of the earth mover's distance against slow, obvious ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.stats import wasserstein_distance

from shoal.data.table.hierarchy import Hierarchy
from shoal.methods.tcloseness import tcloseness as emd
from tests.data.table.nodes import children, covering

Floats = NDArray[np.float64]

seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=100, deadline=None)


def distributions(rng: np.random.Generator, rows: int, values: int) -> Floats:
    """Random distributions, about a third of whose entries are zero."""
    weights = rng.random((rows, values)) * (rng.random((rows, values)) > 0.3)
    weights[:, 0] += 1e-3
    shares: Floats = weights / weights.sum(axis=1, keepdims=True)
    return shares


def random_hierarchy(rng: np.random.Generator, values: int, levels: int) -> Hierarchy:
    """Merges nodes at random from level to level; the top is added by the hierarchy."""
    codes = np.arange(values)
    columns = [[f"0:{code}" for code in codes]]
    for level in range(1, levels - 1):
        merge = rng.integers(0, max(1, len(set(codes)) - 1), size=codes.max() + 1)
        codes = merge[codes]
        columns.append([f"{level}:{code}" for code in codes])
    paths = tuple(zip(*columns, strict=True))
    return Hierarchy("random", levels, tuple(columns[0]), paths)


def cheapest_transport(p: Floats, q: Floats, distance: Floats) -> float:
    """The definition: a transportation linear program."""
    n = len(p)
    leaves = np.kron(np.eye(n), np.ones(n))
    arrives = np.kron(np.ones(n), np.eye(n))
    plan = linprog(
        distance.ravel(),
        A_eq=np.vstack([leaves, arrives])[:-1],
        b_eq=np.concatenate([p, q])[:-1],
        method="highs",
    )
    assert plan.status == 0
    return float(plan.fun)


def common_level(hierarchy: Hierarchy) -> Floats:
    """The level of the lowest common node of every two values."""
    n = len(hierarchy.values)
    return np.array([[covering(hierarchy, [a, b])[0] for b in range(n)] for a in range(n)], float)


def sum_over_inner_nodes(p: Floats, q: Floats, hierarchy: Hierarchy) -> float:
    """Li et al.: at every inner node, height / H times the smaller of inflow and outflow."""
    total = 0.0
    for level in range(1, hierarchy.levels):
        below = np.bincount(hierarchy.codes(level - 1), weights=p - q)
        for node in range(len(hierarchy.labels(level))):
            surplus = below[children(hierarchy, level, node)]
            flow = min(surplus[surplus > 0].sum(), -surplus[surplus < 0].sum())
            total += level / hierarchy.height * flow
    return total


@few
@given(seed=seeds, values=st.integers(1, 6))
def test_equal_is_transport_at_unit_distance(seed: int, values: int) -> None:
    p, q = distributions(np.random.default_rng(seed), 2, values)
    assert emd.equal(p, q)[0] == pytest.approx(
        cheapest_transport(p, q, 1 - np.eye(values)), abs=1e-8
    )


@few
@given(seed=seeds, values=st.integers(2, 8))
def test_ordered_is_scipys_distance_on_even_positions(seed: int, values: int) -> None:
    p, q = distributions(np.random.default_rng(seed), 2, values)
    position = np.linspace(0, 1, values)
    expected = wasserstein_distance(position, position, p, q)
    assert emd.ordered(p, q)[0] == pytest.approx(expected, abs=1e-9)


@few
@given(seed=seeds, values=st.integers(1, 7), levels=st.integers(2, 5))
def test_hierarchical_is_transport_at_the_common_level(seed: int, values: int, levels: int) -> None:
    rng = np.random.default_rng(seed)
    p, q = distributions(rng, 2, values)
    hierarchy = random_hierarchy(rng, values, levels)
    distance = common_level(hierarchy) / hierarchy.height
    found = emd.hierarchical(p, q, hierarchy)[0]
    assert found == pytest.approx(cheapest_transport(p, q, distance), abs=1e-8)
    assert found == pytest.approx(sum_over_inner_nodes(p, q, hierarchy), abs=1e-9)


def test_many_rows_give_the_same_as_one_by_one() -> None:
    rng = np.random.default_rng(7)
    p, q = distributions(rng, 50, 9), distributions(rng, 1, 9)[0]
    hierarchy = random_hierarchy(rng, 9, 4)
    for together, alone in (
        (emd.equal(p, q), [emd.equal(row, q)[0] for row in p]),
        (emd.ordered(p, q), [emd.ordered(row, q)[0] for row in p]),
        (
            emd.hierarchical(p, q, hierarchy),
            [emd.hierarchical(row, q, hierarchy)[0] for row in p],
        ),
    ):
        assert together.shape == (50,)
        np.testing.assert_allclose(together, alone, atol=1e-12)


def test_the_salaries_of_the_t_closeness_paper() -> None:
    q = np.full(9, 1 / 9)
    lowest, mixed = np.zeros(9), np.zeros(9)
    lowest[[0, 1, 2]] = 1 / 3
    mixed[[3, 5, 8]] = 1 / 3
    assert emd.ordered([lowest, mixed], q) == pytest.approx([0.375, 1 / 6], abs=1e-9)


def test_a_flat_hierarchy_is_the_equal_distance() -> None:
    p, q = distributions(np.random.default_rng(3), 2, 5)
    assert emd.hierarchical(p, q, Hierarchy.flat("x", "abcde")) == pytest.approx(emd.equal(p, q))


def test_one_value_is_never_far() -> None:
    assert emd.ordered([[1.0]], [1.0]) == pytest.approx([0.0])
    assert emd.hierarchical([[1.0]], [1.0], Hierarchy.flat("x", ["a"])) == pytest.approx([0.0])
