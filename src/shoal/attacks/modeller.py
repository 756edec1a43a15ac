"""The modeller: a classifier over all QIs, which combines what views know one by one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.attacker import Guesses, NotApplicableError
from shoal.attacks.odds import Floats, as_odds
from shoal.attacks.scene import Scene
from shoal.attacks.trees import can_grow, grown
from shoal.table import Table

FOLDS, MOST_CATEGORIES = 5, 250
NEEDS_MODELS = "It needs scikit-learn: pip install 'shoal[models]'."


class Modeller:
    """Boosted trees, fitted on people unlike those who are asked about."""

    name = "modeller"
    reasoning = "fits a model of the event on all QIs, and names the likeliest member by it"

    def attack(self, scene: Scene) -> Iterator[Guesses]:
        if not can_grow():
            raise NotApplicableError(NEEDS_MODELS)
        if len(scene.table.signatures) < FOLDS:
            raise NotApplicableError("There are too few kinds of people to fit a model to others.")
        return self._named(scene)

    def _named(self, scene: Scene) -> Iterator[Guesses]:
        lineup, rng = scene.lineup, scene.rng(self.name)
        events = np.unique(lineup.event)
        chances = np.zeros((len(scene.table.signatures), len(scene.table.events)))
        for event in events:
            chances[:, event] = cross_fitted(scene.table, scene.carriers[:, event], rng)
        if len(events):
            odds = as_odds(chances[lineup.signature, lineup.event[lineup.case]])
            yield Guesses(lineup, odds, chance=lineup.posterior(odds), before=chances)


def cross_fitted(table: Table, carrying: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    """For each signature the chance of the event by a model of people with other signatures, so
    that nobody's own value, nor that of anybody just like them, informs their figure."""
    design, categories = _design(table)
    fold = rng.permutation(len(design)) % FOLDS
    chance = np.full(len(design), carrying.sum() / table.rows)
    outcome = np.repeat([True, False], len(design))
    people = np.concatenate([carrying, table.signature_rows - carrying])
    for number in range(FOLDS):
        others = people * np.tile(fold != number, 2)
        if len(np.unique(outcome[others > 0])) < 2:
            continue
        model = grown(np.tile(design, (2, 1)), outcome, others, rng, categories=categories)
        mine = fold == number
        chance[mine] = model.predict_proba(design[mine])[:, 1]
    return chance


def _design(table: Table) -> tuple[Floats, list[int]]:
    """signatures x QIs: numbers as they are, everything else as codes; and which QIs are codes that
    are few enough to be told apart one by one."""
    columns, categories = [], []
    for position, column in enumerate(table.qi):
        codes = table.signatures[:, position]
        if column.numeric:
            numbers = column.values.cast(float).fill_null(float("nan")).to_numpy()
            columns.append(numbers[codes])
        else:
            columns.append(codes.astype(np.float64))
            if len(column) <= MOST_CATEGORIES:
                categories.append(position)
    return np.stack(columns, axis=1), categories
