"""Histograms whose bins end at the limits, and their public form without small counts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.release.facts.records import RiskBin, SizeBin

Bin = TypeVar("Bin", RiskBin, SizeBin)
MOST_BINS = 60
HAIR = 1e-9  # so that a value equal to an edge is not above it by rounding


def probability_edges(limit: float, largest: float) -> Floats:
    """Edges from 0 to at least `largest`, one of them at `limit`, in even steps if they fit.

    A limit of 1 means shares of a limit, which can be above 1; other values are probabilities.
    """
    largest = max(largest, 1.25 * limit)
    if limit < 1:
        largest = min(1.0, largest)
    for parts in (10, 5, 4, 2, 1):
        if largest * parts / limit <= MOST_BINS:
            step = limit / parts
            edges = np.arange(math.ceil(largest / step - HAIR) + 1) * step
            return np.asarray(np.minimum(edges, 1.0) if limit < 1 else edges, np.float64)
    return np.concatenate([[0.0], np.linspace(limit, largest, MOST_BINS)])


def count_within(values: Floats, edges: Floats, people: Ints | None = None) -> list[int]:
    """How many values lie in (edge, next edge], each counted once or as often as `people` says; the
    first bin takes zero too."""
    place = np.searchsorted(edges, values - HAIR, side="left") - 1
    place = np.clip(place, 0, len(edges) - 2)
    return [int(n) for n in np.bincount(place, weights=people, minlength=len(edges) - 1)]


def size_edges(largest: int) -> list[int]:
    """Bin starts for group sizes: one by one at first, then ever wider."""
    starts = list(range(1, 11))
    while starts[-1] <= largest:
        last = starts[-1]
        starts.append(last + (5 if last < 50 else 10 if last < 100 else max(50, last // 2)))
    return starts


def merge_small(bins: Iterable[Bin], fewest: int) -> tuple[Bin, ...]:
    """Joins neighbouring bins until none holds from 1 to fewer than `fewest` people.

    Ends with one bin for all if nothing less will do; `low` and `high` say what a bin covers.
    """
    merged = list(bins)

    def small(one: Bin) -> bool:
        return 0 < one.people < fewest

    while len(merged) > 1:
        too_small = next((place for place, one in enumerate(merged) if small(one)), None)
        if too_small is None:
            break
        first = too_small if too_small + 1 < len(merged) else too_small - 1
        one, other = merged[first], merged.pop(first + 1)
        numbers = [name for name in vars(one) if name not in ("low", "high")]
        sums = {name: getattr(one, name) + getattr(other, name) for name in numbers}
        merged[first] = replace(one, high=other.high, **sums)
    return () if len(merged) == 1 and small(merged[0]) else tuple(merged)
