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
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from shoal.arrays import Floats, IntArray
from shoal.data.table import Table
from shoal.errors import InputError, missing_extra, nearest, unknown
from shoal.groups.ragged import Ragged
from shoal.knowledge.fitted import Fitted, measure
from shoal.knowledge.knowledge import Knowledge, table_distribution
from shoal.knowledge.models.kernels import kernel_sums

# The kernel estimate: everybody's distribution as the mean of people like them.
#
# Li, Li and Zhang ("Modeling and Integrating Background Knowledge in Data Anonymization", ICDE
# 2009) describe an adversary by a bandwidth B per attribute: a small one for what they know
# precisely, a large one for what they hardly know. Numbers are weighed by Epanechnikov's kernel,
# B being a share of the attribute's range. Other attributes have no distances here: a value that
# differs counts B times as much as an equal one, so that B = 1 means that the attribute is not
# known at all.

BANDWIDTH = 0.3
"""Of every attribute that none is given for."""
BLOCK = 512
"""So many signatures are a task of their own."""

Bandwidth = float | Mapping[str, float]


@dataclass(frozen=True)
class Kernel:
    """The kernel estimate as a model."""

    bandwidth: Bandwidth = BANDWIDTH
    """Of all attributes, or of some by name."""

    name = "kernel"


def kernel_estimate(
    table: Table, bandwidth: Bandwidth = BANDWIDTH, *, fold: IntArray | None = None
) -> Floats:
    """signatures x values: the kernel estimate for every signature, from all signatures, or from
    those of other folds only; the whole table's distribution where nobody is near enough."""
    widths = _widths(table, bandwidth)
    signature, value, rows = table.cells
    count = len(table.signatures)
    start = Ragged.of_owners(signature, count).start
    folds = np.full(count, -1, np.int32) if fold is None else fold.astype(np.int32)
    numeric = np.array([column.numeric for column in table.qi])
    sums = np.zeros((count, len(table.values)))

    def fill(first: int) -> None:
        last = min(first + BLOCK, count)
        kernel_sums(places, numeric, widths, folds, start, value, rows, first, last, sums)

    places = _places(table)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(fill, range(0, count, BLOCK)))
    total = sums.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        return np.where(total > 0, sums / total, table_distribution(table))


def _widths(table: Table, bandwidth: Bandwidth) -> Floats:
    given = bandwidth if isinstance(bandwidth, Mapping) else dict.fromkeys(table.spec.qi, bandwidth)
    for name, width in given.items():
        if name not in table.spec.qi:
            problem = f'A bandwidth is given for "{name}", which is no QI'
            raise unknown("bandwidth", problem, name, table.spec.qi)
        if not 0 < width <= 1:
            raise InputError(
                "bandwidth",
                f'The bandwidth {width} of "{name}" is not a share.',
                "Give a number above 0 (known exactly) up to 1 (hardly known).",
            )
    return np.array([given.get(name, BANDWIDTH) for name in table.spec.qi], np.float64)


def _places(table: Table) -> Floats:
    """signatures x QIs: numbers as shares of their range, NaN where missing; codes of others."""
    columns = []
    for column, codes in zip(table.qi, table.signatures.T, strict=True):
        domain = np.arange(len(column), dtype=np.float64)
        if column.numeric:
            domain = column.values.cast(float).to_numpy()
            span = np.nanmax(domain) - np.nanmin(domain) if np.isfinite(domain).any() else 0.0
            domain = domain / span if span > 0 else domain * 0.0
        columns.append(domain[codes])
    return np.column_stack(columns)


# The models that can be asked for by name, with the columns that each is given.

MOST_CODES = 255
"""Boosting takes columns of more values than this as numbers."""


def one_hot(table: Table) -> Floats:
    """signatures x columns: numbers with mean 0 and deviation 1, missing ones 0 with a column that
    says so; of other attributes a column of 0 and 1 for each value."""
    columns: list[Floats] = []
    for column, codes in zip(table.qi, table.signatures.T, strict=True):
        if not column.numeric:
            columns.append(np.eye(len(column))[codes])
            continue
        number = _numbers(table, column.values.cast(float).to_numpy()[codes])
        missing = np.isnan(number)
        columns.append(np.where(missing, 0.0, number)[:, None])
        if missing.any():
            columns.append(missing.astype(np.float64)[:, None])
    return np.column_stack(columns)


def _numbers(table: Table, number: Floats) -> Floats:
    """With mean 0 and deviation 1 over all people who have one."""
    known = np.isfinite(number)
    people = table.signature_rows[known]
    if not people.sum():
        return np.full_like(number, np.nan)
    mean = np.average(number[known], weights=people)
    spread = np.sqrt(np.average((number[known] - mean) ** 2, weights=people))
    return np.where(known, (number - mean) / (spread or 1.0), np.nan)


def _boosting(table: Table, seed: int) -> tuple[Any, Floats]:
    """Gradient boosting over numbers and codes."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError:
        raise missing_extra("The model boosting", "scikit-learn") from None
    columns = [
        column.values.cast(float).to_numpy()[codes] if column.numeric else codes.astype(np.float64)
        for column, codes in zip(table.qi, table.signatures.T, strict=True)
    ]
    coded = [not column.numeric and len(column) <= MOST_CODES for column in table.qi]
    model = HistGradientBoostingClassifier(
        categorical_features=coded, early_stopping=False, random_state=seed % 2**32
    )
    return model, np.column_stack(columns)


def _logistic(table: Table, seed: int) -> tuple[Any, Floats]:
    """Logistic regression over the columns that any model is given."""
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise missing_extra("The model logistic", "scikit-learn") from None
    return LogisticRegression(max_iter=2000, random_state=seed % 2**32), one_hot(table)


BUILT_IN: dict[str, Callable[[Table, int], tuple[Any, Floats]]] = {
    "boosting": _boosting,
    "logistic": _logistic,
}


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
