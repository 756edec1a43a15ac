"""A world to start from: found whenever there is one, whatever the order of the values."""

from __future__ import annotations

from itertools import permutations
from time import perf_counter

import numpy as np
import pytest
from numpy.typing import NDArray

from shoal.auditing.adversaries import joint, joint_estimate
from shoal.auditing.adversaries.joint import possible_world
from shoal.errors import InputError

Case = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]


def random_case(rng: np.random.Generator) -> Case:
    """Distributions with many zeros, some of them nobody's; values that nobody has to hold."""
    signatures, values, tuples = rng.integers(1, 5), rng.integers(1, 5), rng.integers(1, 7)
    weights = rng.random((signatures, values)) * (rng.random((signatures, values)) < 0.5)
    return weights, rng.integers(0, signatures, tuples), rng.integers(0, values, tuples)


def largest_weight(case: Case) -> float:
    """The weight of the likeliest world: tries every order of the values."""
    weights, member, codes = case
    orders = np.array(list(permutations(codes.tolist())))
    return float(weights[member, orders].prod(axis=1).max())


def assert_possible(case: Case, world: NDArray[np.int64]) -> None:
    weights, member, codes = case
    assert (weights[member, world] > 0).all()
    assert np.array_equal(np.sort(world), np.sort(codes))


@pytest.mark.parametrize("likeliest", [joint.LIKELIEST, 0])
def test_a_world_is_found_exactly_where_some_order_of_the_values_is_one(
    likeliest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joint, "LIKELIEST", likeliest)
    rng = np.random.default_rng(4)
    found = {"as given": 0, "other": 0, "none": 0}
    for _ in range(1500):
        case = random_case(rng)
        weights, member, codes = case
        if largest_weight(case) == 0:
            found["none"] += 1
            with pytest.raises(InputError) as caught:
                possible_world(*case)
            assert caught.value.code == "no-world"
            continue
        world = possible_world(*case)
        assert_possible(case, world)
        given = bool((weights[member, codes] > 0).all())
        assert not given or np.array_equal(world, codes)
        found["as given" if given else "other"] += 1
    assert min(found.values()) >= 100


def test_small_groups_start_in_the_likeliest_world() -> None:
    rng = np.random.default_rng(9)
    looked_for = 0
    for _ in range(2500):
        case = random_case(rng)
        weights, member, codes = case
        largest = largest_weight(case)
        if largest == 0 or (weights[member, codes] > 0).all():
            continue
        looked_for += 1
        assert weights[member, possible_world(*case)].prod() == pytest.approx(largest)
    assert looked_for >= 100


def test_the_world_given_is_taken_and_not_shared() -> None:
    weights, member, codes = np.full((2, 2), 0.5), np.array([1, 0, 1]), np.array([0, 1, 1])
    world = possible_world(weights, member, codes)
    world[0] = 1
    assert codes.tolist() == [0, 1, 1]


def large_case(rng: np.random.Generator, tuples: int) -> Case:
    """Zeros everywhere, and values in an order that is no world although there is one."""
    weights = rng.random((60, 13)) * (rng.random((60, 13)) < 0.4)
    weights[np.arange(60), rng.integers(0, 13, 60)] = 0.5
    member = rng.integers(0, 60, tuples)
    chances = weights / weights.sum(axis=1, keepdims=True)
    truth = (rng.random((tuples, 1)) > chances[member].cumsum(axis=1)[:, :-1]).sum(axis=1)
    return weights, member, np.sort(truth)


def test_classes_of_many_thousands_take_no_longer_than_a_moment() -> None:
    case = large_case(np.random.default_rng(5), 50_000)
    begin = perf_counter()
    world = possible_world(*case)
    assert perf_counter() - begin < 5.0
    assert_possible(case, world)
    assert np.array_equal(world, possible_world(*case))


def test_one_person_too_many_is_recognised_in_a_large_class() -> None:
    """Value 1 is allowed for the second half alone, and occurs once more than that."""
    weights = np.array([[1.0, 0.0], [0.5, 0.5]])
    member = np.repeat([0, 1], 10_000)
    fits = np.repeat([1, 0], 10_000)
    assert possible_world(weights, member, fits).tolist() == member.tolist()
    with pytest.raises(InputError) as caught:
        possible_world(weights, member, np.repeat([1, 0], [10_001, 9_999]))
    assert caught.value.code == "no-world"


def test_estimates_do_not_depend_on_the_world_to_start_from() -> None:
    weights, member, codes = large_case(np.random.default_rng(7), 1200)
    rows = (weights / weights.sum(axis=1, keepdims=True))[member]
    likeliest = joint._likeliest_world(weights, member, codes)
    searched, given = joint_estimate(rows, codes), joint_estimate(rows, likeliest)
    assert (searched.low <= given.high + 1e-12).all()
    assert (given.low <= searched.high + 1e-12).all()
