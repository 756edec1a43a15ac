"""What one attacker achieves in the study of insiders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from shoal.attacks import Rate
from shoal.attacks.rate import NOBODY

Kind = Literal["insider", "modeller", "counting"]


@dataclass(frozen=True)
class Finding:
    """What one attacker achieves."""

    attacker: str
    kind: Kind
    """modeller: somebody who knows nothing of how groups are made, and names the likeliest member
    by a model of all QIs. counting: somebody who knows the exact number of carriers of every class.
    Both are right more often than chance on groups that were drawn at random too."""
    everybody: Rate
    """Over all groups that hold an event."""
    unknown: Rate
    """Over those whose carriers were all at 1/r at most before publication, in every view."""
    unforeseen: Rate = NOBODY
    """Over those of them whose carriers no model of all QIs put above 1/r either."""

    def facts(self) -> dict[str, Any]:
        return {
            "attacker": self.attacker,
            "kind": self.kind,
            "everybody": self.everybody.facts(),
            "unknown": self.unknown.facts(),
            "unforeseen": self.unforeseen.facts(),
        }
