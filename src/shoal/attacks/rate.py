"""How often an attacker was right, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scipy.stats import beta

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
        high = float(beta.ppf(1 - tail, self.hits + 1, misses)) if misses else 1.0
        return self.surely(), high

    def surely(self, attackers: int = 1) -> float:
        """The lower end, where the best of so many attackers is looked at."""
        tail = (1 - CONFIDENCE) / 2 / self.chosen_among / attackers
        return float(beta.ppf(tail, self.hits, self.tries - self.hits + 1)) if self.hits else 0.0

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


NOBODY = Rate(0, 0)
