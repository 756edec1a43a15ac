"""What one attacker achieves in the study of insiders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from shoal.attacks import Rate

Kind = Literal["insider", "counting"]


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
