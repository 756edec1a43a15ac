"""The modeller: what a fitted model of all QIs says of everybody, and who is likeliest by it."""

from __future__ import annotations

from collections.abc import Iterator

from shoal.attacks.attacker import Guesses, NotApplicableError
from shoal.attacks.odds import as_odds
from shoal.attacks.scene import Scene
from shoal.attacks.trees import can_grow
from shoal.knowledge import event_chances
from shoal.knowledge.models import fit_model

NEEDS_MODELS = "It needs the package scikit-learn: pip install scikit-learn."
FEWEST = 5
"""Of fewer kinds of people no model is fitted to others."""


class Modeller:
    """Boosted trees, fitted on people unlike those who are asked about (knowledge/models)."""

    name = "modeller"
    reasoning = "fits a model of the event on all QIs, and names the likeliest member by it"

    def attack(self, scene: Scene) -> Iterator[Guesses]:
        if not can_grow():
            raise NotApplicableError(NEEDS_MODELS)
        if len(scene.table.signatures) < FEWEST:
            raise NotApplicableError("There are too few different people to fit a model to others.")
        return self._named(scene)

    def _named(self, scene: Scene) -> Iterator[Guesses]:
        lineup = scene.lineup
        if not lineup.cases:
            return
        (view,) = fit_model(scene.table, "boosting", seed=scene.seed).views
        chances = event_chances(view, scene.table)[view.index]
        odds = as_odds(chances[lineup.signature, lineup.event[lineup.case]])
        yield Guesses(lineup, odds, chance=lineup.posterior(odds), before=chances)
