"""The recipient's estimator: how many people match, from the published tables alone.

    release.count({"age": range(30, 40), "education": ["Masters", "Doctorate"]})

A predicate is one value, a list of values, a pair `(low, high)` or `Between(low, high)` of numbers
or dates, both included, or a `range` of whole numbers. A list names published values, by label or
by code; a range may reach beyond them. The same count as SQL: sql.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.arrays import Bools, Floats
from shoal.data.table import Column, code_column
from shoal.errors import InputError, nearest, unknown
from shoal.groups.generalization import has_order
from shoal.release.forms import form_named
from shoal.release.utility.errors import Estimate
from shoal.release.utility.published import Published
from shoal.release.utility.workload import answer_queries

if TYPE_CHECKING:
    from shoal.release import Release


@dataclass(frozen=True)
class Between:
    """The values from `low` to `high`, both included; None leaves an end open."""

    low: Any = None
    high: Any = None


def count(
    release: Release, where: Mapping[str, Any] | None = None, *, weighted: bool = False
) -> Estimate:
    """The estimated number of rows of the original table that match, as far as published; or of the
    people of the population for whom they stand."""
    published, where = release.coded, predicates(release, where or {})
    allowed = [
        allowed_values(column, where[column.name])[:, None]
        if column.name in where
        else np.ones((len(column), 1), dtype=bool)
        for column in published.columns
    ]
    parts = sensitive_weights(release, published, where)
    spread = published.chances.asked(parts)
    matching, each = form_named(release.form).matching(published, allowed), None
    if weighted:
        each = survey_weights(release)
        published = published.standing_for(each)
    found = answer_queries(published, allowed, parts[None, :])[0]
    return Estimate(found, spread.standard_error(matching, each))


def has_survey_weights(release: Release) -> bool:
    """Whether survey weights are published, as numbers."""
    name, spec = release.spec.weight, release.spec
    if name is None or name not in spec.qi or release.form == "generalized":
        return False
    return release.qi_runs.distinct.schema[name].is_numeric()


def survey_weights(release: Release) -> Floats:
    """The survey weight of each unit of a release; whoever is published without attributes has the
    mean of the others."""
    if not has_survey_weights(release):
        raise InputError(
            "survey-weight",
            "The release has no survey weights, or has them as ranges.",
            "Count the people of the table (without weighted): the population cannot be counted.",
        )
    published, name = release.coded, str(release.spec.weight)
    place = release.spec.qi.index(name)
    mean = release.qi_runs.frame()[name].mean()
    weight = published.columns[place].values.cast(pl.Float64).fill_null(float(mean or 0))  # type: ignore[arg-type]
    return np.asarray(weight.to_numpy()[published.coded[:, place]])


def predicates(release: Release, where: Mapping[str, Any]) -> dict[str, Any]:
    """What is asked for, of columns that are published; codes are called by their labels."""
    known = [*release.spec.qi, *release.spec.sensitive_columns]
    crossed = [name for name in release.spec.sensitive_columns if name in where]
    if release.spec.publish_apart and len(crossed) > 1:
        raise InputError(
            "count-apart",
            f'"{crossed[0]}" and "{crossed[1]}" were permuted apart: which of their values go '
            "together is not in the release.",
            "Count one of them at a time.",
        )
    for name in where:
        if name not in known:
            problem = f'The release has no attribute "{name}"'
            raise unknown("count-column", problem, str(name), known)
    labels = {name: dict(recipe.labels) for name, recipe in release.spec.recode}
    return {name: _by_labels(asked, labels.get(name, {})) for name, asked in where.items()}


def _by_labels(predicate: Any, labels: Mapping[str, str]) -> Any:
    if not labels or isinstance(predicate, range | Between) or _is_pair(predicate):
        return predicate
    shown = set(labels.values())
    texts = _texts(predicate, pl.String())
    return [text if text in shown else labels.get(text, text) for text in texts]


def allowed_values(column: Column, predicate: Any) -> Bools:
    """Which values of a published domain a predicate allows."""
    if has_order(column) and _is_pair(predicate):
        predicate = Between(*predicate)
    if isinstance(predicate, range | Between):
        return _within(column, predicate)
    allowed = np.zeros(len(column), dtype=bool)
    code = {label: position for position, label in enumerate(column.labels)}
    for label in _texts(predicate, column.values.dtype):
        if label not in code:
            raise _unknown(column.name, label, column.labels, ordered=has_order(column))
        allowed[code[label]] = True
    return allowed


def _within(column: Column, predicate: range | Between) -> Bools:
    if not has_order(column):
        raise InputError(
            "count-range",
            f'"{column.name}" has no order, so nothing lies between two of its values.',
            "Give a list of its values.",
        )
    if isinstance(predicate, range):
        return column.values.is_in(list(predicate)).fill_null(False).to_numpy()
    inside = column.values.is_not_null()
    try:
        if predicate.low is not None:
            inside &= (column.values >= predicate.low).fill_null(False)
        if predicate.high is not None:
            inside &= (column.values <= predicate.high).fill_null(False)
    except (TypeError, pl.exceptions.PolarsError):
        raise InputError(
            "count-range",
            f'{predicate} cannot be compared with the values of "{column.name}".',
            f"Give ends of the same type as {column.labels[0]}.",
        ) from None
    return inside.to_numpy()


def sensitive_weights(release: Release, published: Published, where: Mapping[str, Any]) -> Floats:
    """Which part of each published value is asked for, in all sensitive columns. What a column does
    not tell of a value is taken to be as it is where that column tells it, whatever the others
    say."""
    if isinstance(release.spec.sensitive, str):
        return value_weights(published, release.spec.sensitive, where)
    weights = np.ones(len(published.values))
    for c, name in enumerate(release.spec.sensitive):
        if name in where:
            alone = release.coded_alone[name]
            part = dict(zip(alone.values, value_weights(alone, name, where), strict=True))
            weights *= [part[parts[c]] for parts in published.parts]
    return weights


def _is_pair(predicate: Any) -> bool:
    """Whether it says from where to where: a list of two is two values."""
    kinds = (int, float, date)
    return (
        isinstance(predicate, tuple)
        and len(predicate) == 2
        and all(isinstance(end, kinds) and not isinstance(end, bool) for end in predicate)
    )


def value_weights(published: Published, sensitive: str, where: Mapping[str, Any]) -> Floats:
    """Which part of each published value is asked for."""
    if sensitive not in where:
        return np.ones(len(published.values))
    if isinstance(where[sensitive], range | Between) or _is_pair(where[sensitive]):
        raise InputError(
            "count-range",
            f'The sensitive attribute "{sensitive}" is published value by value.',
            "Give a list of its values.",
        )
    asked = tuple(dict.fromkeys(_texts(where[sensitive], pl.String())))
    known = list(dict.fromkeys([*published.values, *published.event_of]))
    for label in asked:
        if label not in known:
            raise _unknown(sensitive, label, known, ordered=False)
    # A value asked for by its own name counts in full, and its members not a second time.
    return np.asarray(np.minimum(published.value_shares(asked).sum(axis=1), 1.0))


def _texts(predicate: Any, dtype: pl.DataType) -> list[str]:
    """A predicate's values, as the release shows them."""
    single = isinstance(predicate, str | bytes) or not isinstance(predicate, Iterable)
    values = [predicate] if single else list(predicate)
    if not values:
        return []
    texts = []
    for value in values:
        one = pl.Series([value])
        if dtype.is_temporal() and one.dtype.is_temporal():
            one = one.cast(dtype)
        texts.append(code_column(one.alias("value"))[0].labels[0])
    return texts


def _unknown(name: str, label: str, known: Iterable[str], *, ordered: bool) -> InputError:
    return InputError(
        "count-value",
        f'"{label}" is no value of "{name}" in this release{nearest(label, known)}.',
        "Name published values, or give a range."
        if ordered
        else "Name published values, or members of a published event.",
    )
