"""Cross-fitting: what a model says of everybody, from other people only.

The table is cut into folds, and the chances of each fold's people come from a model that was fitted
to all others. All people of one signature are in one fold: a view has one distribution for a
signature, and where twins were in different folds it would have to be an average in which everybody
had a part. What is known of the very same combination of attributes is a matter of the other views,
which know it from `min_support` on.

A model tells events apart, and everybody else: filler values are spread over the latter as in the
whole table, an event's members over the event.
"""

from __future__ import annotations

import copy
import inspect
from contextlib import AbstractContextManager, nullcontext
from typing import Any, cast

import numpy as np

from shoal.arrays import Floats, IntArray
from shoal.data.table import Table
from shoal.errors import InputError, nearest
from shoal.knowledge.fitted import Fitted, measure
from shoal.knowledge.knowledge import Knowledge, table_distribution
from shoal.knowledge.models.built_in import BUILT_IN, one_hot
from shoal.knowledge.models.smoothing import Kernel, kernel_estimate

FOLDS = 5


def fit_model(table: Table, model: Any, *, folds: int = FOLDS, seed: int = 0) -> Knowledge:
    """One view that a model makes: by its name, a Kernel, or anything with `fit` and
    `predict_proba`, which is given numbers as they are (0 for a missing one, and a column that says
    so) and a column of 0 and 1 for each value of other attributes."""
    count = len(table.signatures)
    if count < 2:
        raise InputError(
            "model",
            "All people have the same QI values, so that no model can learn anything.",
            "Leave the model out, or name more QIs.",
        )
    name = model if isinstance(model, str) else getattr(model, "name", type(model).__name__)
    if isinstance(model, str) and model not in ("kernel", *BUILT_IN):
        known = ("kernel", *BUILT_IN)
        raise InputError(
            "model",
            f'There is no model "{model}"{nearest(model, known)}.',
            f"Choose among: {', '.join(known)}; in Python, anything with fit and predict_proba.",
        )
    parts = min(folds, count)
    fold = np.random.default_rng(seed).permutation(np.arange(count) % parts).astype(np.int32)
    if model == "kernel" or isinstance(model, Kernel):
        width = model.bandwidth if isinstance(model, Kernel) else Kernel().bandwidth
        chances = _by_event(table, kernel_estimate(table, width, fold=fold))
    else:
        given = BUILT_IN[model](table, seed) if isinstance(model, str) else (model, one_hot(table))
        with _alone() if isinstance(model, str) else nullcontext():
            chances = _foretold(table, *given, fold)
    chances = _never_certain(table, chances)
    fitted = Fitted(name, parts, seed, measure(table, chances))
    return Knowledge.model(table, f"model {name}", _spread(table, chances), fitted=fitted)


def _alone() -> AbstractContextManager[Any]:
    """One thread for the models of scikit-learn, which is loaded by now: on tables of this size
    several wait for each other more than they work, and sums come out the same everywhere."""
    from threadpoolctl import threadpool_limits

    return cast(AbstractContextManager[Any], threadpool_limits(1))


def _foretold(table: Table, model: Any, columns: Floats, fold: IntArray) -> Floats:
    """signatures x (events, none): each fold from a fresh copy of the model, fitted to the rest."""
    if not (callable(getattr(model, "fit", None)) and hasattr(model, "predict_proba")):
        raise InputError(
            "model",
            f"A {type(model).__name__} is no model.",
            "Give an object with fit(X, y) and predict_proba(X), or a model's name.",
        )
    signature, value, rows = table.cells
    event = table.value_event[value]
    kind = np.where(event < 0, len(table.events), event)
    weighs = "sample_weight" in inspect.signature(model.fit).parameters
    chances = np.zeros((len(table.signatures), len(table.events) + 1))
    for part in range(int(fold.max()) + 1):
        there, here = np.flatnonzero(fold[signature] != part), np.flatnonzero(fold == part)
        seen = np.unique(kind[there])
        if len(seen) == 1:
            chances[here, seen[0]] = 1.0
            continue
        one = copy.deepcopy(model)
        if weighs:
            one.fit(columns[signature[there]], kind[there], sample_weight=rows[there])
        else:
            each = np.repeat(there, rows[there])
            one.fit(columns[signature[each]], kind[each])
        chances[np.ix_(here, seen)] = one.predict_proba(columns[here])
    return chances


def _by_event(table: Table, distributions: Floats) -> Floats:
    """signatures x (events, none)."""
    kind = np.where(table.value_event < 0, len(table.events), table.value_event)
    chances = np.zeros((len(distributions), len(table.events) + 1))
    np.add.at(chances.T, kind, distributions.T)
    return chances


def _never_certain(table: Table, chances: Floats) -> Floats:
    """As if one more person had been seen, who is like the whole table: no fitted model can exclude
    what the next person may carry."""
    whole = _by_event(table, table_distribution(table)[None])
    chances = chances / chances.sum(axis=1, keepdims=True)
    return np.asarray((chances * table.rows + whole) / (table.rows + 1))


def _spread(table: Table, chances: Floats) -> Floats:
    """signatures x values: each event's chance over its values, and the rest over the filler, in
    proportion to the table."""
    kind = np.where(table.value_event < 0, len(table.events), table.value_event)
    share = table_distribution(table)
    total = np.bincount(kind, share, len(table.events) + 1)
    spread = chances[:, kind] * (share / total[kind])
    return np.asarray(spread / np.maximum(1.0, spread.sum(axis=1, keepdims=True)))
