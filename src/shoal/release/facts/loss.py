"""What a release lost: how far each column's published distribution is from the true one, and how
far count queries are off."""

from __future__ import annotations

from collections import ChainMap

import numpy as np
import polars as pl

from shoal.arrays import Floats, Ints
from shoal.data.spec import OTHER
from shoal.data.table import Table
from shoal.release import Release
from shoal.release.facts.records import (
    Bar,
    ColumnLoss,
    CountedStrata,
    ErrorLine,
    QueryErrors,
    StratumError,
    StratumErrors,
)
from shoal.release.forms import form_named
from shoal.release.forms.bucketized import true_values
from shoal.release.utility import ErrorSummary, Published, Workload
from shoal.release.utility.classes import ENOUGH_CASES, ClassError
from shoal.release.utility.summary import columns_of, errors_of, population_errors

MOST_VALUES = 12
"""Bars per chart: the commonest values, and the rest as one; numbers in as many ranges."""
REST = "(all others)"
QUERIES = 2_000
WORST_CLASSES = 5


def published_people(table: Table, people: Ints, values: Floats) -> tuple[ColumnLoss, ...]:
    """For true QI values: what is left when some people (`people` of each signature stay) are not
    published, and values (so many of each are shown) changed."""
    return _columns(table, true_values(table, people), values)


def released(table: Table, release: Release) -> tuple[ColumnLoss, ...]:
    """For a release: as its reader would reckon, ranges spread evenly over what they cover."""
    after = form_named(release.form).value_counts(release, table)
    if table.several is None:
        return _columns(table, after, _value_counts(table, release))
    sensitive = [
        _sensitive(one, _value_counts(one, release.alone(one.members.name)))
        for one in table.several.columns
    ]
    return (*sensitive, *_columns(table, after, table.value_rows.astype(np.float64))[1:])


def _value_counts(table: Table, release: Release) -> Floats:
    lines = release.sensitive_runs.totals(pl.col(table.members.name), "count")
    held = dict(lines.iter_rows())
    counts = np.array([float(held.get(value, 0)) for value in table.values])
    pooled = float(held.get(OTHER, 0))
    filler = np.where(table.value_event < 0, table.value_rows, 0)
    return np.asarray(counts + pooled * filler / max(1, filler.sum()))


def _columns(table: Table, after: list[Floats], values: Floats) -> tuple[ColumnLoss, ...]:
    rows = table.signature_rows.astype(np.float64)
    columns = [
        _lost(
            column.name,
            column.labels,
            np.asarray(np.bincount(table.signatures[:, place], rows, len(column)), np.float64),
            counts,
            numbers=column.values if column.numeric else None,
            role="QI",
        )
        for place, (column, counts) in enumerate(zip(table.qi, after, strict=True))
    ]
    return (_sensitive(table, values), *columns)


def _sensitive(table: Table, values: Floats) -> ColumnLoss:
    true = table.value_rows.astype(np.float64)
    name = table.members.name
    return _lost(name, table.values, true, values, numbers=None, role="sensitive")


def _lost(
    name: str,
    labels: tuple[str, ...],
    before: Floats,
    after: Floats,
    *,
    numbers: pl.Series | None,
    role: str,
) -> ColumnLoss:
    """One column: total variation distance, values gone, and the bars of its two distributions."""
    share = after / after.sum() if after.sum() else after
    distance = 0.5 * float(np.abs(before / before.sum() - share).sum())
    bars = _ranges(numbers, labels, before, after) if numbers is not None else None
    return ColumnLoss(
        name=name,
        role=role,
        distance=distance,
        values=len(labels),
        gone=int(((before > 0) & (after == 0)).sum()),
        bars=tuple(bars or _commonest(labels, before, after)),
    )


def _commonest(labels: tuple[str, ...], before: Floats, after: Floats) -> list[Bar]:
    order = np.argsort(-before, kind="stable")
    kept = order if len(order) <= MOST_VALUES else order[: MOST_VALUES - 1]
    bars = [_bar(labels[code], before[code], after[code]) for code in kept]
    rest = order[len(kept) :]
    return [*bars, _bar(REST, before[rest].sum(), after[rest].sum())] if len(rest) else bars


