"""Hiding carriers among filler: kernels against slow twins, pools, the search and its trades."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from shoal.anonymizers.art import Art
from shoal.anonymizers.art.cells import Assembly, Cells
from shoal.anonymizers.art.hide import hide_among_filler
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
from shoal.anonymizers.art.pools import Pools
from shoal.anonymizers.art.search import Search, pressure, smallest_need_first
from shoal.anonymizers.art.trade import givers, trade
from shoal.datasets import HOSPITAL_EVENT, HOSPITAL_QI, HOSPITAL_SENSITIVE, hospital
from shoal.grouping import silent
from shoal.knowledge import Knowledge, with_pool
from shoal.spec import Event, Spec
from shoal.table import Table
from tests.dealing import row_groups

Floats = NDArray[np.float64]
SEEDS = range(40)
SCARCE_R = 18.0
"""At which some carriers of the small hospital find nobody."""


def some_odds(seed: int, cells: int = 40, views: int = 5) -> tuple[Any, Any, Any, Any]:
    """An anchor, cells whose odds scatter around its own, their rows, and a worth per view."""
    rng = np.random.default_rng(seed)
    anchor = rng.uniform(0.5, 1.5, views).astype(np.float32)
    odds = (anchor * rng.lognormal(-0.2, 0.5, (cells, views))).astype(np.float32)
    return anchor, odds, rng.integers(0, 4, cells), rng.uniform(20, 60, views)


def one_pool(odds: Any, free: Any) -> Candidates:
    """The cells as one pool; the levels are not used."""
    return Candidates(odds, odds[:, 0].copy(), np.array([0, len(odds)]), free)


def slow_gain(
    o: Floats, state: Floats, leads: Floats, r: float, cover: float, thrift: float
) -> float:
    """What a partner with odds `o` closes of the deficits, less what is lost, plus the cover."""
    high, total = state
    need = r * float(CLOSE)
    before = np.maximum(0, need * high - total)
    after = np.maximum(0, need * np.maximum(high, o) - total - o)
    closed = before - after
    useful = (closed - thrift * (o - closed)) / (r * high)
    hidden = np.where(o > high, leads, np.where(o == high, leads**2 / (1 + leads), 0))
    return float((useful + cover * hidden).sum())


def is_safe(o: Floats, r: float) -> bool:
    """The closed form with the search's margin; people who are all alike need only be enough."""
    alike = o.max(axis=0) == o.min(axis=0)
    enough = r * float(CLOSE) * o.max(axis=0) <= o.sum(axis=0)
    return len(o) >= r and bool(np.all(alike | enough))


def slow_grow(
    anchor: Any, odds: Any, free: Any, r: float, cover: float, thrift: float, largest: int
) -> list[int] | None:
    """The same choices as `grow`, one obvious step after another, without a limit on the cost."""
    left, chosen = free.copy(), list[int]()
    leads, marks = np.ones(len(anchor)), list[float]()
    while True:
        group = np.vstack([anchor, odds[chosen]]).astype(np.float64)
        high, total = group.max(axis=0), group.sum(axis=0)
        missing = float(np.maximum(0, float(CLOSE) - total / (r * high)).max())
        marks.append(missing)
        if len(chosen) % STRIDE == 0 and len(chosen) > STRIDE:
            pace = (marks[-1 - STRIDE] - missing) / STRIDE
            if missing > pace * (largest - len(chosen)):
                return None
        if is_safe(group, r):
            return slow_let_go(anchor, odds, chosen, r)
        options = [k for k in range(len(odds)) if left[k] > 0]
        if not options or len(chosen) == largest:
            return None
        state = np.stack([high, total])
        best = max(options, key=lambda k: slow_gain(odds[k], state, leads, r, cover, thrift))
        leads = leads * (odds[best] <= high) / (1 + leads * (odds[best] == high))
        left[best] -= 1
        chosen.append(best)


def slow_let_go(anchor: Any, odds: Any, chosen: list[int], r: float) -> list[int]:
    """Leaves out one partner after another whose place is not needed at the present maxima."""
    group = np.vstack([anchor, odds[chosen]]).astype(np.float64)
    high, alike = group.max(axis=0), group.max(axis=0) == group.min(axis=0)
    kept = list(chosen)
    for one in chosen:
        fewer = list(kept)
        fewer.remove(one)
        total = anchor + odds[fewer].astype(np.float64).sum(axis=0)
        if len(fewer) + 1 >= r and np.all(alike | (total >= r * float(CLOSE) * high)):
            kept = fewer
    return kept


