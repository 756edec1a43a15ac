"""Figures of a list of checks."""

from __future__ import annotations

from dataclasses import replace

from shoal.auditing.checks import Check, by_chance, largest_chance, seeds, state_of


def test_the_largest_chance_is_that_of_any_check() -> None:
    one, both = Check("one-view", "kept", 0, 0.2, 0.2), Check("all-views", "kept", 0, 0.4, 0.5)
    certain = Check("certainty", "broken", 3)
    assert largest_chance([one], 0.2) == 0.2
    assert largest_chance([one, both], 0.2) == 0.4
    assert largest_chance([one, both, replace(certain, state="kept", people=0)], 0.2) == 0.4
    assert largest_chance([one, both, certain], 0.2) == 1.0
    assert largest_chance([Check("attack", "not asked")], 0.3) == 0.3


def test_groups_are_drawn_anew_where_a_handful_break_what_no_search_answers() -> None:
    kept, few, many = (
        Check("counting", "kept", 0),
        Check("all-views", "broken", 10),
        Check("all-views", "broken", 11),
    )
    assert by_chance([kept, few])
    assert not by_chance([kept, many])
    assert not by_chance([kept])
    assert not by_chance([few, Check("one-view", "broken", 1)])
    assert not by_chance([few, many])
    assert seeds(5) == [5, 1_000_008, 2_000_011, 3_000_014]


def test_a_state_is_about_those_above_or_those_not_decided() -> None:
    assert state_of(3, 7, False) == ("broken", 3)
    assert state_of(3, 7, None) == ("undecided", 7)
    assert state_of(3, 7, True) == ("kept", 0)
