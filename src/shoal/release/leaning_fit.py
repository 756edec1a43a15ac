"""Fits leanings to a grouping: factors by which classes count right, within everybody's limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize

from shoal.grouping import Grouping
from shoal.grouping.pairs import ragged, starts
from shoal.knowledge import Knowledge, View
from shoal.release.kernels import carriers_held, shared_out, slope
from shoal.release.leanings import (
    COUNTED,
    LARGEST,
    SCHEMA,
    TOLD,
    Groups,
    fault,
    limits,
    no_leanings,
)
from shoal.table import IntArray, Table

Floats = NDArray[np.float64]
MOST_TOLD, MOST_COUNTED = 150, 400
MOST_LINES = 60_000
"""Of larger releases as many groups as have so many lines, by chance, are fitted to."""
NOISE = 3.0
"""Standard deviation of the noise, in carriers of a class."""
TIGHT = 0.95
"""Where equal shares are this near to a limit, all of the group have the same weight."""
NEAR, STEEP, RIDGE, MARGIN = 0.15, 1_000.0, 1e-4, 0.97
"""Errors of counts beyond this part cost so much more; factors near 1 are preferred; shares are
kept so far below limits."""
PRICES, STEPS = (1.0, 30.0, 1_000.0), 150
"""What it costs to be above a limit, one after the other, each for so many steps."""
PARTS = (1.0, 0.99, 0.98, 0.96, 0.93, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
"""If somebody still is above a limit, or a class is counted worse, the logarithms of all factors
become smaller by these."""


def fit_leanings(
    table: Table, knowledge: Knowledge, grouping: Grouping, *, seed: int
) -> pl.DataFrame:
    """event, attribute, value, attribute_2, value_2, factor: for classes that the adversary knows.
    None of a form that shows no values of single people, or where values were changed."""
    untold = grouping.form != "bucketized" or grouping.shown is not None
    if untold or table.several is not None or not knowledge.of_the_table:
        return no_leanings()
    lines = [
        (table.events[event].label, *told)
        for event in range(len(table.events))
        for told in _fitted(table, knowledge, grouping, event, seed)
    ]
    return pl.DataFrame(lines, schema=SCHEMA, orient="row")


@dataclass(frozen=True, eq=False)
class _Groups:
    """The groups of a grouping, with their values."""

    groups: Groups
    value: IntArray

    @classmethod
    def of(cls, table: Table, grouping: Grouping, event: int) -> _Groups:
        start = starts(grouping.group, len(grouping.copies))
        kind = table.value_event.astype(np.int64)
        held = carriers_held(start, grouping.value, grouping.rows, kind, event)
        lines = (start, grouping.signature, grouping.rows, grouping.copies)
        return cls(Groups(*lines, *held), grouping.value)

    def sample(self, random: np.random.Generator) -> _Groups:
        """Those that hold the event: all of them, or as many as have MOST_LINES lines, by chance,
        each for itself."""
        groups = self.groups
        if np.add.reduce(np.diff(groups.start), where=groups.carriers > 0) > MOST_LINES:
            until = groups.times * (groups.carriers > 0)
            np.cumsum(until, out=until)
            which = np.searchsorted(until, random.integers(0, until[-1], MOST_LINES), "right")
            length = groups.start[which + 1] - groups.start[which]
            which = np.sort(which[: max(1, int((np.cumsum(length) <= MOST_LINES).sum()))])
            times = np.ones(len(which), np.int64)
        else:
            which = np.flatnonzero(groups.carriers)
            times = groups.times[which]
        owner, line = ragged(groups.start, which)
        some = Groups(
            starts(owner, len(which)),
            groups.who[line],
            groups.number[line],
            times,
            groups.carriers[which],
            groups.elsewhere[which],
        )
        return _Groups(some, self.value[line])


@dataclass(frozen=True, eq=False)
class _Classes:
    """Classes of people, as attributes and values, and which signatures belong to each."""

    names: list[tuple[View, int]]
    belongs: sparse.csr_array
    """classes x signatures."""

    @classmethod
    def of(
        cls,
        views: list[View],
        carriers: Floats,
        least: int,
        most: int,
        random: np.random.Generator,
    ) -> _Classes:
        """The classes with at least so many carriers, and noise; of more than `most` those with
        most. In the order of their names: which of two has more is not told."""
        found = []
        for number, view in enumerate(views):
            counts = np.bincount(view.index, carriers)
            noisy = counts + NOISE * random.standard_normal(len(counts))
            enough = np.flatnonzero((noisy >= least) & (counts > 0))
            found += [(-noisy[one], number, int(one)) for one in enough if one > 0]
        chosen = sorted((number, one) for _, number, one in sorted(found)[:most])
        names = [(views[number], one) for number, one in chosen]
        rows = [np.flatnonzero(view.index == one) for view, one in names]
        place = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        column = np.concatenate([*rows, np.empty(0, np.int64)]).astype(np.int64)
        shape = (len(names), len(carriers))
        return cls(names, sparse.csr_array((np.ones(len(column)), (place, column)), shape=shape))


def _fitted(
    table: Table, knowledge: Knowledge, grouping: Grouping, event: int, seed: int
) -> Iterator[tuple[str, str, str | None, str | None, float]]:
    """The classes that have a factor for an event, as attributes and values, and the factor."""
    random = np.random.default_rng([seed, event])
    everybody = _Groups.of(table, grouping, event)
    if not everybody.groups.carriers.any():
        return
    sample = everybody.sample(random)
    some = sample.groups
    carries = table.value_event[sample.value] == event
    people = some.number * np.repeat(some.times, np.diff(some.start)) * carries
    carriers = np.bincount(some.who, people, len(table.signatures)).astype(np.float64)
    views = list(knowledge.class_views)
    counted = _Classes.of(views, carriers, COUNTED, MOST_COUNTED, random)
    told = _Classes.of(_nameable(views, table.spec.qi), carriers, TOLD, MOST_TOLD, random)
    if not counted.names or not told.names:
        return
    wanted = counted.belongs @ carriers + NOISE * random.standard_normal(len(counted.names))
    limit = limits(table, knowledge, event)
    there, place = np.unique(some.who, return_inverse=True)
    fit = _Fit(
        some._replace(who=place.astype(np.int32)),
        limit[there],
        sparse.csr_array(told.belongs[:, there]),
        sparse.csr_array(counted.belongs[:, there]),
        wanted,
    )
    factors, groups = fit.logarithms(), everybody.groups
    equal = groups.errors(table, views, event)
    for part in PARTS:
        written = [float(f"{factor:.12g}") for factor in np.exp(part * factors)]
        weight = np.exp(told.belongs.T @ np.log(written))
        if groups.above(weight, limit):
            continue
        if not fault(groups.errors(table, views, event, weight), equal):
            yield from (
                (*_name(table, view, one), factor)
                for (view, one), factor in zip(told.names, written, strict=True)
                if factor != 1.0
            )
            return


@dataclass(frozen=True, eq=False)
class _Fit:
    """Factors by which the classes count right, within limits: least squares of their relative
    errors, with a price on shares above limits that rises until there are none."""

    groups: Groups
    limit: Floats
    told: sparse.csr_array
    counted: sparse.csr_array
    wanted: Floats
    """Carriers of each class that is counted."""

    def logarithms(self) -> Floats:
        """Of the factor of each class told."""
        free = self._free()
        found = np.zeros(free.shape[1])
        for price in PRICES:
            found = minimize(
                self._objective,
                found,
                (free, price),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": STEPS},
            ).x
        return np.clip(free @ found, -LARGEST, LARGEST)

    def _objective(self, found: Floats, free: Floats, price: float) -> tuple[float, Floats]:
        groups, factors = self.groups, free @ found
        lines = groups.lines
        weight = np.exp(np.clip(self.told.T @ factors, -30.0, 30.0))
        error = self.counted @ shared_out(*lines, weight) / self.wanted - 1.0
        beyond = np.maximum(np.abs(error) - NEAR, 0.0)
        value = 100.0 * (error**2).mean() + STEEP * (beyond**2).sum() + RIDGE * found @ found
        pull = 200.0 * error / len(error) + 2.0 * STEEP * beyond * np.sign(error)
        gain = self.counted.T @ (pull / self.wanted)
        cost, changes = slope(*lines, weight, MARGIN * self.limit, gain, price)
        return value + cost, free.T @ (self.told @ changes) + 2.0 * RIDGE * found

    def _free(self) -> Floats:
        """Directions in which logarithms may move: none changes the odds within a tight group."""
        groups = self.groups
        lengths = np.diff(groups.start)
        size = np.add.reduceat(groups.number, groups.start[:-1])
        least = np.minimum.reduceat(self.limit[groups.who], groups.start[:-1])
        tight = groups.carriers > TIGHT * least * size
        own = sparse.csr_array(self.told.T)[groups.who[np.repeat(tight, lengths)]]
        if not own.shape[0]:
            return np.eye(self.told.shape[0])
        group = np.repeat(np.arange(int(tight.sum())), lengths[tight])
        first = np.flatnonzero(np.diff(group, prepend=-1))
        apart = own - own[first[group]]
        strength, direction = np.linalg.eigh((apart.T @ apart).toarray())
        return np.ascontiguousarray(direction[:, strength < 1e-9 * max(1.0, strength[-1])])


def _nameable(views: list[View], qi: Sequence[str]) -> list[View]:
    """The views of one or two QIs, each once, whatever the order of its attributes."""
    few = {frozenset(view.attributes): view for view in views if 1 <= len(view.attributes) <= 2}
    return [view for names, view in few.items() if names.issubset(qi)]


def _name(table: Table, view: View, one: int) -> tuple[str, str, str | None, str | None]:
    """A class as attributes, in the order of the QIs, and values."""
    somebody = table.signatures[int(np.argmax(view.index == one))]
    named = []
    for place, attribute in enumerate(table.spec.qi):
        if attribute in view.attributes:
            named += [attribute, table.qi[place].labels[somebody[place]]]
    first, value, *rest = (*named, None, None)
    return str(first), str(value), rest[0], rest[1]
