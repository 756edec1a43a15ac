"""Whom an attacker names: of each case those with the largest score, of equals anybody."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.attacks.lineup import Lineup


def shares(lineup: Lineup, score: Floats) -> Floats:
    """How many people of each suspect are named; a fraction where equals have the same chance."""
    order = np.lexsort((-score, lineup.case))
    case, people = lineup.case[order], lineup.people[order]
    fresh = np.append(True, (np.diff(score[order]) != 0) | (np.diff(case) != 0))
    rank = np.cumsum(fresh) - 1
    equals = np.bincount(rank, people)
    first = np.flatnonzero(fresh)
    before = lineup.before(people)[first]
    taken = np.clip(lineup.guesses[case[first]] - before, 0, equals)
    found = np.empty(len(score))
    found[order] = people * (taken / equals)[rank]
    return found


def draw(lineup: Lineup, share: Floats, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """How many of each suspect's people are named, and how many of these carry, drawn at random
    among equals: whole people, as intervals need them."""
    start = rng.random(lineup.cases)
    ends = np.cumsum(share)
    ends -= (ends - share)[lineup.start[:-1]][lineup.case]
    # Marks lie one apart from a random place in the first step on; a suspect is named as often as
    # marks lie in its stretch. The last stretch of a case ends at its guesses but for rounding.
    ends[lineup.start[1:] - 1] = lineup.guesses
    passed = np.ceil(ends - start[lineup.case]).astype(np.int64)
    named = np.diff(passed, prepend=0)
    named[lineup.start[:-1]] = passed[lineup.start[:-1]]
    idle = lineup.people - lineup.carrying
    return named, np.asarray(rng.hypergeometric(lineup.carrying, idle, named))
