"""Standard errors of counts: exact where chances are equal, and right by simulation elsewhere."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from shoal.data.datasets import hospital
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.groups import Grouping
from shoal.planning.comparison.trial import Trial
from shoal.release import Release
from shoal.release.tables import build_tables, canonical
from shoal.release.utility import KnownClasses
from shoal.release.utility.errors import Estimate
from tests.release.weighed import Matched

Floats = NDArray[np.float64]


def release_of(
    kinds: list[str], values: list[str], weights: Floats | None = None, *, groups: int = 1
) -> Release:
    """The same group so often, of people of these kinds, values and weights."""
    frame = pl.DataFrame({"kind": kinds * groups, "v": values * groups})
    spec = Spec(qi=("kind",), sensitive="v", protect=("x",), r=2, min_support=1)
    table = Table.from_frame(frame, spec)
    number = np.repeat(np.arange(groups, dtype=np.int32), len(kinds))
    told = None if weights is None else np.tile(weights, groups)
    grouping = canonical(table, Grouping.of_rows(table, number, weights=told))
    tables = build_tables(table, grouping)
    return Release(spec, grouping.form, *tables, {})


@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize(("n", "c", "m"), [(8, 2, 3), (11, 1, 5), (6, 5, 2), (12, 4, 12)])
def test_equal_chances_are_drawn_without_replacement(n: int, c: int, m: int, weighed: bool) -> None:
    kinds = ["a"] * m + ["b"] * (n - m)
    weights = np.full(n, c / n) if weighed else None
    release = release_of(kinds, ["x"] * c + ["y"] * (n - c), weights)
    found = release.count({"kind": "a", "v": "x"})
    hypergeometric = c * (m / n) * (1 - m / n) * (n - c) / (n - 1)
    assert found == pytest.approx(c * m / n, rel=1e-5)
    assert found.standard_error**2 == pytest.approx(hypergeometric, rel=1e-4, abs=1e-9)
    # By enumeration of all ways to have c of n.
    worlds = [sum(one < m for one in chosen) for chosen in combinations(range(n), c)]
    assert found.standard_error**2 == pytest.approx(np.var(worlds), rel=1e-4, abs=1e-9)
    assert release.count({"kind": "a", "v": "y"}).standard_error == pytest.approx(
        found.standard_error, rel=1e-6
    )
    assert release.count({"kind": "a"}).standard_error == pytest.approx(0, abs=1e-6)


def test_copies_of_a_group_add_up() -> None:
    kinds, values = list("aaabbbb"), list("xyyyyyy")
    weights = np.array([0.2, 0.2, 0.2, 0.1, 0.1, 0.1, 0.1])
    one = release_of(kinds, values, weights).count({"kind": "a", "v": "x"})
    many = release_of(kinds, values, weights, groups=9).count({"kind": "a", "v": "x"})
    assert many == pytest.approx(9 * one)
    assert many.standard_error == pytest.approx(3 * one.standard_error)


def conditional(odds: Floats, cases: int) -> tuple[Floats, Floats]:
    """All ways to have so many cases, and the chance of each: independent, given their number."""
    worlds = np.array(
        [[one in chosen for one in range(len(odds))]
         for chosen in combinations(range(len(odds)), cases)], bool,
    )  # fmt: skip
    chance = np.array([np.prod(odds[world]) for world in worlds])
    return worlds, chance / chance.sum()


@pytest.mark.parametrize("cases", [1, 2, 4])
def test_unequal_chances_are_near_to_every_world_together(cases: int) -> None:
    """Independent cases given their number (conditional Bernoulli): all worlds, and every class of
    one group. One case is a multinomial draw, for which the formula is a little too large."""
    random = np.random.default_rng(cases)
    ratios = []
    for _ in range(20):
        size = int(random.integers(8, 13))
        odds = np.exp(random.normal(0, 0.5, size))
        worlds, chance = conditional(odds, cases)
        weight = chance @ worlds
        inside = int(random.integers(2, size - 2))
        kinds = ["a"] * inside + ["b"] * (size - inside)
        values = ["x"] * cases + ["y"] * (size - cases)
        found = release_of(kinds, values, weight).count({"kind": "a", "v": "x"})
        counted = worlds[:, :inside].sum(axis=1)
        mean = chance @ counted
        assert found == pytest.approx(mean, rel=1e-4)
        ratios.append(found.standard_error**2 / (chance @ (counted - mean) ** 2))
    assert np.mean(ratios) == pytest.approx(1, abs=0.03)
    assert max(abs(ratio - 1) for ratio in ratios) < 0.12


def test_intervals_hold_the_truth_in_95_of_100_cases() -> None:
    """A release of many groups with sampled and added people; truth is drawn again and again."""
    random = np.random.default_rng(7)
    groups = 60
    odds = np.exp(random.normal(0, 0.7, 9))
    worlds, chance = conditional(odds, 2)
    weight = np.append(chance @ worlds, [0.0, 0.0])
    kinds = list("aaabbbbcc") + list("ab")
    found = release_of(kinds, ["x"] * 2 + ["y"] * 9, weight, groups=groups).count(
        {"kind": "a", "v": "x"}
    )
    low, high = found.interval
    drawn = random.choice(len(worlds), size=(4_000, groups), p=chance)
    truth = worlds[:, :3].sum(axis=1)[drawn].sum(axis=1)
    inside = float(((truth >= low) & (truth <= high)).mean())
    assert 0.93 <= inside <= 0.975
    assert truth.std() == pytest.approx(found.standard_error, rel=0.06)


def test_counts_from_a_matched_sample_are_right_and_their_errors_honest() -> None:
    """By weights, the 95 % interval holds the truth in nearly all classes: more often than it says,
    for the odds of the sample meet the true counts of classes, which leaves less to chance than
    weights say. By equal shares classes are biased, which no standard error tells."""
    frame = hospital(12_000, seed=6)
    spec = Spec(
        qi=("sex", "region", "occupation"),
        sensitive="diagnosis",
        protect=("Hypertension",),
        r=3,
        min_support=100,
    )
    table = Table.from_frame(frame, spec)
    classes = KnownClasses.of(table)
    found = {
        weighed: [
            classes.errors(Trial.run(table, Matched(6.0, 10, weighed=weighed), seed=seed).published)
            for seed in range(4)
        ]
        for weighed in (True, False)
    }
    mean = {key: np.mean([one.average for one in some]) for key, some in found.items()}
    covered = {key: np.mean([one.covered for one in some]) for key, some in found.items()}
    assert len(found[True][0].classes) > 25
    assert covered[True] >= 0.95
    assert covered[False] < 0.8
    assert mean[True] < 0.3 * mean[False]


def test_a_value_behind_a_label_is_one_of_several_by_chance() -> None:
    """A label stands for two values, three to one; each case is one of them."""
    frame = pl.DataFrame({"kind": list("aaab") * 8, "v": (["x1"] * 3 + ["x2"] + ["y"] * 12) * 2})
    spec = Spec(qi=("kind",), sensitive="v", protect=[["x1", "x2"]], r=2, min_support=1)  # type: ignore[list-item]
    table = Table.from_frame(frame, spec)
    grouping = canonical(table, Grouping.of_rows(table, np.arange(32, dtype=np.int32) % 4))
    release = Release(spec, grouping.form, *build_tables(table, grouping), {})
    both, one = release.count({"v": ["x1", "x2"]}), release.count({"v": "x1"})
    assert (both, both.standard_error) == (pytest.approx(8), pytest.approx(0, abs=1e-6))
    assert one == pytest.approx(6)
    assert one.standard_error**2 == pytest.approx(8 * 0.75 * 0.25)


def test_an_estimate_is_a_number_with_its_error() -> None:
    found = Estimate(3.0, 2.0)
    assert (found, found + 1, f"{found:.1f}") == (3, 4, "3.0")
    assert found.interval == (0.0, pytest.approx(6.92))
    assert repr(found) == "3.0 ± 2.0 (95 %: 0.0 to 6.9)"
