"""Groups are drawn anew where only chance breaks a check."""

from __future__ import annotations

import pytest

import shoal
from shoal.auditing.checks import HANDFUL, TURNS, Check, by_chance, seeds
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
