"""Hiding carriers among filler, row by row: the kernels against slow twins."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from shoal.anonymizers.art.kernels.hide import (
    CLOSE,
    STRIDE,
    Candidates,
    Terms,
    Views,
    grow,
    hide,
    let_go,
    shortlist,
)
from shoal.anonymizers.art.kernels.nearest import nearest_first

Floats = NDArray[np.float64]
SEEDS = range(40)
LIMITS = ("absolute", "prior")


def some_odds(seed: int, cells: int = 40, views: int = 5) -> tuple[Any, Any, Any, Any]:
    """An anchor, cells whose odds scatter around its own, their rows, and a worth per view."""
    rng = np.random.default_rng(seed)
    anchor = rng.uniform(0.5, 1.5, views).astype(np.float32)
    odds = (anchor * rng.lognormal(-0.2, 0.5, (cells, views))).astype(np.float32)
    return anchor, odds, rng.integers(0, 4, cells), rng.uniform(20, 60, views)


def over_limits(limit: str, odds: Any, r: float, seed: int) -> Any:
    """Demands: r times the odds, and less for whoever was known above 1/r before."""
    rng = np.random.default_rng(seed)
    known = (limit == "prior") & (rng.random(odds.shape) < 0.3)
    strength = np.where(known, rng.uniform(1.0, r, odds.shape), r)
    return (odds * strength.astype(np.float32)).astype(np.float32)


def one_pool(odds: Any, demand: Any, free: Any) -> Candidates:
    """The cells as one pool; the levels are not used."""
    return Candidates(odds, demand, odds[:, 0].copy(), np.array([0, len(odds)]), free)


def slow_gain(o: Floats, d: Floats, state: Floats, leads: Floats, terms: Terms) -> float:
    """What a partner with odds `o` and demand `d` closes of the deficits, less what is lost, plus
    the cover."""
    high, total = state
    need = float(CLOSE)
    before = np.maximum(0, need * high - total)
    after = np.maximum(0, need * np.maximum(high, d) - total - o)
    closed = before - after
    useful = (closed - terms.thrift * (o - closed)) / high
    hidden = np.where(d > high, leads, np.where(d == high, leads**2 / (1 + leads), 0))
    return float((useful + terms.cover * hidden).sum())


def is_safe(o: Floats, d: Floats, r: float) -> bool:
    """The closed form with the search's margin; people who are all alike need only be enough."""
    alike = d.max(axis=0) == d.min(axis=0)
    enough = float(CLOSE) * d.max(axis=0) <= o.sum(axis=0)
    return len(o) >= r and bool(np.all(alike | enough))


def slow_grow(anchor: Any, cells: Any, free: Any, terms: Terms) -> list[int] | None:
    """The same choices as `grow`, one obvious step after another, without a limit on the cost.
    `anchor` and `cells` are odds with demands."""
    left, chosen = free.copy(), list[int]()
    leads, marks = np.ones(len(anchor[0])), list[float]()
    while True:
        odds, demand = (
            np.vstack([a, c[chosen]]).astype(np.float64) for a, c in zip(anchor, cells, strict=True)
        )
        high, total = demand.max(axis=0), odds.sum(axis=0)
        missing = float(np.maximum(0, float(CLOSE) - total / high).max())
        marks.append(missing)
        if len(chosen) % STRIDE == 0 and len(chosen) > STRIDE:
            pace = (marks[-1 - STRIDE] - missing) / STRIDE
            if missing > pace * (terms.largest - len(chosen)):
                return None
        if is_safe(odds, demand, terms.r):
            return slow_let_go(anchor, cells, chosen, terms.r)
        options = [k for k in range(len(left)) if left[k] > 0]
        if not options or len(chosen) == terms.largest:
            return None
        state, gain = np.stack([high, total]), dict[int, float]()
        for k in options:
            gain[k] = slow_gain(cells[0][k], cells[1][k], state, leads, terms)
        best = max(options, key=lambda k: gain[k])
        mine = cells[1][best]
        leads = leads * (mine <= high) / (1 + leads * (mine == high))
        left[best] -= 1
        chosen.append(best)


