"""The modeller: a classifier over all QIs, which combines what views know one by one."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.attacker import Guesses, NotApplicableError
from shoal.attacks.odds import Floats, as_odds
from shoal.attacks.scene import Scene
from shoal.table import Table

FOLDS, MOST_CATEGORIES = 5, 250
NEEDS_MODELS = "It needs scikit-learn: pip install 'shoal[models]'."


class Modeller:
    """Boosted trees, fitted on people unlike those who are asked about."""

    name = "modeller"
    reasoning = "fits a model of the event on all QIs, and names the likeliest member by it"

    def attack(self, scene: Scene) -> Iterator[Guesses]:
        if not find_spec("sklearn"):
            raise NotApplicableError(NEEDS_MODELS)
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
    from sklearn.ensemble import HistGradientBoostingClassifier

    design, categories = _design(table)
    fold = rng.permutation(len(design)) % FOLDS
    chance = np.full(len(design), carrying.sum() / table.rows)
    outcome = np.repeat([True, False], len(design))
    weight = np.concatenate([carrying, table.signature_rows - carrying]).astype(np.float64)
    for number in range(FOLDS):
        others = (weight > 0) & np.tile(fold != number, 2)
        if len(np.unique(outcome[others])) < 2:
            continue
        model = HistGradientBoostingClassifier(
            max_iter=150,
            learning_rate=0.08,
            max_leaf_nodes=15,
            l2_regularization=1.0,
            categorical_features=categories,
            early_stopping=False,
            random_state=int(rng.integers(2**31)),
        )
        model.fit(np.tile(design, (2, 1))[others], outcome[others], sample_weight=weight[others])
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
