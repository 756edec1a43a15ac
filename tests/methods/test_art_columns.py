"""What readers weigh, column by column, against plain formulas; and who counts as alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.data.datasets import HOSPITAL_EVENT, HOSPITAL_QI, HOSPITAL_SENSITIVE, hospital
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.knowledge import Knowledge, as_readers
from shoal.methods.art import Art
from shoal.methods.art import columns as module
from shoal.methods.art.asked import Asked
from shoal.methods.art.columns import PRESSURE, SMALLEST_ODDS, Columns

BOTH = ("joint", "binary")
PROTECT = {
    "one": (Event(("HIV",)),),
    "set": (Event(HOSPITAL_EVENT),),
    "two": (Event(HOSPITAL_EVENT), Event(("Influenza",), r=9)),
}


def asked_of(readers: tuple[str, ...] = BOTH, event: str = "two", **changes: Any) -> Asked:
    given: dict[str, Any] = {"qi": HOSPITAL_QI[:2], "protect": PROTECT[event], "r": 40}
    spec = Spec(sensitive=HOSPITAL_SENSITIVE, min_support=20, **(given | changes))
    table = Table.from_frame(hospital(2000, 4), spec)
    return Asked(table, Knowledge.of(table), as_readers(readers))


def codes(asked: Asked, x: str, y: str) -> tuple[int, int]:
    values = [*asked.table.values, "(other)"]
    return values.index(x), values.index(y)


def slow_column(asked: Asked, reader: str, w: int, signature: int, x: int, y: int) -> Any:
    """One person's odds and strength in one view, value by value."""
    table, view = asked.table, asked.knowledge.views[w]
    chance = view.distributions[view.index[signature]]
    mine = [v for v in range(len(chance)) if table.value_event[v] == table.value_event[x]]
    f = sum(chance[v] for v in mine)
    if reader == "binary":
        odds = f / (1 - f)
    elif y == len(chance):
        odds = chance[x] / sum(chance[v] for v in range(len(chance)) if table.value_event[v] < 0)
    else:
        odds = chance[x] / chance[y] if chance[y] else np.inf
    r = table.event_r[table.value_event[x]]
    return odds, 1 / max(1 / r, f) if asked.prior else r


@pytest.mark.parametrize("readers", [("joint",), ("binary",), BOTH])
@pytest.mark.parametrize("limit", ["absolute", "prior"])
@pytest.mark.parametrize("y", ["Back pain", "(other)"])
@pytest.mark.parametrize("members", [False, True])
def test_columns_hold_odds_and_strengths(
    readers: tuple[str, ...], limit: str, y: str, members: bool
) -> None:
    asked = asked_of(readers, limit=limit, publish_members=members)
    x, code = codes(asked, "Influenza", y)
    kinds = np.flatnonzero(np.arange(len(asked.table.signatures)) % 3 == 0)
    columns = Columns.of(asked, kinds, x, code)
    all_odds, strengths = rows(columns)
    assert all_odds.shape[1] == columns.width == asked.width
    views = len(asked.knowledge.views)
    for c, (reader, w) in enumerate((reader, w) for reader in readers for w in range(views)):
        for i, kind in enumerate(kinds):
            odds, strength = slow_column(asked, reader, w, int(kind), x, code)
            assert all_odds[i, c] == pytest.approx(odds, rel=1e-12)
            assert strengths[i, c] == pytest.approx(strength, rel=1e-12)
    if limit == "prior":
        assert strengths.min() < strengths.max()
    assert columns.share.tolist() == (1 / strengths.min(axis=1)).tolist()
    for w in range(columns.width):
        assert columns.column(w, np.arange(len(kinds))).tolist() == all_odds[:, w].tolist()
    middle = float(np.median(all_odds.max(axis=1)))
    assert columns.below(middle).tolist() == (all_odds < middle).all(axis=1).tolist()
    every_other = kinds % 2 == 0
    few = columns.reduced(every_other)
    assert rows(few)[0].tolist() == all_odds[every_other].tolist()
    assert rows(few)[1].tolist() == strengths[every_other].tolist()


def rows(columns: Columns) -> tuple[Any, Any]:
    """Odds and strengths of all kinds in all columns."""
    return columns.rows(np.arange(len(columns)))


def test_readers_who_weigh_a_view_alike_share_its_column() -> None:
    """With one event, a pool is everything else: both readers compare the same."""
    asked = asked_of(event="one")
    x, pool = codes(asked, "HIV", "(other)")
    kinds, views = np.arange(len(asked.table.signatures)), len(asked.knowledge.views)
    assert Columns.of(asked, kinds, x, pool).width == views
    _, single = codes(asked, "HIV", "Influenza")
    assert Columns.of(asked, kinds, x, single).width == 2 * views
    alone = Columns.of(asked_of(("binary",), event="one"), kinds, x, pool)
    assert rows(Columns.of(asked, kinds, x, pool))[0].tolist() == rows(alone)[0].tolist()