def slow_cost(odds: Any, chosen: list[int], worth: Floats) -> float:
    return (1 + len(chosen)) ** 2 * float((odds[chosen] / worth).sum())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("r", "thrift"), [(3.0, 0.0), (5.5, 0.06), (12.0, 0.1), (25.0, 0.1)])
def test_grow_makes_the_choices_of_its_slow_twin(seed: int, r: float, thrift: float) -> None:
    anchor, odds, free, worth = some_odds(seed)
    chosen, everyone = np.empty(101, np.int64), np.arange(len(odds))
    candidates, terms = one_pool(odds, free), Terms(r, 1 / r, thrift, 100, 99, 99)
    size, cost = grow(anchor, everyone, candidates, terms, worth, np.inf, chosen)
    expected = slow_grow(anchor, odds, free, r, 1 / r, thrift, 100)
    if expected is None:
        assert size == -1
        return
    assert chosen[:size].tolist() == expected
    assert cost == pytest.approx(slow_cost(odds, expected, worth), rel=1e-5)
    group = np.vstack([anchor, odds[expected]]).astype(np.float64)
    assert np.all(r * group.max(axis=0) <= group.sum(axis=0))
    # Whoever would cost as much as the limit is not returned.
    again = grow(anchor, everyone, candidates, terms, worth, cost * 0.999, chosen)
    assert again == (-1, np.inf)


@pytest.mark.parametrize("seed", SEEDS)
def test_let_go_leaves_out_whoever_its_slow_twin_does(seed: int) -> None:
    anchor, odds, _, _ = some_odds(seed, cells=30)
    chosen = np.random.default_rng(seed).integers(0, len(odds), 30)
    group = np.vstack([anchor, odds[chosen]])
    r = float((group.sum(axis=0) / group.max(axis=0)).min() * 0.9)
    views = Views(group.min(axis=0), group.max(axis=0), group.sum(axis=0))
    expected = slow_let_go(anchor, odds, chosen.tolist(), r)
    assert len(expected) < len(chosen)
    size = let_go(chosen, len(chosen), odds, views, r)
    assert sorted(chosen[:size].tolist()) == sorted(expected)
    assert views.total == pytest.approx(anchor + odds[expected].sum(axis=0), rel=1e-4)


def test_let_go_keeps_r_people_who_are_alike() -> None:
    odds = np.ones((8, 3), np.float32)
    chosen = np.arange(8)
    assert let_go(chosen, 8, odds, Views(odds[0], odds[0], 9 * odds[0]), 4.5) == 4
    assert chosen[:4].tolist() == [4, 5, 6, 7]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("length", [5, 20, 100])
def test_the_shortlist_is_the_nearest_that_are_free(seed: int, length: int) -> None:
    anchor, odds, free, _ = some_odds(seed)
    far = np.abs(odds / anchor - 1).sum(axis=1)
    near = [c for c in np.argsort(far, kind="stable") if free[c] > 0 and 3 <= c < 37][:length]
    assert shortlist(anchor, one_pool(odds, free), 3, 37, length).tolist() == near


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
def test_of_all_pools_the_cheapest_group_is_taken(seed: int) -> None:
    """Against trying every pool in full. All partners are needed here, so no bound errs."""
    rng = np.random.default_rng(seed)
    pools, views, r = 4, 3, 4.0
    start = np.arange(pools + 1) * 25
    anchors = rng.uniform(0.8, 1.2, (6, pools, views)).astype(np.float32)
    odds = rng.uniform(0.4, 1.3, (100, views)).astype(np.float32)
    for a, b in pairwise(start):
        odds[a:b] = odds[a:b][np.argsort(np.log(odds[a:b]).mean(axis=1))]
    level = np.log(odds).mean(axis=1)
    free, weight = rng.integers(1, 3, 100), rng.uniform(0.5, 2, (pools, views))
    supply = (odds * free[:, None]).reshape(pools, 25, views).sum(axis=1).astype(np.float64)
    left, stock = free.copy(), supply.copy()
    order = np.array([2, 0, 5, 1, 4, 3, 3])
    pool, begin, members = hide(
        order,
        anchors,
        Candidates(odds, level, start, free),
        supply,
        weight,
        supply / weight,
        Terms(r, 0.25, 0.1, 50, 99, 99),
        pools,
    )
    for i, anchor in enumerate(order):
        offers = []
        for y in range(pools):
            mine, its = anchors[anchor, y], odds[25 * y : 25 * y + 25]
            group = slow_grow(mine, its, left[25 * y : 25 * y + 25], r, 0.25, 0.1, 50)
            if group is not None:
                offers.append((slow_cost(its, group, stock[y] / weight[y]), y, group))
        _, y, group = min(offers)
        assert pool[i] == y
        assert sorted(members[begin[i] : begin[i + 1]] - 25 * y) == sorted(group)
        np.subtract.at(left, np.array(group) + 25 * y, 1)
        stock[y] -= odds[25 * y : 25 * y + 25][group].sum(axis=0)
    assert free.tolist() == left.tolist()
    assert supply == pytest.approx(stock, rel=1e-5)


