"""The adversary of one group: the paper's figures, extremes, both sides, budgets, mistakes."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from shoal.auditing.adversaries import (
    JOINT_BUDGET,
    binary_posterior,
    joint_bounds,
    joint_estimate,
    joint_posterior,
)
from shoal.auditing.adversaries.kernels import worlds
from shoal.auditing.adversaries.kernels.worlds import joint_cost, joint_exact
from shoal.errors import InputError
from shoal.planning.theorem1 import delta_max
from studies.tables import worked_example
from tests.doors import door
from tests.oracle import worlds as oracle
from tests.oracle.groups import random_group

Floats = NDArray[np.float64]
balance, hand_out = door(worlds.balance), door(worlds.hand_out)

COUNTEREXAMPLE = [[0.10, 0.03, 0.87], [0.055, 0.055, 0.89], [0.055, 0.055, 0.89]]


def paper_group() -> tuple[list[list[float]], list[int]]:
    """Table 5 as an N x V matrix and value codes (x = 0, y = 1)."""
    example = worked_example()
    chance = {(s, v): p for s, v, p in example.distribution.iter_rows()}
    rows = [[chance[s, "x"], chance[s, "y"]] for s in example.group["signature"]]
    return rows, ["xy".index(v) for v in example.group["value"]]


# --- The paper and the theory ------------------------------------------------------------


def test_the_six_worlds_of_the_paper_have_its_weights() -> None:
    distributions, values = paper_group()
    weights = oracle.weigh([[Fraction(str(p)) for p in row] for row in distributions], values)
    worlds = worked_example().worlds
    assert len(weights) == 6
    for row in worlds.iter_rows(named=True):
        world = tuple("xy".index(row[name]) for name in ("t1", "t2", "t3", "t4"))
        assert float(weights[world]) == pytest.approx(row["p_w"], abs=1e-12)
    total = sum(weights.values())
    assert [float(weights[w] / total) for w in sorted(weights)] == pytest.approx(
        worlds["p_w_given_group"].to_list()
    )


def test_the_papers_example_is_eight_elevenths() -> None:
    distributions, values = paper_group()
    expected = [[8 / 11, 3 / 11]] * 2 + [[3 / 11, 8 / 11]] * 2
    exact = oracle.joint_posterior([[Fraction(str(p)) for p in r] for r in distributions], values)
    assert exact[0][0] == Fraction(8, 11)
    assert joint_posterior(distributions, values) == pytest.approx(np.array(expected), abs=1e-12)
    assert binary_posterior([0.5, 0.5, 0.2, 0.2], 2) == pytest.approx([8 / 11] * 2 + [3 / 11] * 2)


def test_theorem_1_holds_for_all_values_and_yet_the_joint_adversary_passes_one_half() -> None:
    odds = np.array(COUNTEREXAMPLE) / (1 - np.array(COUNTEREXAMPLE))
    r, size = 2, len(COUNTEREXAMPLE)
    assert (odds.max(axis=0) / odds.min(axis=0) <= (size - 1) / (r - 1)).all()
    for column in np.array(COUNTEREXAMPLE).T:
        allowed = delta_max(n=size, r=r, f_max=float(column.max()))
        assert column.max() - column.min() <= allowed
        assert binary_posterior(column, 1).max() <= 1 / r
    posterior = joint_posterior(COUNTEREXAMPLE, [0, 1, 2])
    assert posterior[0, 0] == pytest.approx(0.544, abs=5e-4)
    exact = oracle.joint_posterior(
        [[Fraction(str(p)) for p in r] for r in COUNTEREXAMPLE], [0, 1, 2]
    )
    assert posterior[0, 0] == pytest.approx(float(exact[0][0]), abs=1e-12)


def test_one_copy_of_a_value_is_shared_out_by_odds() -> None:
    f = np.array([0.5, 0.2, 0.2, 0.8])
    odds = f / (1 - f)
    assert binary_posterior(f, 1) == pytest.approx(odds / odds.sum())


# --- Zeros and ones ----------------------------------------------------------------------


def test_what_cannot_happen_and_what_must() -> None:
    assert binary_posterior([0.0, 1.0, 0.3, 0.3], 2).tolist() == [0.0, 1.0, 0.5, 0.5]
    assert binary_posterior([0.0, 1.0, 0.3], 1).tolist() == [0.0, 1.0, 0.0]
    assert binary_posterior([0.4, 0.1], 0).tolist() == [0.0, 0.0]
    assert binary_posterior([0.4, 0.1], 2).tolist() == [1.0, 1.0]
    certain = joint_posterior([[0.0, 1.0], [0.5, 0.5]], [0, 1])
    assert certain.tolist() == [[0.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize(("f", "count"), [([1.0, 1.0, 0.5], 1), ([0.0, 0.0, 0.5], 2)])
def test_binary_no_world(f: list[float], count: int) -> None:
    with pytest.raises(InputError) as raised:
        binary_posterior(f, count)
    assert raised.value.code == "no-world"


def test_no_world_is_said_by_the_exact_answer_and_by_the_estimate() -> None:
    rows, values = [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.2, 0.3, 0.5]], [0, 1, 2]
    for judge in (joint_posterior, joint_estimate):
        with pytest.raises(InputError) as raised:
            judge(rows, values)
        assert raised.value.code == "no-world"


def test_a_value_that_the_group_does_not_publish_has_no_posterior() -> None:
    posterior = joint_posterior([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]], [2, 0])
    assert (posterior[:, 1] == 0).all()
    assert posterior.sum(axis=1) == pytest.approx([1, 1])


# --- Extremes ----------------------------------------------------------------------------


def test_five_thousand_tuples_with_three_hundred_copies() -> None:
    rng = np.random.default_rng(5)
    f = rng.beta(0.6, 9.0, 5000)
    binary_posterior(f, 300)  # compiled
    started = time.perf_counter()
    posterior = binary_posterior(f, 300)
    assert time.perf_counter() - started < 2
    assert np.isfinite(posterior).all()
    assert posterior.sum() == pytest.approx(300, abs=1e-7)
    assert (np.diff(posterior[np.argsort(f)]) >= -1e-12).all()


@pytest.mark.parametrize("count", range(8))
def test_extreme_odds_against_fractions(count: int) -> None:
    f = [1e-15, 1e-15, 1e-9, 1e-4, 0.5, 1 - 1e-6, 1 - 1e-12, 1 - 1e-12]
    exact = oracle.binary_posterior([Fraction(p) for p in f], count)
    posterior = binary_posterior(f, count)
    assert posterior == pytest.approx([float(p) for p in exact], abs=1e-12, rel=1e-7)
    rows = [[p, 1 - p] for p in f]
    joint = joint_posterior(rows, [0] * count + [1] * (8 - count))
    assert joint[:, 0] == pytest.approx([float(p) for p in exact], abs=1e-12, rel=1e-7)


def test_extreme_joint_odds_against_fractions() -> None:
    rng = np.random.default_rng(11)
    for _ in range(60):
        rows, values = random_group(rng, tuples=6, values=3, signatures=4, decades=15)
        exact = oracle.joint_posterior(
            [[Fraction(p) for p in row] for row in rows], values.tolist()
        )
        expected = np.array([[float(p) for p in row] for row in exact])
        assert joint_posterior(rows, values) == pytest.approx(expected, abs=1e-12, rel=1e-7)


@pytest.mark.parametrize("surplus", [1, 25, 75, 150, 299])
@pytest.mark.parametrize("slip", [1e-3, 1e-9, 1e-12, 1e-15])
def test_hundreds_of_tuples_that_must_hold_what_is_nearly_impossible(
    slip: float, surplus: int
) -> None:
    rows = np.array([[1 - slip, slip]] * 300 + [[slip, 1 - slip]] * 300)
    values = np.array([0] * (300 + surplus) + [1] * (300 - surplus))
    posterior = joint_posterior(rows, values)
    assert posterior[:, 0] == pytest.approx(binary_posterior(rows[:, 0], 300 + surplus), abs=1e-9)
    assert posterior[:, 0].sum() == pytest.approx(300 + surplus)


def test_bounds_do_not_trust_products_that_lost_their_digits() -> None:
    rows = np.array([[1e-170, 1e-172, 0.9], [1e-171, 1e-170, 1e-5], [1e-250, 1e-250, 0.9]])
    exact = oracle.joint_posterior([[Fraction(p) for p in row] for row in rows], [0, 1, 2])
    expected = np.array([[float(p) for p in row] for row in exact])
    lower, upper = joint_bounds(rows, [0, 1, 2])
    assert (lower <= expected + 1e-12).all()
    assert (upper >= expected - 1e-12).all()


# --- Both sides of the exact computation, and its budget ---------------------------------


def both_sides(
    rows: Floats, sizes: NDArray[np.int64], counts: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Posteriors per signature: by values handed out, and by signatures filled."""
    scaled = balance(rows, sizes, counts)
    placed = hand_out(scaled.T.copy(), counts, sizes)
    return hand_out(scaled, sizes, counts), (placed * counts[:, None] / sizes).T