def _ranges(
    numbers: pl.Series, labels: tuple[str, ...], before: Floats, after: Floats
) -> list[Bar] | None:
    """Numbers in ranges of one width; None where there are few enough to name each."""
    present = numbers.drop_nulls().cast(pl.Float64).to_numpy()
    if len(labels) <= MOST_VALUES:
        return None
    edges = np.linspace(present.min(), present.max(), MOST_VALUES + 1)
    place = np.clip(np.searchsorted(edges, present, side="right") - 1, 0, MOST_VALUES - 1)
    bars = []
    for number in range(MOST_VALUES):
        inside = np.flatnonzero(place == number)
        if len(inside):
            first, last = labels[inside[0]], labels[inside[-1]]
            label = first if first == last else f"{first} to {last}"
            bars.append(_bar(label, before[inside].sum(), after[inside].sum()))
    if len(labels) > len(present):
        bars.append(_bar(labels[-1], before[-1], after[-1]))
    return bars


def _bar(label: str, before: float, after: float) -> Bar:
    return Bar(label, float(before), float(after))


def moved(table: Table, release: Release) -> dict[str, float]:
    """Each column's total variation distance."""
    parts = columns_of(table, release)
    return dict(ChainMap(*(variations(one, alone.coded) for one, alone in parts)))


def variations(table: Table, published: Published) -> dict[str, float]:
    """How far the distribution of each attribute moved: half the sum of |p - q|, the largest
    difference that the share of any set of values can have. A published range is spread evenly over
    what it covers, a group's values over all of its tuples, as for count queries."""
    cells, true = published.cells, table.member_cells
    spread = [
        _spread(shown.labels, column.labels)
        for shown, column in zip(published.columns, table.qi, strict=True)
    ]
    spread = form_named(published.form).spread(published, spread)
    people = cells.summed(cells.count)
    before = {
        column.name: np.bincount(table.signatures[true.signature, place], true.rows, len(column))
        for place, column in enumerate(table.qi)
    }
    after = [
        np.bincount(published.coded[:, place], people, len(shown)) @ shown
        for place, shown in enumerate(spread)
    ]
    before[table.members.name] = np.bincount(true.value, true.rows, len(table.members))
    held = np.bincount(cells.code, cells.count, len(published.values))
    after.append(held @ published.value_shares(table.members.labels))
    return {
        name: float(np.abs(p / p.sum() - q / max(q.sum(), 1e-300)).sum() / 2)
        for (name, p), q in zip(before.items(), after, strict=True)
    }


def _spread(published: tuple[str, ...], known: tuple[str, ...]) -> Floats:
    """published x table domain: a published value stands for itself."""
    position = {label: code for code, label in enumerate(known)}
    spread = np.zeros((len(published), len(known)))
    for row, label in enumerate(published):
        if label in position:
            spread[row, position[label]] = 1.0
    return spread


def query_errors(table: Table, release: Release) -> QueryErrors:
    """Errors of random count queries."""
    workload = Workload(queries=QUERIES)
    every, protected, strata = errors_of(table, release, workload)
    population = population_errors(table, release, workload)
    lines = [
        _line("about any values", every),
        _line("about a protected event", protected),
        None if population is None else _line("about the population", population),
    ]
    return QueryErrors(
        drawn=QUERIES,
        selectivity=workload.selectivity,
        attributes=workload.qd(table),
        seed=workload.seed,
        lines=tuple(line for line in lines if line is not None),
        classes=StratumErrors(
            weights=release.weight is not None,
            smaller=strata.smaller,
            enough=ENOUGH_CASES,
            counted=CountedStrata(
                len(strata.classes), strata.average, strata.far_off, strata.covered
            ),
            worst=tuple(stratum(one) for one in strata.classes[:WORST_CLASSES]),
        ),
    )


def stratum(one: ClassError) -> StratumError:
    """An error as it is kept and shown."""
    return StratumError(
        class_=dict(zip(one.view, one.values, strict=True)),
        event=one.event,
        carriers=one.carriers,
        estimate=float(one.estimate),
        standard_error=one.estimate.standard_error,
        error=one.error,
    )


def _line(name: str, summary: ErrorSummary) -> ErrorLine | None:
    if summary.average is None or summary.median is None or summary.percentile_95 is None:
        return None
    return ErrorLine(
        name=name,
        counted=round(summary.queries * (1 - summary.zero_share)),
        mean=summary.average,
        median=summary.median,
        p95=summary.percentile_95,
    )
