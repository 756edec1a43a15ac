"""Shares by totals, against a slow twin, and where they are far better than equal ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.errors import InputError
from shoal.knowledge import Knowledge
from shoal.release import Release
from shoal.release.totals import event_totals
from shoal.spec import Event, Spec
from shoal.table import Table
from shoal.utility import KnownClasses
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
    spec = Spec(qi=("p", "q"), sensitive="s", **{"r": 2, "min_support": 5, **more})
    return Table.from_frame(frame, spec)


def with_totals(table: Table, groups: Any, **more: Any) -> Release:
    release = release_of(table, groups, **more)
    return replace(release, totals=event_totals(table, Knowledge.of(table)))


def slow_shares(release: Release, kind_of: dict[str, str]) -> dict[tuple[int, str], float]:
    """What part of each kind of value everybody has: dictionaries, scaled one constraint at a time
    until nothing moves."""
    people = list(release.qi.iter_rows())
    held: dict[tuple[int, str], float] = {}
    for gid, value, count in release.sensitive.iter_rows():
        kind = kind_of.get(str(value), "")
        held[gid, kind] = held.get((gid, kind), 0.0) + count
    size = {gid: sum(n for (g, _), n in held.items() if g == gid) for gid, *_ in people}
    share = {
        (number, kind): count / size[gid]
        for number, (gid, *_) in enumerate(people)
        for (g, kind), count in held.items()
        if g == gid
    }
    limits = []
    for attribute, value, event, count in release.totals.iter_rows():
        place = release.qi.columns.index(attribute)
        members = [key for key in share if key[1] == event and people[key[0]][place] == value]
        limits.append((members, count))
    for number in range(len(people)):
        limits.append(([key for key in share if key[0] == number], 1.0))
    for (gid, kind), count in held.items():
        members = [key for key in share if key[1] == kind and people[key[0]][0] == gid]
        limits.append((members, count))
    for _ in range(400):
        for members, count in limits:
            now = sum(share[key] for key in members)
            for key in members:
                share[key] *= max(count, 1e-9) / now
    return share


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("protect", [EVENTS, EVENTS[1:]])
def test_shares_by_totals_equal_the_slow_twin(seed: int, protect: Any) -> None:
    table = random_table(seed, protect=protect)
    groups = np.random.default_rng(seed + 10).permutation(np.arange(table.rows) % 25)
    release = with_totals(table, groups)
    assert set(release.totals["attribute"]) == {"p", "q"}
    kind_of = {event.label: event.label for event in protect}
    slow: dict[tuple[str, str, str], float] = {}
    for (number, kind), part in slow_shares(release, kind_of).items():
        _, p, q = release.qi.row(number)
        slow[p, q, kind] = slow.get((p, q, kind), 0.0) + part
    for (p, q, kind), count in slow.items():
        if kind:
            where = {"p": p, "q": q, "s": kind}
            assert release.count(where) == pytest.approx(count, abs=2e-3)


@pytest.mark.parametrize("protect", [EVENTS, None])
def test_what_totals_tell_comes_out_and_groups_keep_people_and_values(protect: Any) -> None:
    table = random_table(7, rows=400, protect=protect)
    release = with_totals(table, np.random.default_rng(1).permutation(np.arange(400) % 80))
    width = len(release.coded.values)
    by_equal = release.coded.cells.matrix(width)
    by_totals = release.coded_raked.cells.matrix(width)
    assert by_totals.min() >= 0
    assert by_totals.sum(axis=1) == pytest.approx(by_equal.sum(axis=1), abs=1e-2)
    assert by_totals.sum(axis=0) == pytest.approx(by_equal.sum(axis=0), abs=1e-9)
    for attribute, value, event, count in release.totals.iter_rows():
        where = {attribute: value, "s": event}
        assert release.count(where) == pytest.approx(count, rel=1e-3)
    assert (
        max(
            abs(release.count({a: v, "s": e}, shares="equal") - n)
            for a, v, e, n in release.totals.iter_rows()
        )
        > 1
    )


def test_totals_that_do_not_fit_the_groups_leave_counts_of_groups_right() -> None:
    """A third of the people are missing, so that no share meets the table's totals."""
    table = random_table(5, rows=300, protect=EVENTS)
    groups = np.random.default_rng(3).permutation(np.arange(300) % 60)
    groups = np.where(groups < 20, -1, groups - 20)
    release = with_totals(table, groups)
    lost = [release.count({a: v, "s": e}) / n for a, v, e, n in release.totals.iter_rows()]
    assert max(lost) < 0.95
    for label in ("ab", "c"):
        assert release.count({"s": label}) == pytest.approx(
            release.count({"s": label}, shares="equal")
        )


def test_ranges_and_releases_without_totals_have_equal_shares() -> None:
    table = random_table(3, protect=EVENTS)
    groups = np.random.default_rng(2).permutation(np.arange(table.rows) % 9)
    where = {"p": "x", "s": "c"}
    for release in (with_totals(table, groups, form="generalized"), release_of(table, groups)):
        assert release.count(where) == release.count(where, shares="equal")
        with pytest.raises(InputError) as caught:
            release.count(where, shares="totals")
        assert caught.value.code == "count-totals"
    with pytest.raises(InputError) as caught:
        release.count(where, shares="learned")  # type: ignore[arg-type]
    assert caught.value.code == "count-shares"


def test_totals_say_whose_the_event_is() -> None:
    """Four in ten miners carry it and hardly anybody else; groups of four are drawn at random, so
    that three quarters of what equal shares say of a miner is said of whoever is in their group."""
    rng = np.random.default_rng(0)
    rows = 12_000
    job = rng.choice(["miner", "clerk", "baker", "pilot"], rows)
    carries = rng.random(rows) < np.where(job == "miner", 0.4, 0.02)
    frame = pl.DataFrame(
        {
            "job": job,
            "town": rng.choice(["A", "B", "C"], rows),
            "illness": np.where(carries, "silicosis", rng.choice(["flu", "none"], rows)),
        }
    )
    spec = Spec(qi=("job", "town"), sensitive="illness", r=2, protect=(Event(("silicosis",)),))
    table = Table.from_frame(frame, spec)
    release = with_totals(table, rng.permutation(np.arange(rows) // 4))
    known = KnownClasses.of(table)
    equal, by_totals = known.errors(release.coded), known.errors(release.coded_raked)
    miners = frame.filter(job="miner", illness="silicosis").height
    where = {"job": "miner", "illness": "silicosis"}
    assert release.count(where, shares="equal") < 0.55 * miners
    assert release.count(where) == pytest.approx(miners, rel=1e-3)
    assert equal.average is not None
    assert by_totals.average is not None
    assert by_totals.average < equal.average / 10
