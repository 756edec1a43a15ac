"""The models that can be asked for by name, with the columns that each is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from shoal.arrays import Floats
from shoal.data.table import Table
from shoal.errors import missing_extra

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