def hospital_table(rows: int = 3000, **changes: Any) -> Table:
    given: dict[str, Any] = {"qi": HOSPITAL_QI[:3], "protect": (Event(HOSPITAL_EVENT),), "r": 3}
    spec = Spec(sensitive=HOSPITAL_SENSITIVE, **(given | changes))
    return Table.from_frame(hospital(rows, 4), spec)


def pools_of(table: Table, *, pooled: bool = False) -> tuple[Pools, Cells, Knowledge, int]:
    cells, knowledge = Cells.of(table), Knowledge.of(table)
    x = int(np.flatnonzero(table.value_event >= 0)[0])
    return Pools(table, cells, knowledge, x, pooled=pooled), cells, knowledge, x


@pytest.mark.parametrize("pooled", [False, True])
def test_pools_hold_every_filler_row_with_its_odds(pooled: bool) -> None:
    table = hospital_table(min_support=20)
    pools, cells, knowledge, x = pools_of(table, pooled=pooled)
    other = len(table.values)
    expected: Counter[tuple[Any, ...]] = Counter()
    for cell in np.flatnonzero(cells.event < 0):
        y = other if pooled else int(cells.value[cell])
        chances = [
            with_pool(view, table)[view.index[cells.signature[cell]]] for view in knowledge.views
        ]
        expected[y, *(float(np.float32(c[x] / c[y])) for c in chances)] += int(cells.free[cell])
    choices = [other] if pooled else np.flatnonzero(table.value_event < 0)
    found: Counter[tuple[Any, ...]] = Counter()
    for y, (a, b) in enumerate(pairwise(pools.start)):
        assert np.all(np.diff(pools.level[a:b]) >= 0)
        for odds, rows in zip(pools.odds[a:b], pools.free[a:b], strict=True):
            found[int(choices[y]), *odds.tolist()] += int(rows)
        held = pools.odds[a:b].astype(np.float64) * pools.free[a:b, None]
        assert pools.supply[y] == pytest.approx(held.sum(axis=0), rel=1e-5, abs=1e-6)
    assert found == expected


def test_of_cells_behind_a_pooled_one_the_fullest_gives() -> None:
    frame = pl.DataFrame({"q": ["a"] * 8, "v": [*"xxyyyzzw"]})
    spec = Spec(qi=("q",), sensitive="v", protect=(Event(("x",)),), r=2, min_support=1)
    table = Table.from_frame(frame, spec)
    pools, cells, _, _ = pools_of(table, pooled=True)
    assert pools.free.tolist() == [6]
    shown = "".join(table.values[cells.value[c]] for c in pools.take(np.zeros(6, np.int64)))
    # Three y, two z, one w: of equally full ones, the first in the order of cells.
    assert shown == "yyzwyz"
    assert cells.free[cells.event < 0].sum() == 0


def test_pools_keep_one_copy_of_the_odds_and_little_else() -> None:
    table = hospital_table(60_000, qi=HOSPITAL_QI, min_support=100)
    _, cells, knowledge, x = pools_of(table)
    tracemalloc.start()
    pools = Pools(table, cells, knowledge, x, pooled=False)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    needed = pools.odds.nbytes + pools.anchor_odds.nbytes
    by_cell = 8 * (len(cells.rows) + len(pools.anchor_cell) * (len(pools.start) - 1))
    assert most < needed + 10 * by_cell


def test_nothing_is_kept_once_all_are_hidden() -> None:
    table = hospital_table(20_000, qi=HOSPITAL_QI)
    cells, knowledge = Cells.of(table), Knowledge.of(table)
    assembly = Assembly(table, cells)
    tracemalloc.start()
    hide_among_filler(assembly, knowledge, cover=None, largest=200, progress=silent)
    kept, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert assembly.count("pure") > 100
    assert kept < most / 4


