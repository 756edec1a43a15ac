"""The pools that the row search takes partners from, the search itself, and its trades."""

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
from shoal.anonymizers.art.assembly import Assembly
from shoal.anonymizers.art.cells import Cells
from shoal.anonymizers.art.hide import hide_among_filler
from shoal.anonymizers.art.pools import Pools
from shoal.anonymizers.art.search import Search, pressure, smallest_need_first
from shoal.anonymizers.art.trade import givers, trade
from shoal.datasets import HOSPITAL_EVENT, HOSPITAL_QI, HOSPITAL_SENSITIVE, hospital
from shoal.grouping import silent
from shoal.knowledge import Knowledge, as_readers, event_chances, with_pool
from shoal.spec import Event, Spec
from shoal.table import Table
from tests.anonymizers.test_art_hide import LIMITS, SEEDS, is_safe
from tests.dealing import row_groups

Floats = NDArray[np.float64]
BOTH = ("joint", "binary")
SCARCE_R = 18.0
"""At which some carriers of the small hospital find nobody."""


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