def slow_let_go(anchor: Any, cells: Any, chosen: list[int], r: float) -> list[int]:
    """Leaves out one partner after another whose place is not needed at the present maxima."""
    demand = np.vstack([anchor[1], cells[1][chosen]]).astype(np.float64)
    high, alike = demand.max(axis=0), demand.max(axis=0) == demand.min(axis=0)
    kept = list(chosen)
    for one in chosen:
        fewer = list(kept)
        fewer.remove(one)
        total = anchor[0] + cells[0][fewer].astype(np.float64).sum(axis=0)
        if len(fewer) + 1 >= r and np.all(alike | (total >= float(CLOSE) * high)):
            kept = fewer
    return kept


def slow_cost(odds: Any, chosen: list[int], worth: Floats) -> float:
    return (1 + len(chosen)) ** 2 * float((odds[chosen] / worth).sum())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize(("r", "thrift"), [(3.0, 0.0), (5.5, 0.06), (12.0, 0.1), (25.0, 0.1)])
def test_grow_makes_the_choices_of_its_slow_twin(
    seed: int, limit: str, r: float, thrift: float
) -> None:
    anchor, odds, free, worth = some_odds(seed)
    demand = over_limits(limit, odds, r, seed)
    mine = over_limits(limit, anchor, r, seed + 1000)
    chosen, everyone = np.empty(101, np.int64), np.arange(len(odds))
    candidates, terms = one_pool(odds, demand, free), Terms(r, 1 / r, thrift, 100, 99, 99)
    size, cost = grow(anchor, mine, everyone, candidates, terms, worth, np.inf, chosen)
    expected = slow_grow((anchor, mine), (odds, demand), free, terms)
    if expected is None:
        assert size == -1
        return
    assert chosen[:size].tolist() == expected
    assert cost == pytest.approx(slow_cost(odds, expected, worth), rel=1e-5)
    group = np.vstack([anchor, odds[expected]]).astype(np.float64)
    asked = np.vstack([mine, demand[expected]]).astype(np.float64)
    assert np.all(asked.max(axis=0) <= group.sum(axis=0))
    # Whoever would cost as much as the limit is not returned.
    again = grow(anchor, mine, everyone, candidates, terms, worth, cost * 0.999, chosen)
    assert again == (-1, np.inf)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("limit", LIMITS)
def test_let_go_leaves_out_whoever_its_slow_twin_does(seed: int, limit: str) -> None:
    anchor, odds, _, _ = some_odds(seed, cells=30)
    chosen = np.random.default_rng(seed).integers(0, len(odds), 30)
    group = np.vstack([anchor, odds[chosen]])
    r = float((group.sum(axis=0) / group.max(axis=0)).min() * 0.9)
    demand, mine = over_limits(limit, odds, r, seed), over_limits(limit, anchor, r, seed + 1000)
    asked = np.vstack([mine, demand[chosen]])
    views = Views(asked.min(axis=0), asked.max(axis=0), group.sum(axis=0))
    expected = slow_let_go((anchor, mine), (odds, demand), chosen.tolist(), r)
    assert len(expected) < len(chosen)
    size = let_go(chosen, len(chosen), odds, views, r)
    assert sorted(chosen[:size].tolist()) == sorted(expected)
    assert views.total == pytest.approx(anchor + odds[expected].sum(axis=0), rel=1e-4)


def test_let_go_keeps_r_people_who_are_alike() -> None:
    odds = np.ones((8, 3), np.float32)
    chosen = np.arange(8)
    assert let_go(chosen, 8, odds, Views(4.5 * odds[0], 4.5 * odds[0], 9 * odds[0]), 4.5) == 4
    assert chosen[:4].tolist() == [4, 5, 6, 7]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("length", [5, 20, 100])
