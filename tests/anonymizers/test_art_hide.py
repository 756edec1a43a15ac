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
from shoal.anonymizers.art.asked import Asked
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
from shoal.knowledge import Knowledge, as_readers, event_chances, with_pool
from shoal.spec import Event, Spec
from shoal.table import Table
from tests.dealing import row_groups

Floats = NDArray[np.float64]
SEEDS = range(40)
LIMITS = ("absolute", "prior")
BOTH = ("joint", "binary")
SCARCE_R = 18.0
"""At which some carriers of the small hospital find nobody."""


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


def hospital_table(rows: int = 3000, **changes: Any) -> Table:
    given: dict[str, Any] = {"qi": HOSPITAL_QI[:3], "protect": (Event(HOSPITAL_EVENT),), "r": 3}
    spec = Spec(sensitive=HOSPITAL_SENSITIVE, **(given | changes))
    return Table.from_frame(hospital(rows, 4), spec)


def asked_of(table: Table, readers: tuple[str, ...] = ("joint",)) -> Asked:
    return Asked(table, Knowledge.of(table), as_readers(readers))


def pools_of(
    table: Table, *, pooled: bool = False, readers: tuple[str, ...] = ("joint",)
) -> tuple[Pools, Cells, Asked, int]:
    cells, asked = Cells.of(table), asked_of(table, readers)
    x = int(np.flatnonzero(table.value_event >= 0)[0])
    return Pools(asked, cells, x, pooled=pooled), cells, asked, x


def slow_columns(asked: Asked, signature: int, x: int, y: int) -> tuple[Floats, Floats]:
    """The odds of one person and their strength, reader by reader and view by view; no odds where
    the person cannot have y."""
    table, odds, strength = asked.table, [], []
    event = table.value_event[x]
    r = float(table.event_r[event])
    for reader in asked.readers:
        for view in asked.knowledge.views:
            row = view.index[signature]
            chance, f = with_pool(view, table)[row], event_chances(view, table)[row, event]
            if reader.name == "joint":
                odds.append(chance[x] / chance[y] if chance[y] else np.inf)
            else:
                odds.append(f / (1 - f))
            strength.append(1 / f if asked.prior and f > 1 / r else r)
    return np.array(odds, np.float32), np.array(strength, np.float32)


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("readers", [("joint",), ("binary",), BOTH])
@pytest.mark.parametrize("limit", LIMITS)
def test_pools_hold_every_filler_row_with_its_odds_and_demand(
    pooled: bool, readers: tuple[str, ...], limit: str
) -> None:
    table = hospital_table(min_support=20, limit=limit, r=30)
    pools, cells, asked, x = pools_of(table, pooled=pooled, readers=readers)
    other = len(table.values)
    expected: Counter[tuple[Any, ...]] = Counter()
    for cell in np.flatnonzero(cells.event < 0):
        y = other if pooled else int(cells.value[cell])
        odds, strength = slow_columns(asked, int(cells.signature[cell]), x, y)
        expected[y, *odds.tolist(), *(odds * strength).tolist()] += int(cells.free[cell])
    choices = [other] if pooled else np.flatnonzero(table.value_event < 0)
    found: Counter[tuple[Any, ...]] = Counter()
    for y, (a, b) in enumerate(pairwise(pools.start)):
        assert np.all(np.diff(pools.level[a:b]) >= 0)
        for odds, demand, rows in zip(
            pools.odds[a:b], pools.demand[a:b], pools.free[a:b], strict=True
        ):
            found[int(choices[y]), *odds.tolist(), *demand.tolist()] += int(rows)
        held = pools.odds[a:b].astype(np.float64) * pools.free[a:b, None]
        assert pools.supply[y] == pytest.approx(held.sum(axis=0), rel=1e-5, abs=1e-6)
    assert found == expected
    for anchor, cell in enumerate(pools.anchor_cell):
        for position, y in enumerate(choices):
            odds, strength = slow_columns(asked, int(cells.signature[cell]), x, int(y))
            if not np.isfinite(odds).all():
                assert not pools.anchor_odds[anchor, position].any()
                continue
            assert pools.anchor_odds[anchor, position].tolist() == odds.tolist()
            assert pools.anchor_demand[anchor, position].tolist() == (odds * strength).tolist()


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


