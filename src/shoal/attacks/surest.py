"""Precision among the surest: attackers choose whom to name, and one guess for each group hides how
well they do where they are surest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor

import numpy as np

from shoal.arrays import Bools, Floats, Ints, Singles
from shoal.attacks.rate import Rate
from shoal.auditing.attacked import SurestRate

COUNTS = (20, 50, 100, 200)
DIGITS = 9
"""Sums of shares of people are read to so many."""


@dataclass(frozen=True)
class Surest:
    """Of so many people whom an attacker is surest of, over all groups, how many carry. Equals that
    are not all among them count in equal parts, so that it is an expectation."""

    among: str
    """Of whom: "everybody", "unknown" (at most 1/r before anything is published) or "known"."""
    people: int
    right: float
    without: float
    """How many carry of as many people of the whole table, whom the attacker is surest of without a
    release."""
    control: float
    """What the release claims of the people named with it, in the view that expects most."""
    chosen_among: int = 1

    @property
    def interval(self) -> tuple[float, float]:
        """The exact one of the share that carries; an expectation is rounded away from itself."""
        low, high = floor(self.right), ceil(self.right)
        return (
            Rate(self.people, low, self.chosen_among).interval[0],
            Rate(self.people, high, self.chosen_among).interval[1],
        )

    @property
    def result(self) -> SurestRate:
        """As it is kept and shown."""
        low, high = self.interval
        return SurestRate(
            among=self.among,
            people=self.people,
            right=round(self.right, 2),
            rate=round(self.right / self.people, 4),
            low=round(low, 4),
            high=round(high, 4),
            without=round(self.without / self.people, 4),
            control=round(self.control / self.people, 4),
        )


@dataclass(frozen=True, eq=False)
class Ranked:
    """Kinds of people with how sure somebody is that they carry, and the truth."""

    rank: Floats
    people: Ints
    carrying: Ints

    def first(self, count: float) -> tuple[Ints, Floats]:
        """The kinds that hold the `count` people with the largest rank, and how many of each are
        among these: equals in equal parts."""
        at = min(len(self.rank), max(1, ceil(count)))
        # A kind has a person at least: these are in as many kinds, or equal to the last of them.
        least = np.partition(self.rank, len(self.rank) - at)[len(self.rank) - at]
        kept = np.flatnonzero(self.rank >= least)
        _, place = np.unique(-self.rank[kept], return_inverse=True)
        equals = np.bincount(place, self.people[kept])
        taken = np.clip(count - (np.cumsum(equals) - equals), 0, equals)
        return kept, self.people[kept] * (taken / np.maximum(1, equals))[place]

    def right(self, count: float) -> float:
        """How many of the `count` people with the largest rank carry, on average over equals."""
        kept, share = self.first(count)
        held = self.carrying[kept] / np.maximum(1, self.people[kept])
        return round(float(share @ held), DIGITS)

    def only(self, some: Bools) -> Ranked:
        return Ranked(self.rank[some], self.people[some], self.carrying[some])


def surest(
    named: Ranked, claimed: Singles, known: Bools, without: Ranked, known_without: Bools, ways: int
) -> Iterator[Surest]:
    """For everybody, for people not known beforehand, and for the others; `claimed` is kinds x
    views. Where there are fewer people nothing is chosen."""
    sides = {
        "everybody": (np.ones_like(known), np.ones_like(known_without)),
        "unknown": (~known, ~known_without),
        "known": (known, known_without),
    }
    for among, (mine, theirs) in sides.items():
        suspects, population, place = named.only(mine), without.only(theirs), np.flatnonzero(mine)
        for count in COUNTS:
            if count > suspects.people.sum():
                break
            kept, share = suspects.first(count)
            yield Surest(
                among=among,
                people=count,
                right=suspects.right(count),
                without=population.right(count),
                control=float((share @ claimed[place[kept]]).max()),
                chosen_among=ways,
            )
