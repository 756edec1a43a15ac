"""Exact intervals."""

from __future__ import annotations

from math import comb

import pytest

from shoal.attacks import Rate


@pytest.mark.parametrize(("hits", "tries"), [(0, 7), (3, 7), (7, 7), (40, 200)])
@pytest.mark.parametrize("chosen_among", [1, 10])
def test_the_interval_is_exact(hits: int, tries: int, chosen_among: int) -> None:
    low, high = Rate(tries, hits, chosen_among).interval

    def chance(hits: range, p: float) -> float:
        return sum(comb(tries, k) * p**k * (1 - p) ** (tries - k) for k in hits)

    tail = 0.025 / chosen_among
    assert low == 0 if hits == 0 else chance(range(hits, tries + 1), low) == pytest.approx(tail)
    assert high == 1 if hits == tries else chance(range(hits + 1), high) == pytest.approx(tail)


def test_nobody_to_try() -> None:
    assert (Rate(0, 0).rate, Rate(0, 0).interval) == (0.0, (0.0, 1.0))