@pytest.mark.parametrize(
    ("sizes", "counts", "cheaper"),
    [
        ([1] * 12, [9, 2, 1], "values"),
        ([3, 2, 4, 1, 2], [8, 4], "values"),
        ([9, 2, 1], [1] * 12, "signatures"),
        ([8, 4], [3, 2, 4, 1, 2], "signatures"),
    ],
)
def test_both_sides_agree_whichever_is_cheaper(
    sizes: list[int], counts: list[int], cheaper: str
) -> None:
    rng = np.random.default_rng(3)
    n, c = np.array(sizes), np.array(counts)
    by_value, by_signature = joint_cost(n, c)
    assert (by_value < by_signature) == (cheaper == "values")
    for decades in (1, 4, 9):
        rows = 10 ** rng.uniform(-decades, 0, (len(n), len(c)))
        rows /= rows.sum(axis=1, keepdims=True)
        left, right = both_sides(rows, n, c)
        assert left == pytest.approx(right, abs=1e-12)
        assert joint_exact(rows, n, c) == pytest.approx(left, abs=1e-12)
        assert left @ np.ones(len(c)) == pytest.approx(np.ones(len(n)))
        assert n @ left == pytest.approx(c)


@pytest.mark.parametrize(("tuples", "values"), [(60, 40), (4000, 5), (4400, 4)])
def test_two_signatures_and_many_values_are_the_binary_question_turned_round(
    tuples: int, values: int
) -> None:
    rng = np.random.default_rng(4)
    rows, codes = random_group(rng, tuples=tuples, values=values, signatures=2)
    first = np.all(rows == rows[0], axis=1)
    one, other = rows[first][0], rows[~first][0]
    share = one / (one + other)  # how strongly each copy of a value prefers the first signature
    placed = binary_posterior(share[codes], int(first.sum()))
    expected = np.bincount(codes, weights=placed, minlength=values) / first.sum()
    assert joint_posterior(rows, codes)[0] == pytest.approx(expected, abs=1e-12)