def test_who_needs_least_comes_first_and_pressure_is_one_on_average() -> None:
    table = hospital_table(min_support=20)
    pools, cells, knowledge, x = pools_of(table)
    filler, need = np.flatnonzero(cells.event < 0), np.zeros(len(pools.anchor_cell))
    for view in knowledge.views:
        chance = with_pool(view, table)[view.index]
        odds = chance[:, x] / chance[:, -1]
        mean = np.average(odds[cells.signature[filler]], weights=cells.free[filler])
        need += odds[cells.signature[pools.anchor_cell]] / mean
    assert pools.anchor_need() * len(knowledge.views) == pytest.approx(need, rel=1e-5)
    order = smallest_need_first(pools)
    assert np.all(np.diff(need[order]) >= -1e-5)
    assert np.bincount(order).tolist() == pools.anchor_rows.tolist()
    assert pressure(pools).mean(axis=1) == pytest.approx(np.ones(len(pools.start) - 1))


def scarce_search() -> Search:
    """So high an r that some carriers find nobody."""
    pools, *_ = pools_of(hospital_table(3000, min_support=20, r=SCARCE_R))
    search = Search(pools, SCARCE_R, None, 200)
    search.hide(np.arange(len(search.anchors)))
    return search


def assert_books_balance(search: Search, rows: NDArray[np.int64], supply: Floats) -> None:
    pools = search.pools
    held, used = np.zeros_like(rows), np.zeros_like(supply)
    for y, partners in zip(search.pool, search.partners, strict=True):
        np.add.at(held, partners, 1)
        if y >= 0:
            assert np.all((pools.start[y] <= partners) & (partners < pools.start[y + 1]))
            used[y] += pools.odds[partners].sum(axis=0, dtype=np.float64)
        else:
            assert len(partners) == 0
    assert np.all(pools.free >= 0)
    assert (pools.free + held).tolist() == rows.tolist()
    assert pools.supply == pytest.approx(supply - used, rel=1e-4, abs=1e-4)


def test_trading_hides_more_and_keeps_the_books() -> None:
    fresh, *_ = pools_of(hospital_table(3000, min_support=20, r=SCARCE_R))
    search = scarce_search()
    assert_books_balance(search, fresh.free, fresh.supply)
    before = int((search.pool < 0).sum())
    trade(search)
    assert int((search.pool < 0).sum()) < before
    assert_books_balance(search, fresh.free, fresh.supply)
    for i in np.flatnonzero(search.pool >= 0):
        mine = search.pools.anchor_odds[search.anchors[i], search.pool[i]]
        group = np.vstack([mine, search.pools.odds[search.partners[i]]]).astype(np.float64)
        assert is_safe(group, SCARCE_R * (1 - 1e-6))


def test_a_group_taken_apart_can_be_put_back() -> None:
    search = scarce_search()
    free, supply = search.pools.free.copy(), search.pools.supply.copy()
    some = np.flatnonzero(search.pool >= 0)[:7]
    before = [(int(i), int(search.pool[i]), search.partners[i]) for i in some]
    search.take_apart(some)
    assert np.all(search.pool[some] == -1)
    assert search.pools.free.sum() == free.sum() + sum(len(one[2]) for one in before)
    for carrier, pool, partners in before:
        search.place(carrier, pool, partners)
    assert search.pools.free.tolist() == free.tolist()
    assert search.pools.supply == pytest.approx(supply)


@pytest.mark.parametrize("seed", SEEDS)
def test_givers_free_what_is_wanted_and_none_gives_in_vain(seed: int) -> None:
    rng = np.random.default_rng(seed)
    owner, held = np.sort(rng.integers(0, 12, 60)), rng.integers(0, 10, 60)
    free = rng.integers(0, 3, 10)
    there = free + np.bincount(held, minlength=10)
    wanted = np.repeat(np.arange(10), rng.integers(0, 1 + there))
    who = givers(wanted, free, held, owner)
    assert who.tolist() == sorted(set(who.tolist()))
    after = free + np.bincount(held[np.isin(owner, who)], minlength=10)
    need = np.bincount(wanted, minlength=10)
    assert np.all(after >= need)
    for one in who:
        assert np.isin(held[owner == one], np.flatnonzero(need > free)).any()


def test_the_search_does_not_depend_on_chance() -> None:
    table = hospital_table(min_support=20, r=12)
    one, two = (
        row_groups(table, Art(max_suppression=1).anonymize(table, seed=3)) for _ in range(2)
    )
    assert one.tolist() == two.tolist()
