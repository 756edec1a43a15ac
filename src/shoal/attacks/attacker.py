"""The protocol: an attacker sees a scene, and says whom they name. All else (who of equals is
meant, scores, baselines, controls, intervals) is the runner's work, and done once for all.

To add one: write a class with a `name`, a sentence on how it reasons, and `attack`; then `register`
an instance, or name the class as an entry point of the group `shoal.attackers`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from shoal.arrays import Floats, Ints
from shoal.attacks.lineup import Lineup
from shoal.attacks.scene import Scene

UNSURE = 1 - 1e-3
"""The largest chance that is no certainty, for those whose figures may come near to one."""


@dataclass(frozen=True, eq=False)
class Guesses:
    """A score for every suspect: the largest of a question is named."""

    lineup: Lineup
    """The scene's groups, some of them, or its missing people."""
    score: Floats
    through: str = ""
    """By what, if an attacker has several ways; the one that is right most often is reported, and
    its interval allows for the choice."""
    chance: Floats | None = None
    """How likely the attacker thinks each suspect's people carry, if they have an opinion: 1 where
    they are certain. The surest are taken by it, or else by the score."""
    before: Floats | None = None
    """signatures x events: how the attacker ranks people before anything is published; None if they
    know nothing then."""


@dataclass(frozen=True, eq=False)
class Matches:
    """Of kinds of published people, how many records could be theirs."""

    people: Ints
    """How many people there are of each kind."""
    records: Ints
    """How many records fit each of them."""


class NotApplicableError(Exception):
    """The attacker cannot try this release; the text says why, as a sentence."""


class Attacker(Protocol):
    """Somebody who attacks a release."""

    @property
    def name(self) -> str: ...

    @property
    def reasoning(self) -> str:
        """How they go about it: what follows "This attacker"."""
        ...

    def attack(self, scene: Scene) -> Iterable[Guesses] | Matches:
        """Whom they name, in one way or several; no way at all where there is
        nobody to name. Who carries what
        (`Lineup.carrying`, the table's cells) may be used only where learning from other people
        is what the attacker does."""
        ...
