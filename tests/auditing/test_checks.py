"""Figures of a list of checks."""

from __future__ import annotations

from dataclasses import replace

from shoal.auditing.checks import Check, largest_chance


def test_the_largest_chance_is_that_of_any_check() -> None:
    one, both = Check("one-view", "kept", 0, 0.2, 0.2), Check("all-views", "kept", 0, 0.4, 0.5)
    certain = Check("certainty", "broken", 3)
    assert largest_chance([one], 0.2) == 0.2
    assert largest_chance([one, both], 0.2) == 0.4
    assert largest_chance([one, both, replace(certain, state="kept", people=0)], 0.2) == 0.4
    assert largest_chance([one, both, certain], 0.2) == 1.0
    assert largest_chance([Check("attack", "not asked")], 0.3) == 0.3
