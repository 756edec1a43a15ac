"""Supply: all events at once against one event after the other, from the definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.knowledge import Knowledge, event_chances
from shoal.planning import supply
from shoal.planning.plan import coverage_bound, plan
from shoal.planning.supply import Supply, known_before, largest_r
from tests.data.sources.expect import fails_with


def a_table(seed: int, **changes: Any) -> Table:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "p": rng.integers(0, 4, 120).astype(str),
            "q": rng.integers(0, 3, 120).astype(str),
            "v": rng.choice(list("uvwxyz"), 120, p=[0.4, 0.2, 0.2, 0.1, 0.05, 0.05]),
        }
    )
    spec = Spec(qi=("p", "q"), sensitive="v", r=4, min_support=int(rng.choice([1, 10, 25])))
    return Table.from_frame(frame, spec.with_(**changes))


@pytest.mark.parametrize("at_once", [1, 1 << 21])
@pytest.mark.parametrize("seed", range(6))
def test_all_events_at_once(seed: int, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supply, "AT_ONCE", at_once)
    table = a_table(seed)
    known = Knowledge.of(table)
    found = Supply.of(table, known)
    signature, event = table.row_signature, table.row_event
    for e in range(len(table.events)):
        above = np.zeros(table.rows, bool)
        for number, view in enumerate(known.views):
            chance = event_chances(view, table)[view.index[signature], e]
            above |= chance * 4 > 1
            if (chance[event == e] == 1).any():
                expected = 1.0
            else:
                with np.errstate(divide="ignore"):
                    odds = chance / (1 - chance)
                expected = odds.sum() / odds[event == e].sum()
            assert found.largest_r[number, e] == pytest.approx(expected)
        assert found.known_before[e] == above.sum()
        for kept, limit in ((found.kept, "absolute"), (found.kept_prior, "prior")):
            exact = coverage_bound(table, known, e, 4.0, limit)  # type: ignore[arg-type]
            carriers = (event == e).sum()
            assert exact <= kept[e] <= carriers
            assert (exact == carriers) == (kept[e] == carriers)
    assert largest_r(table, known) == pytest.approx(found.largest_r.min())


def test_one_view_alone_keeps_what_its_linear_program_keeps() -> None:
    for seed in range(6):
        table = a_table(seed, qi=("p",))
        known = Knowledge.of(table)
        found = Supply.of(table, known)
        for e in range(len(table.events)):
            assert found.kept[e] == coverage_bound(table, known, e, 4.0)


def test_a_plan_looks_closely_at_the_tightest_events() -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {"q": rng.choice(list("ab"), 2000), "v": rng.integers(0, 40, 2000).astype(str)}
    )
    found = plan(Table.from_frame(frame, Spec(qi="q", sensitive="v", r=60)))
    by_tightness = sorted(found.events, key=lambda event: event.largest_r)
    assert all(event.limits[0].blocking for event in by_tightness[:8])
    assert not any(event.limits[0].blocking for event in by_tightness[8:])
    assert not found.feasible


def test_more_events_than_memory_allows_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"a": ["p", "q"] * 10, "x": ["1", "2"] * 10})
    table = Table.from_frame(frame, Spec(qi=("a",), sensitive="x", r=2))
    plain = Supply.of(table, Knowledge.of(table)).known_before
    assert known_before(table).tolist() == plain.tolist()
    monkeypatch.setattr("shoal.planning.supply.MOST_CELLS", 3)
    with fails_with("events-many"):
        known_before(table)
