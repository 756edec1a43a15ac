"""Groups are drawn anew where only chance breaks a check."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.auditing.checks import HANDFUL, TURNS, Check, by_chance, seeds
from shoal.groups import Grouping
from shoal.release.drawing import Draw, draw
from tests.methods.test_art_several import survey


def test_a_handful_of_people_who_are_certain_is_chance() -> None:
    few, many = (Check("certainty", "broken", n) for n in (HANDFUL, HANDFUL + 1))
    kept, view = Check("counting", "kept", 0), Check("one-view", "broken", 1)
    assert by_chance([few, kept])
    assert not by_chance([many, kept])
    assert not by_chance([few, view])
    assert not by_chance([kept])


@pytest.mark.parametrize("seed", [1, 2])
def test_several_columns_hold_where_the_first_draw_does_not(seed: int) -> None:
    """Of these groups about every other draw makes one person certain by counting."""
    frame, spec = survey(4000, 2, 3)
    release = shoal.anonymize(frame, spec, seed=seed)
    again = shoal.anonymize(frame, spec, seed=seed)
    assert release.robust
    assert release.qi.equals(again.qi), "the seed says which draw it is"
    assert len({*seeds(seed)}) == TURNS


@pytest.mark.parametrize(
    ("holding", "asked"), [([6.0], [6.0]), ([3.0], [6.0, 3.0]), ([], [6.0, 3.0])]
)
def test_a_chain_has_a_margin_where_groups_with_one_hold(
    holding: list[float], asked: list[float]
) -> None:
    """Judged is by the limits that were asked for, in any case."""
    table = shoal.Table.from_frame(
        pl.DataFrame({"q": ["a"] * 6, "x": ["HIV", *["Flu"] * 5]}),
        shoal.Spec(qi=["q"], sensitive="x", protect=["HIV"], r=3),
    )
    seen: list[float] = []

    def search(some: shoal.Table, _: int) -> Grouping:
        seen.append(some.spec.r)
        return Grouping.of_rows(some, np.zeros(6, np.int32))

    def judged(found: Grouping) -> Draw:
        kept = seen[-1] in holding
        audit = SimpleNamespace(robust=kept, checks=(), persons=None, releases=None)
        return Draw(found, None, audit)  # type: ignore[arg-type]

    made = draw(table, search, judged, seed=1, blind=True, margin=True)
    assert seen == asked
    assert made.audit.robust is bool(holding)
    seen.clear()
    draw(table, search, judged, seed=1, blind=True)
    assert seen == [3.0], "no other release follows"


def test_nothing_is_drawn_anew_where_earlier_releases_make_somebody_certain() -> None:
    table = shoal.Table.from_frame(
        pl.DataFrame({"q": ["a"] * 6, "x": ["HIV", *["Flu"] * 5]}),
        shoal.Spec(qi=["q"], sensitive="x", protect=["HIV"], r=3),
    )
    draws: list[int] = []

    def search(some: shoal.Table, one: int) -> Grouping:
        draws.append(one)
        return Grouping.of_rows(some, np.zeros(6, np.int32))

    def judged(found: Grouping) -> Draw:
        audit = SimpleNamespace(
            robust=False,
            checks=(Check("certainty", "broken", 1),),
            persons=None,
            releases=SimpleNamespace(told_certain=1),
        )
        return Draw(found, None, audit)  # type: ignore[arg-type]

    draw(table, search, judged, seed=1, blind=True, margin=True)
    assert len(draws) == 1
