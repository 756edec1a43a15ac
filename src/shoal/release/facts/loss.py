"""What a release lost: how far each column's published distribution is from the true one, and how
far count queries are off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from shoal.arrays import Floats, Ints
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
TINY = 1e-300
DIGITS = 9
"""Sums of shares of people are read to so many."""


def published_people(table: Table, people: Ints, values: Floats) -> tuple[ColumnLoss, ...]:
    """For true QI values: what is left when some people (`people` of each signature stay) are not
    published, and values (so many of each are shown) changed."""
    true = table.value_rows.astype(np.float64)
    sensitive = _lost(table.members.name, table.values, true, values, role="sensitive")
    return (sensitive, *_of_qi(table, true_values(table, people)))


def released(table: Table, release: Release) -> tuple[ColumnLoss, ...]:
    """For a release: as its reader would reckon."""
    parts = [(one, reckoned(one, alone.coded)) for one, alone in columns_of(table, release)]
    sensitive = [_of_members(one, members) for one, (_, members) in parts]
    return (*sensitive, *_of_qi(table, parts[0][1][0]))


def reckoned(table: Table, published: Published) -> tuple[list[Floats], Floats]:
    """How many people have each value of each QI, and each sensitive value, by a release: a
    published range is spread evenly over what it covers, a group's values over all of its tuples,
    as for count queries."""
    cells = published.cells
    people = cells.summed(cells.count)
    spread = [
        _spread(shown.labels, column.labels)
        for shown, column in zip(published.columns, table.qi, strict=True)
    ]
    spread = form_named(published.form).spread(published, spread)
    of_qi = [
        np.bincount(published.coded[:, place], people, len(shown)) @ shown
        for place, shown in enumerate(spread)
    ]
    held = np.bincount(cells.code, cells.count, len(published.values))
    return of_qi, held @ published.value_shares(table.members.labels)


def _of_members(table: Table, members: Floats) -> ColumnLoss:
    """The sensitive column: bars of the values that are published, and how far the single ones that
    these stand for moved."""
    cells, true = table.member_cells, table.value_rows.astype(np.float64)
    values = np.bincount(table.member_value, members, len(table.values)).astype(np.float64)
    shown = _lost(table.members.name, table.values, true, values, role="sensitive")
    before = np.bincount(cells.value, cells.rows, len(members)).astype(np.float64)
    return replace(shown, distance=_distance(before, members))


def _of_qi(table: Table, after: list[Floats]) -> list[ColumnLoss]:
    before = true_values(table, table.signature_rows)
    return [
        _lost(
            column.name, column.labels, *counts, numbers=column.values if column.numeric else None
        )
        for column, *counts in zip(table.qi, before, after, strict=True)
    ]


def _distance(before: Floats, after: Floats) -> float:
    """Half the sum of |p - q|, the largest difference that the share of any set of values can
    have."""
    return float(np.abs(before / before.sum() - after / max(after.sum(), TINY)).sum() / 2)


def _lost(
    name: str,
    labels: tuple[str, ...],
    before: Floats,
    after: Floats,
    *,
    numbers: pl.Series | None = None,
    role: str = "QI",
) -> ColumnLoss:
    """One column: total variation distance, values gone, and the bars of its two distributions."""
    after = np.round(after, DIGITS)
    bars = None if numbers is None else _ranges(numbers, labels, before, after)
    return ColumnLoss(
        name=name,
        role=role,
        distance=_distance(before, after),
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
