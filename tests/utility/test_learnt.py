"""Learnt shares, against a slow twin, and where they are far better than equal ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.errors import InputError
from shoal.release import Release
from shoal.spec import Event, Spec
from shoal.table import Table
from shoal.utility import KnownClasses, Published, learnt
from shoal.utility.learnt import RIDGE, ROUNDS
from tests.oracle.shares import shares_of_kinds
from tests.utility.test_estimate import release_of

EVENTS = (Event(("a", "b"), "ab"), Event(("c",)))


def random_table(seed: int, rows: int = 90, **more: Any) -> Table:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "p": rng.choice(["x", "y", "z"], rows),
            "q": rng.choice(["u", "v"], rows),
            "s": rng.choice(list("abcdefg"), rows),
        }
    )
    return Table.from_frame(frame, Spec(qi=("p", "q"), sensitive="s", r=2, **more))


def slow_counts(release: Release, events: dict[str, int]) -> dict[tuple[str, str, str], float]:
    """Expected people of each signature and published value, by the twin."""
    people = release.qi.select(pl.exclude("gid").cast(pl.String).to_physical().rank("dense") - 1)
    gids = release.qi["gid"].unique().sort().to_list()
    group = [gids.index(gid) for gid in release.qi["gid"]]
    kinds = 1 + len(set(events.values()))
    held = np.zeros((len(gids), kinds))
    lines = [(gids.index(g), str(v), n) for g, v, n in release.sensitive.iter_rows()]
    for g, value, count in lines:
        held[g, events.get(value, 0)] += count
    codes = [tuple(int(code) for code in row) for row in people.iter_rows()]
    shares = shares_of_kinds(codes, group, held.tolist(), rounds=ROUNDS, ridge=RIDGE)
    found: dict[tuple[str, str, str], float] = {}
    for number, (_, p, q) in enumerate(release.qi.iter_rows()):
        for g, value, count in lines:
            if g == group[number]:
                kind = events.get(value, 0)
                part = shares[number, kind] * count / held[g, kind]
                found[p, q, value] = found.get((p, q, value), 0.0) + part
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("protect", [EVENTS, EVENTS[1:], None])
def test_learnt_shares_equal_the_slow_twin(seed: int, protect: Any) -> None:
    table = random_table(seed, protect=protect)
    groups = np.random.default_rng(seed + 10).permutation(np.arange(table.rows) % 25)
    release = release_of(table, groups)
    values = sorted({str(value) for value in release.sensitive["s"]})
    events = {"ab": 1, "c": 2} if protect == EVENTS else {"c": 1}
    if protect is None:
        events = {value: place + 1 for place, value in enumerate(values)}
    for (p, q, value), count in slow_counts(release, events).items():
        where = {"p": p, "q": q, "s": value}
        assert release.count(where, shares="learnt") == pytest.approx(count, abs=2e-3)


def test_people_and_values_of_every_group_are_kept() -> None:
    table = random_table(7, rows=400, protect=EVENTS)
    release = release_of(table, np.random.default_rng(1).permutation(np.arange(400) % 80))
    width = len(release.coded.values)
    by_equal = release.coded.cells.matrix(width)
    by_learnt = release.coded_learnt.cells.matrix(width)
    assert np.abs(by_equal - by_learnt).max() > 0.1
    assert by_learnt.min() >= 0
    assert by_learnt.sum(axis=1) == pytest.approx(by_equal.sum(axis=1), abs=1e-3)
    assert by_learnt.sum(axis=0) == pytest.approx(by_equal.sum(axis=0), abs=1e-9)


def test_a_release_of_ranges_or_of_single_people_has_nothing_to_learn() -> None:
    table = random_table(3, protect=EVENTS)
    groups = np.random.default_rng(2).permutation(np.arange(table.rows) % 9)
    for release in (
        release_of(table, groups, form="generalized"),
        release_of(table, np.arange(table.rows)),
    ):
        equal, by_odds = Published.of(release), Published.of(release, "learnt")
        assert by_odds.cells.rows == pytest.approx(equal.cells.rows)


def test_too_many_odds_are_not_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    release = release_of(random_table(3, protect=EVENTS), np.arange(90) % 9)
    equal = release.coded.cells.rows
    assert np.abs(release.coded_learnt.cells.rows - equal).max() > 0.01
    monkeypatch.setattr(learnt, "MAX_ODDS", 5)
    assert Published.of(release, "learnt").cells.rows == pytest.approx(equal)


def test_other_shares_are_refused() -> None:
    release = release_of(random_table(1), np.arange(90) // 2)
    with pytest.raises(InputError) as caught:
        release.count({"p": "x"}, shares="learned")  # type: ignore[arg-type]
    assert caught.value.code == "count-shares"


def test_learnt_shares_find_whose_the_event_is() -> None:
    """Half of the miners carry it and hardly anybody else; groups of four are drawn at random, so
    that three quarters of what equal shares say of a miner is said of whoever is in their group."""
    rng = np.random.default_rng(0)
    rows = 12_000
    job = rng.choice(["miner", "clerk", "baker", "pilot"], rows)
    carries = rng.random(rows) < np.where(job == "miner", 0.5, 0.02)
    frame = pl.DataFrame(
        {
            "job": job,
            "town": rng.choice(["A", "B", "C"], rows),
            "illness": np.where(carries, "silicosis", rng.choice(["flu", "none"], rows)),
        }
    )
    spec = Spec(qi=("job", "town"), sensitive="illness", r=2, protect=(Event(("silicosis",)),))
    table = Table.from_frame(frame, spec)
    release = release_of(table, rng.permutation(np.arange(rows) // 4))
    known = KnownClasses.of(table)
    equal, by_odds = known.errors(release.coded), known.errors(release.coded_learnt)
    miners = frame.filter(job="miner", illness="silicosis").height
    where = {"job": "miner", "illness": "silicosis"}
    assert release.count(where) < 0.55 * miners
    assert release.count(where, shares="learnt") > 0.7 * miners
    assert equal.average is not None
    assert by_odds.average is not None
    assert by_odds.average < equal.average / 2
