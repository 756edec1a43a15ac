"""How near suspects are to the others of their group: the medoid, and what a learner is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from shoal.arrays import Floats, Ints, Singles
from shoal.attacks.lineup import Lineup

NEIGHBOURS = 3
"""How many of the nearest others make a neighbourhood."""
FARTHEST = 1e3
PORTION = 4_000_000
"""So many distances are held at once."""
Apart = Callable[[Lineup], Iterator[tuple[Ints, Singles]]]
"""Some cases of one size at a time: their suspects (cases x size), and the distance from each to
each (cases x size x size)."""


def to_all_others(lineup: Lineup, apart: Apart) -> Floats:
    """The distances from each suspect to all other people of its case, added up; the medoid's is
    the smallest."""
    total = np.zeros(len(lineup.signature))
    for suspects, between in apart(lineup):
        total[suspects] = (between * lineup.people[suspects][:, None, :]).sum(axis=2)
    return total


def in_logs(lineup: Lineup) -> Iterator[tuple[Ints, Singles]]:
    """The mean difference of log odds over all columns."""
    log_odds = lineup.log_odds.astype(np.float32)
    for suspects in _portions(lineup):
        between = np.zeros((*suspects.shape, suspects.shape[1]), np.float32)
        for column in log_odds.T:
            mine = column[suspects]
            between += np.abs(mine[:, :, None] - mine[:, None, :])
        yield suspects, between / log_odds.shape[1]


def in_ratios(lineup: Lineup) -> Iterator[tuple[Ints, Singles]]:
    """The mean of |o_j/o_i - 1| over all columns, seen from i."""
    odds = lineup.odds.astype(np.float32)
    for suspects in _portions(lineup):
        between = np.zeros((*suspects.shape, suspects.shape[1]), np.float32)
        for column in odds.T:
            mine = column[suspects]
            between += np.minimum(np.abs(mine[:, None, :] / mine[:, :, None] - 1), FARTHEST)
        yield suspects, between / odds.shape[1]


def distances(lineup: Lineup) -> dict[str, Floats]:
    """Distances to the others of the case, by both measures, summed up in a few numbers each."""
    found: dict[str, Floats] = {}
    for how, apart in (("logs", in_logs), ("ratios", in_ratios)):
        for suspects, between in apart(lineup):
            for name, numbers in _profile(between).items():
                column = found.setdefault(f"{name}, {how}", np.zeros(len(lineup.signature)))
                column[suspects] = numbers
    return found


def _profile(between: Singles) -> dict[str, Singles]:
    """From cases x size x size distances, numbers for each suspect by name."""
    size = between.shape[1]
    ordered = np.sort(between, axis=2)[:, :, min(1, size - 1) :]
    typical = np.maximum(np.median(ordered, axis=(1, 2)), 1e-9)[:, None, None]
    density = np.exp(-2 * between / typical).sum(axis=2)
    densest = density.argmax(axis=1)[:, None, None]
    return {
        "to all": ordered.mean(axis=2),
        "to the median other": np.median(ordered, axis=2),
        "to the farthest": ordered[:, :, -1],
        "to the nearest": ordered[:, :, 0],
        "to the next ones": ordered[:, :, :NEIGHBOURS].mean(axis=2),
        "others near": (between < typical / 2).mean(axis=2),
        "density": density / size,
        "to the densest": np.take_along_axis(between, densest, axis=2)[:, :, 0],
    }


def _portions(lineup: Lineup) -> Iterator[Ints]:
    """Cases of one size, a few at a time."""
    for suspects in lineup.by_size():
        cases = max(1, PORTION // suspects.shape[1] ** 2)
        for first in range(0, len(suspects), cases):
            yield suspects[first : first + cases]
