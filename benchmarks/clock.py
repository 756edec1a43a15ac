"""Timing: compilation apart, and the best of a few runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

RUNS, ENOUGH = 3, 2.0
"""At most this many runs; two at least, since the first may still compile something, and no
third one once this many seconds are spent."""


Clock = Callable[[], float]


def timed(work: Callable[[], T], clock: Clock = time.perf_counter) -> tuple[T, float]:
    """What one run gives, and its seconds."""
    started = clock()
    result = work()
    return result, clock() - started


def best(work: Callable[[], T], clock: Clock = time.perf_counter) -> tuple[T, float]:
    """What the work gives, and the seconds of its fastest run."""
    result, fastest = timed(work, clock)
    spent = fastest
    for run in range(1, RUNS):
        if run > 1 and spent >= ENOUGH:
            break
        result, seconds = timed(work, clock)
        spent += seconds
        fastest = min(fastest, seconds)
    return result, fastest
