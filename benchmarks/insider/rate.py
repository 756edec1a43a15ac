"""How often an attacker was right, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from scipy.stats import beta

CONFIDENCE = 0.95
Kind = Literal["insider", "counting"]


@dataclass(frozen=True)
class Rate:
    """Guesses, and how many of them were right."""

    tries: int
    hits: int
    chosen_among: int = 1
    """Of so many attackers the best was taken; the interval allows for it (Bonferroni)."""

    @property
    def rate(self) -> float:
        return self.hits / max(1, self.tries)

    @property
    def interval(self) -> tuple[float, float]:
        """Clopper and Pearson's exact one."""
        tail, misses = (1 - CONFIDENCE) / 2 / self.chosen_among, self.tries - self.hits
        low = float(beta.ppf(tail, self.hits, misses + 1)) if self.hits else 0.0
        high = float(beta.ppf(1 - tail, self.hits + 1, misses)) if misses else 1.0
        return low, high

    def facts(self) -> dict[str, Any]:
        low, high = self.interval
        return {
            "tries": self.tries,
            "hits": self.hits,
            "rate": round(self.rate, 4),
            "low": round(low, 4),
            "high": round(high, 4),
        }

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.rate:.3f} [{low:.3f}, {high:.3f}]"


@dataclass(frozen=True)
class Finding:
    """What one attacker achieves."""

    attacker: str
    kind: Kind
    """counting: somebody who knows the exact number of carriers of every class, and so is right
    more often than chance on groups that were drawn at random too."""
    everybody: Rate
    """Over all groups that hold an event."""
    unknown: Rate
    """Over those whose carriers were all at 1/r at most before publication, in every view."""

    def facts(self) -> dict[str, Any]:
        return {
            "attacker": self.attacker,
            "kind": self.kind,
            "everybody": self.everybody.facts(),
            "unknown": self.unknown.facts(),
        }