def test_pools_keep_one_copy_of_odds_and_demands_and_little_else() -> None:
    table = hospital_table(60_000, qi=HOSPITAL_QI, min_support=100)
    _, cells, asked, x = pools_of(table)
    tracemalloc.start()
    pools = Pools(asked, cells, x, pooled=False)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert pools.demand.nbytes == pools.odds.nbytes
    needed = 2 * (pools.odds.nbytes + pools.anchor_odds.nbytes)
    by_cell = 8 * (len(cells.rows) + len(pools.anchor_cell) * (len(pools.start) - 1))
    assert most < needed + 10 * by_cell


def test_nothing_is_kept_once_all_are_hidden() -> None:
    table = hospital_table(20_000, qi=HOSPITAL_QI)
    assembly, asked = Assembly(table, Cells.of(table)), asked_of(table)
    tracemalloc.start()
    hide_among_filler(assembly, asked, cover=None, largest=200, progress=silent)
    kept, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert assembly.count("pure") > 100
    assert kept < most / 4


def test_who_needs_least_comes_first_and_pressure_is_one_on_average() -> None:
    table = hospital_table(min_support=20)
    pools, cells, asked, x = pools_of(table)
    filler, need = np.flatnonzero(cells.event < 0), np.zeros(len(pools.anchor_cell))
    for view in asked.knowledge.views:
        chance = with_pool(view, table)[view.index]
        odds = chance[:, x] / chance[:, -1]
        mean = np.average(odds[cells.signature[filler]], weights=cells.free[filler])
        need += odds[cells.signature[pools.anchor_cell]] / mean
    assert pools.anchor_need() * len(asked.knowledge.views) == pytest.approx(need, rel=1e-5)
    order = smallest_need_first(pools)
    assert np.all(np.diff(need[order]) >= -1e-5)
    assert np.bincount(order).tolist() == pools.anchor_rows.tolist()
    assert pressure(pools).mean(axis=1) == pytest.approx(np.ones(len(pools.start) - 1))


def scarce_pools(readers: tuple[str, ...] = ("joint",)) -> Pools:
    return pools_of(hospital_table(3000, min_support=20, r=SCARCE_R), readers=readers)[0]


def scarce_search(readers: tuple[str, ...] = ("joint",)) -> Search:
    """So high an r that some carriers find nobody."""
    search = Search(scarce_pools(readers), SCARCE_R, None, 200)
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


@pytest.mark.parametrize("readers", [("joint",), BOTH])
def test_trading_hides_more_and_keeps_the_books(readers: tuple[str, ...]) -> None:
    fresh, search = scarce_pools(readers), scarce_search(readers)
    assert_books_balance(search, fresh.free, fresh.supply)
    before = int((search.pool < 0).sum())
    trade(search)
    assert int((search.pool < 0).sum()) < before
    assert_books_balance(search, fresh.free, fresh.supply)
    pools = search.pools
    for i in np.flatnonzero(search.pool >= 0):
        me, where, them = search.anchors[i], search.pool[i], search.partners[i]
        odds = np.vstack([pools.anchor_odds[me, where], pools.odds[them]]).astype(np.float64)
        demand = np.vstack([pools.anchor_demand[me, where], pools.demand[them]])
        assert is_safe(odds, demand.astype(np.float64) * (1 - 1e-6), SCARCE_R * (1 - 1e-6))


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
    art = Art(max_suppression=1, units="rows", readers=("joint",))
    one, two = (row_groups(table, art.anonymize(table, seed=3)) for _ in range(2))
    assert one.tolist() == two.tolist()