def test_the_shortlist_is_the_nearest_that_are_free(seed: int, length: int) -> None:
    anchor, odds, free, _ = some_odds(seed)
    far = np.abs(odds / anchor - 1).sum(axis=1)
    near = [c for c in np.argsort(far, kind="stable") if free[c] > 0 and 3 <= c < 37][:length]
    assert shortlist(anchor, one_pool(odds, odds, free), 3, 37, length).tolist() == near


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("length", [1, 7, 60, 199, 200, 500])
@pytest.mark.parametrize("steps", [4, 50, 10**6])
def test_the_nearest_come_first_as_numpy_has_it(seed: int, length: int, steps: int) -> None:
    """With few steps many distances are equal."""
    rng = np.random.default_rng(seed)
    distance = (np.sort(rng.integers(0, steps, 200)) / 7).astype(np.float32)
    distance = np.concatenate([distance[::-2], distance[::2]])  # falls and rises, as in a window
    cells = np.sort(rng.choice(1000, 200, replace=False))
    kept = np.flatnonzero(distance <= np.sort(distance)[min(length, 200) - 1])[:length]
    order = kept[np.argsort(distance[kept], kind="stable")]
    expected, far = cells[order].tolist(), distance[order].tolist()
    assert nearest_first(distance, cells, length) == len(order)
    assert cells[: len(order)].tolist() == expected
    assert distance[: len(order)].tolist() == far


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("limit", LIMITS)
def test_of_all_pools_the_cheapest_group_is_taken(seed: int, limit: str) -> None:
    """Against trying every pool in full. All partners are needed here, so no bound errs; but for
    those who may be linked above 1/r, who need fewer than the bound thinks."""
    rng = np.random.default_rng(seed)
    pools, views, terms = 4, 3, Terms(4.0, 0.25, 0.1, 50, 99, 99)
    start = np.arange(pools + 1) * 25
    anchors = rng.uniform(0.8, 1.2, (6, pools, views)).astype(np.float32)
    odds = rng.uniform(0.4, 1.3, (100, views)).astype(np.float32)
    for a, b in pairwise(start):
        odds[a:b] = odds[a:b][np.argsort(np.log(odds[a:b]).mean(axis=1))]
    level = np.log(odds).mean(axis=1)
    demand = over_limits(limit, odds, terms.r, seed)
    mine = over_limits(limit, anchors, terms.r, seed + 1000)
    free, weight = rng.integers(1, 3, 100), rng.uniform(0.5, 2, (pools, views))
    supply = (odds * free[:, None]).reshape(pools, 25, views).sum(axis=1).astype(np.float64)
    left, stock = free.copy(), supply.copy()
    order = np.array([2, 0, 5, 1, 4, 3, 3])
    pool, begin, members = hide(
        order,
        anchors,
        mine,
        Candidates(odds, demand, level, start, free),
        supply,
        weight,
        supply / weight,
        terms,
        pools,
    )
    for i, anchor in enumerate(order):
        offers = []
        for y in range(pools):
            its = slice(25 * y, 25 * y + 25)
            group = slow_grow(
                (anchors[anchor, y], mine[anchor, y]), (odds[its], demand[its]), left[its], terms
            )
            if group is not None:
                offers.append((slow_cost(odds[its], group, stock[y] / weight[y]), y, group))
        _, y, group = min(one for one in offers if limit == "absolute" or one[1] == pool[i])
        assert pool[i] == y
        assert sorted(members[begin[i] : begin[i + 1]] - 25 * y) == sorted(group)
        np.subtract.at(left, np.array(group) + 25 * y, 1)
        stock[y] -= odds[25 * y : 25 * y + 25][group].sum(axis=0)
    assert free.tolist() == left.tolist()
    assert supply == pytest.approx(stock, rel=1e-5)
