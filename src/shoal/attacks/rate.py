"""How often an attacker was right, how sure that is, and when a limit counts as beaten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scipy.special import betaincinv

from shoal.auditing.attacked import Hits

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Rate:
    """Guesses, and how many of them were right."""

    tries: int
    hits: int
    chosen_among: int = 1
    """Of so many ways to guess the best was taken; the interval allows for it (Bonferroni)."""

    @property
    def rate(self) -> float:
        return self.hits / max(1, self.tries)

    @property
    def interval(self) -> tuple[float, float]:
        """Clopper and Pearson's exact one."""
        tail, misses = (1 - CONFIDENCE) / 2 / self.chosen_among, self.tries - self.hits
        high = float(betaincinv(self.hits + 1, misses, 1 - tail)) if misses else 1.0
        return self.surely(), high

    def surely(self, attackers: int = 1) -> float:
        """The lower end, where the best of so many attackers is looked at."""
        tail = (1 - CONFIDENCE) / 2 / self.chosen_among / attackers
        return float(betaincinv(self.hits, self.tries - self.hits + 1, tail)) if self.hits else 0.0

    @property
    def result(self) -> Hits:
        """As it is kept and shown."""
        low, high = self.interval
        return Hits(
            tries=self.tries,
            hits=self.hits,
            rate=round(self.rate, 4),
            low=round(low, 4),
            high=round(high, 4),
        )

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.rate:.3f} [{low:.3f}, {high:.3f}]"


NOBODY = Rate(0, 0)


BEATEN = "beaten"
HELD = "not beaten"
TOO_FEW = "too few tries to judge"
UNPROMISED = "nothing is promised"
UNTRIED = "nobody to name"
CERTAIN = 1 - 1e-6
"""Whoever thinks somebody a carrier with this chance is certain."""
WIDEST = 2.0
"""An interval wider than so many times the limit tells nothing."""

Judged = tuple[Rate, float | None]
"""A rate, and its limit, if there is one."""


def verdict(judged: Sequence[Judged], surprises: int, attackers: int = 1) -> str:
    """`judged` are the rate among people whom all counts together leave at 1/r at most, with the
    limit 1/r, and the rate among everybody named, with the mean of what each of them is allowed:
    1/r, or what the counts say, if that is more. `surprises` are people who are rightly named with
    certainty and whom the counts alone do not name so.

    The limit is beaten if one of the rates lies above its own with its whole interval, which allows
    for as many attackers as took part, or if there is a surprise. It is not if the first rate that
    somebody was named for is known well enough."""
    asked = [(rate, limit) for rate, limit in judged if limit is not None and rate.tries]
    if surprises or any(above(rate, limit, attackers) for rate, limit in asked):
        return BEATEN
    if not asked:
        return UNPROMISED if any(rate.tries for rate, _ in judged) else UNTRIED
    rate, limit = asked[0]
    low, high = rate.interval
    return TOO_FEW if high - low > WIDEST * limit else HELD


def above(rate: Rate, limit: float, attackers: int = 1) -> bool:
    """Whether a rate is above a limit with its whole interval."""
    return rate.surely(attackers) > limit


SENTENCES = {
    BEATEN: "The limit is beaten.",
    HELD: "The limit is not beaten.",
    TOO_FEW: "Too few tries to judge whether the limit is beaten.",
    UNPROMISED: "Nothing is promised against this.",
    UNTRIED: "There was nobody to name.",
}