def test_thousands_of_tuples_with_two_values_are_the_binary_question() -> None:
    rows, codes = random_group(np.random.default_rng(5), tuples=3000, values=2, signatures=300)
    expected = binary_posterior(rows[:, 1], int(codes.sum()))
    posterior = joint_posterior(rows, codes, budget=1e9)
    assert posterior[:, 1] == pytest.approx(expected, abs=1e-12)


def test_a_group_over_the_budget_is_refused_with_a_way_out() -> None:
    rows, values = random_group(np.random.default_rng(0), tuples=60, values=10, signatures=20)
    with pytest.raises(InputError) as raised:
        joint_posterior(rows, values)
    assert raised.value.code == "group-too-large"
    assert f"over the budget of {JOINT_BUDGET:.1e}" in raised.value.problem
    assert raised.value.remedy == "Raise budget, or use joint_bounds or joint_estimate."
    small = ([[0.5, 0.5], [0.2, 0.8], [0.3, 0.7]], [0, 1, 1])
    needed = min(joint_cost(np.array([1, 1, 1]), np.array([1, 2])))
    assert joint_posterior(*small, budget=needed).shape == (3, 2)
    with pytest.raises(InputError, match="over the budget"):
        joint_posterior(*small, budget=needed - 1)


def test_large_groups_get_bounds_around_their_estimate() -> None:
    rows, values = random_group(
        np.random.default_rng(1), tuples=400, values=8, signatures=40, decades=0.5
    )
    lower, upper = joint_bounds(rows, values)
    estimate = joint_estimate(rows, values, seed=1)
    assert (lower <= estimate.high).all()
    assert (estimate.low <= upper).all()
    assert upper.max() < 0.9
    assert lower.min() > 0
    assert estimate.posterior.sum(axis=1) == pytest.approx(1)


# --- What is refused ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("distributions", "values", "code", "problem"),
    [
        (
            [0.5, 0.5],
            [0, 1],
            "group-shape",
            "The distributions have shape (2,) and the values (2,).",
        ),
        (
            [[0.5, 0.5]],
            [0, 1],
            "group-shape",
            "The distributions have shape (1, 2) and the values (2,).",
        ),
        ([[0.5, 0.5]], [0.0], "group-values", "The values are no codes."),
        ([[0.5, 0.5]], [-1], "group-values", "The values are no codes."),
        ([[0.5, 0.5]], [2], "group-values", "Value code 2 has no column among the 2."),
        ([[0.5, 0.6]], [0], "group-distribution", "A row of the distributions is no distribution."),
        (
            [[-0.1, 0.6]],
            [0],
            "group-distribution",
            "A row of the distributions is no distribution.",
        ),
        (
            [[np.nan, 0.6]],
            [0],
            "group-distribution",
            "A row of the distributions is no distribution.",
        ),
    ],
)
def test_joint_mistakes(distributions: Any, values: Any, code: str, problem: str) -> None:
    for judge in (joint_posterior, joint_bounds, joint_estimate):
        with pytest.raises(InputError) as raised:
            judge(distributions, values)
        assert (raised.value.code, raised.value.problem) == (code, problem)


def test_an_empty_group_is_refused() -> None:
    with pytest.raises(InputError, match="shape"):
        joint_posterior(np.empty((0, 2)), np.empty(0, np.int64))


@pytest.mark.parametrize("f", [[], [[0.5]], [1.2], [-0.1], [float("nan")]])
def test_binary_wants_probabilities(f: list[float]) -> None:
    with pytest.raises(InputError) as raised:
        binary_posterior(f, 0)
    assert raised.value.code == "binary-f"


@pytest.mark.parametrize("count", [-1, 3, 1.5])
def test_binary_wants_a_possible_count(count: float) -> None:
    with pytest.raises(InputError) as raised:
        binary_posterior([0.5, 0.5], count)  # type: ignore[arg-type]
    assert raised.value.problem == f"{count} of 2 tuples cannot have the value."
