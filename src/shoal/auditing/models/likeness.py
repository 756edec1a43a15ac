"""How far a group's values are from those of the whole release: t-closeness, β-likeness,
δ-disclosure. Each function gives the smallest threshold that every group satisfies."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats
from shoal.auditing.models.contents import Contents

ROUNDING = 1e-12


def equal_t(contents: Contents) -> float:
    """The largest distance where all values are equally far apart: mass that is too much."""
    above = np.maximum(contents.shares - contents.whole[contents.values.code], 0.0)
    return float(contents.values.summed(above).max())


def ordered_t(contents: Contents) -> float:
    """The largest distance where values stand in the order of their codes, evenly spaced: what has
    to cross each gap between neighbours, over the number of gaps."""
    places = np.flatnonzero(contents.whole)
    if len(places) < 2:
        return 0.0
    below = np.cumsum(contents.whole[places])
    worst, step = 0.0, max(1, 4_000_000 // len(places))
    for first in range(0, len(contents.copies), step):
        last = min(first + step, len(contents.copies))
        group, lines = contents.values.entries(np.arange(first, last))
        shares = np.zeros((last - first, len(places)))
        column = np.searchsorted(places, contents.values.code[lines])
        shares[group, column] = contents.shares[lines]
        crossing = np.abs(np.cumsum(shares, axis=1) - below)[:, :-1].sum(axis=1)
        worst = max(worst, float(crossing.max()) / (len(places) - 1))
    return worst


def basic_beta(contents: Contents) -> float:
    """The largest gain of a value's share, relative to its share in the whole release."""
    return float(_gains(contents).max())


def enhanced_beta(contents: Contents) -> float | None:
    """The same; None where some value gains more than the -ln of its share, which no β allows."""
    gains = _gains(contents)
    allowed = -np.log(contents.whole[contents.values.code])
    return None if (gains > allowed + ROUNDING).any() else float(gains.max())


def delta(contents: Contents) -> float:
    """The largest |ln| of a share in a group over that in the whole release, of values that the
    group holds. (A value that it lacks would make it infinite.)"""
    return float(np.abs(np.log(contents.shares / contents.whole[contents.values.code])).max())


def _gains(contents: Contents) -> Floats:
    whole = contents.whole[contents.values.code]
    return np.asarray(np.maximum(contents.shares / whole - 1.0, 0.0))
