"""How a suspect stands in its group, as columns of numbers for a learner.

Nothing here looks at who carries, and nothing counts carriers over groups (counting.py does).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from shoal.arrays import Floats, Ints, Singles, Whole
from shoal.attacks.lineup import SMALLEST, Lineup

# How near suspects are to the others of their group: the medoid, and what a learner is told.

NEIGHBOURS = 3
"""How many of the nearest others make a neighbourhood."""
FARTHEST = 1e3
PORTION = 4_000_000
"""So many distances are held at once."""
Apart = Callable[[Lineup], Iterator[tuple[Ints, Singles]]]
"""Some questions of one size at a time: their suspects (questions x size), and the distance from
each to each (questions x size x size)."""


def to_all_others(lineup: Lineup, apart: Apart) -> Floats:
    """The distances from each suspect to all other people of its question, added up; the medoid's
    is the smallest."""
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
    """Distances to the others of the question, by both measures, summed up in a few numbers."""
    found: dict[str, Floats] = {}
    for how, apart in (("logs", in_logs), ("ratios", in_ratios)):
        for suspects, between in apart(lineup):
            for name, numbers in _profile(between).items():
                column = found.setdefault(f"{name}, {how}", np.zeros(len(lineup.signature)))
                column[suspects] = numbers
    return found


def _profile(between: Singles) -> dict[str, Singles]:
    """From questions x size x size distances, numbers for each suspect by name."""
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
        questions = max(1, PORTION // suspects.shape[1] ** 2)
        for first in range(0, len(suspects), questions):
            yield suspects[first : first + questions]


ALIKE = 1e-9


def features(lineup: Lineup) -> dict[str, Floats]:
    """One number for each suspect, by the feature's name."""
    found = {}
    views = lineup.knowledge.views
    for w, view in enumerate(views):
        found[f"joint odds, {view.name}"] = lineup.log_odds[:, w]
        found[f"binary odds, {view.name}"] = lineup.log_odds[:, len(views) + w]
    return found | posteriors(lineup) | distances(lineup) | rarity(lineup) | agreement(lineup)


def posteriors(lineup: Lineup) -> dict[str, Floats]:
    """Posteriors over all columns, how many columns a suspect leads, and how well the group could
    do without it: whoever is chosen for what others lack cannot be spared, the one they were chosen
    for can."""
    # Of several carriers, the expected number of those who it is.
    share = lineup.odds / lineup.total(lineup.odds) * lineup.carriers[lineup.question][:, None]
    posterior = np.minimum(share, 1.0)
    highest = lineup.spread(lineup.largest(posterior))
    lowest = lineup.spread(lineup.least(posterior))
    spare = without(lineup)
    views = len(lineup.knowledge.views)
    joint, binary = spare[:, :views], spare[:, views:]
    return {
        "largest posterior": posterior.max(axis=1),
        "smallest posterior": posterior.min(axis=1),
        "mean posterior": posterior.mean(axis=1),
        "mean log odds": lineup.log_odds.mean(axis=1),
        "spread over columns": np.asarray(np.std(np.log(np.maximum(posterior, SMALLEST)), axis=1)),
        "leads": (posterior >= highest * (1 - ALIKE)).mean(axis=1),
        "trails": (posterior <= lowest * (1 + ALIKE)).mean(axis=1),
        "spare, joint": joint.min(axis=1),
        "spare, binary": binary.min(axis=1),
        "spare, both": spare.min(axis=1),
        "spare, mean": joint.mean(axis=1),
        "spare columns": (joint >= 1 - 1e-6).mean(axis=1),
        "prior": lineup.prior,
    }


def without(lineup: Lineup) -> Floats:
    """suspects x columns: the sum of the others' odds over what their limits ask for; the group
    is safe without one of the suspect's people where that is at least 1."""
    need = lineup.odds * _demand(lineup)
    asked = np.zeros_like(need)
    for suspects in lineup.by_size():
        block = need[suspects]
        top = np.sort(np.concatenate([np.zeros_like(block[:, :1]), block], axis=1), axis=1)
        second, first = top[:, -2:-1], top[:, -1:]
        asked[suspects] = np.where(block == first, second, first)
    # Whoever has a twin in the group leaves that one behind.
    twins = (lineup.people > 1)[:, None]
    asked = np.where(twins, np.maximum(asked, need), asked)
    return (lineup.total(lineup.odds) - lineup.odds) / np.maximum(asked, SMALLEST)


def _demand(lineup: Lineup) -> Floats:
    """suspects x columns: how many times its own odds a suspect's group must come to."""
    r = np.repeat(lineup.r[lineup.question][:, None], lineup.odds.shape[1], axis=1)
    if lineup.limit == "absolute":
        return r
    return 1 / np.maximum(1 / r, np.hstack([lineup.chance, lineup.chance]))


def rarity(lineup: Lineup) -> dict[str, Floats]:
    """How many people share a suspect's signature: in the table, in its group, in groups that hold
    the event, in others, in none."""
    table, signature = lineup.table, lineup.signature
    everybody = table.signature_rows[signature]
    inside = np.bincount(signature, lineup.people, len(table.signatures))[signature]
    present = lineup.present[signature]
    return {
        "rows of its signature": np.log(everybody),
        "duplicates in the group": lineup.people.astype(np.float64),
        "its signature inside": np.log(inside),
        "its signature outside": np.log1p(np.maximum(present - inside, 0)),
        "share of its signature inside": inside / everybody,
        "missing of its signature": np.log1p(np.maximum(everybody - present, 0)),
    }


def agreement(lineup: Lineup) -> dict[str, Floats]:
    """How many others in the group share each QI value, and how common the value is."""
    table = lineup.table
    found, shared = {}, np.zeros(len(lineup.signature))
    for position, column in enumerate(table.qi):
        codes = table.signatures[:, position]
        mine = codes[lineup.signature]
        same = _alike(lineup, mine, len(column)) / lineup.members[lineup.question]
        people = np.bincount(codes, table.signature_rows, len(column))
        found[f"shares {column.name}"] = same
        found[f"commonness of {column.name}"] = np.log(people[mine])
        shared += same
    return found | {"shares": shared}


def _alike(lineup: Lineup, code: Whole, size: int) -> Floats:
    """How many people of its question have the same code, for each suspect."""
    _, again = np.unique(lineup.question * size + code, return_inverse=True)
    return np.asarray(np.bincount(again, lineup.people)[again], np.float64)