def some_columns(seed: int) -> tuple[Columns, Any]:
    rng = np.random.default_rng(seed)
    odds = 10.0 ** rng.uniform(-8, 2, (25, 6))
    strength, chance = rng.uniform(1, 9, (25, 6)), rng.uniform(0, 0.2, 25)
    return Columns.one_by_one(odds, strength, chance), rng.integers(1, 9, 25)


@pytest.mark.parametrize("seed", range(10))
def test_places_are_as_far_apart_as_weighted_log_odds(seed: int) -> None:
    """With no more columns than features, principal components only turn them."""
    columns, people = some_columns(seed)
    odds, strength = rows(columns)
    use = np.zeros(6)
    for w in range(6):
        wanted = sum(people[s] * columns.chance[s] * odds[s, w] * strength[s, w] for s in range(25))
        use[w] = wanted / sum(people[s] * odds[s, w] for s in range(25))
    logs = np.log(np.maximum(odds, SMALLEST_ODDS)) * (use / use.mean()) ** PRESSURE
    place = columns.places(people)
    for s in range(25):
        true = np.linalg.norm(logs - logs[s], axis=1)
        assert np.linalg.norm(place - place[s], axis=1) == pytest.approx(true, rel=1e-4, abs=1e-4)
    spread = np.average(place**2, axis=0, weights=people)
    assert (np.diff(spread) <= 1e-4 * spread[0]).all()


@pytest.mark.parametrize("seed", range(10))
def test_kinds_in_stretches_come_to_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, people = some_columns(seed)
    impossible = whole.weights.first[:-1] + 3  # a kind of infinite odds, which is left out
    whole.weights.odds[impossible] = np.inf
    whole, people = whole.reduced(np.arange(25) != 3), people[np.arange(25) != 3]
    kind, start = np.random.default_rng(seed).integers(0, 24, 20), np.array([0, 5, 6, 13])
    place, need = whole.places(people), whole.need(kind, start, people)
    monkeypatch.setattr(module, "TOGETHER", 6 * 4)
    monkeypatch.setattr(module, "STRETCH", 7)
    apart = np.linalg.norm(place[:, None] - place, axis=2)
    found = whole.places(people)
    assert np.linalg.norm(found[:, None] - found, axis=2) == pytest.approx(
        apart, rel=1e-4, abs=1e-4
    )
    assert whole.need(kind, start, people) == pytest.approx(need, rel=1e-12)
    odds, strength = rows(whole)
    few = whole.reduced(people > 4)
    assert rows(few)[0].tolist() == odds[people > 4].tolist()
    assert rows(few)[1].tolist() == strength[people > 4].tolist()


def test_who_has_no_finite_odds_has_a_place() -> None:
    """Where a value is impossible odds count as 1, in all columns of that kind."""
    asked = asked_of(event="one")
    x, y = codes(asked, "HIV", "Schizophrenia")
    columns = Columns.of(asked, np.arange(len(asked.table.signatures)), x, y)
    odds, strength = rows(columns)
    finite = np.isfinite(odds).all(axis=1)
    assert finite.any()
    assert not finite.all()
    usable, found = columns.finite()
    assert usable.tolist() == finite.tolist()
    odds[~finite] = 1.0
    assert rows(found)[0].tolist() == odds.tolist()
    assert rows(found)[1].tolist() == strength.tolist()
    assert found.chance.tolist() == columns.chance.tolist()
    assert np.isfinite(found.places(np.ones(len(odds), np.int64))).all()


@pytest.mark.parametrize("seed", range(10))
def test_need_is_the_largest_demand_of_a_cell_in_average_people(seed: int) -> None:
    columns, people = some_columns(seed)
    odds, strength = rows(columns)
    kind, start = np.random.default_rng(seed).integers(0, 25, 20), np.array([0, 5, 6, 13])
    found = columns.need(kind, start, people)
    for i, cell in enumerate(np.split(kind, start[1:])):
        true = 0.0
        for w in range(6):
            typical = np.average(odds[:, w], weights=people)
            true += max(odds[s, w] * strength[s, w] for s in cell) / typical / 6
        assert found[i] == pytest.approx(true, rel=1e-5)


def test_a_class_of_nobody_at_hand_may_have_infinite_odds() -> None:
    """All of one class carry, so that nobody there can be hidden; nothing is said of it (warnings
    are errors here)."""
    frame = pl.DataFrame({"q": ["v0"] * 20 + ["v1"] * 80, "s": ["a"] * 20 + ["d"] * 80})
    spec = Spec(qi=("q",), sensitive="s", r=3, protect=(Event(("a",)),), min_support=2)
    table = Table.from_frame(frame, spec)
    made = Art(max_suppression=1.0, smallest_group=4).anonymize(table, seed=0)
    assert made.carriers(table) == 0
