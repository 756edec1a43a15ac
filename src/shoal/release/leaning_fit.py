"""Fits leanings to a grouping: shares by which classes count right, within everybody's limit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize

from shoal.grouping import Grouping
from shoal.grouping.pairs import ragged, starts
from shoal.knowledge import Knowledge
from shoal.release.kernels import carriers_held, counted_with, share_out, shorten, slope
from shoal.release.leanings import (
    COUNTED,
    DIGITS,
    LEAST,
    Groups,
    Leanings,
    belonging,
    classes_told_of,
    fault,
    limits,
)
from shoal.table import IntArray, Table

Floats = NDArray[np.float64]
MOST_COUNTED = 400
"""Classes that counts are made right of; of more those with most carriers."""
MOST_LINES = 60_000
"""Of larger releases as many groups as have so many lines, by chance, are fitted to."""
NOISE = 2.0
"""Standard deviation of the noise in what one person makes, in people: that of a class's carriers
is so many times the root of how many classes somebody is in at most. One who carries or not moves
all of these, and noise that is drawn for each would average out."""
NEAR, STEEP, RIDGE = 0.15, 1_000.0, 1e-3
"""Errors of counts beyond this part cost so much more; weights near each other are preferred."""
STEPS = 150
LARGEST = 30.0
"""Of the logarithm of a weight."""
PARTS = (1.0, 0.85, 0.7, 0.5, 0.3)
"""If a class is counted worse, the logarithms of all weights become smaller by these."""


def fit_leanings(
    table: Table, knowledge: Knowledge, grouping: Grouping, *, seed: int
) -> Leanings | None:
    """Everybody's share; None of a form that shows no values of single people, where values were
    changed, and where classes would be counted no better than equally."""
    untold = grouping.form != "bucketized" or grouping.shown is not None
    if untold or table.several is not None or not knowledge.of_the_table:
        return None
    share = np.full(len(grouping.group), np.nan)
    told: dict[str, int] = {}
    for event in range(len(table.events)):
        people = _tell(share, table, knowledge, grouping, event, seed)
        told |= {table.events[event].label: people} if people else {}
    return Leanings.of(table, share, told) if told else None


def _tell(
    share: Floats,
    table: Table,
    knowledge: Knowledge,
    grouping: Grouping,
    event: int,
    seed: int,
) -> int:
    """Puts in the shares of the groups that hold an event and no other, and says of how many
    people."""
    random = np.random.default_rng([seed, event])
    everybody = _Groups.of(table, grouping, event)
    groups, limit = everybody.groups, limits(table, knowledge, event)
    if not groups.carriers.any():
        return 0
    fitted = _logarithms(table, knowledge, everybody.sample(random), event, limit, random)
    if fitted is None:
        return 0
    views, (start, who, number, _, carriers) = list(knowledge.class_views), groups.lines
    equal = groups.errors(table, views, event)
    for part in PARTS:
        weight = np.exp(part * fitted)
        share_out(start, who, number, carriers, weight, limit, LEAST, share)
        shorten(start, who, number, carriers, limit, share, DIGITS)
        if not fault(groups.errors(table, views, event, share), equal):
            return int((grouping.sizes * grouping.copies)[carriers > 0].sum())
    share[np.repeat(carriers > 0, np.diff(start))] = np.nan
    return 0


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


def _logarithms(
    table: Table,
    knowledge: Knowledge,
    sample: _Groups,
    event: int,
    limit: Floats,
    random: np.random.Generator,
) -> Floats | None:
    """Of each signature's weight; None if no class has enough carriers to be counted right."""
    some = sample.groups
    carries = table.value_event[sample.value] == event
    people = some.number * np.repeat(some.times, np.diff(some.start)) * carries
    carriers = np.bincount(some.who, people, len(table.signatures)).astype(np.float64)
    divisions = classes_told_of(table, knowledge.class_views)
    counted = [np.bincount(index, carriers) for index in divisions]
    noisy = [
        np.where(counts > 0, counts + NOISE * random.standard_normal(len(counts)), 0.0)
        for counts in counted
    ]
    classes = belonging(divisions, noisy, least=COUNTED, most=MOST_COUNTED)
    if not classes.shape[0]:
        return None
    noise = NOISE * np.sqrt(classes.sum(axis=0).max())
    wanted = classes @ carriers + noise * random.standard_normal(classes.shape[0])
    there, place = np.unique(some.who, return_inverse=True)
    fit = _Fit(
        some._replace(who=place.astype(np.int32)),
        limit[there],
        sparse.csr_array(classes[:, there]),
        np.maximum(wanted, 1.0),
    )
    return np.asarray(np.clip(classes.T @ fit.factors(), -LARGEST, LARGEST))


@dataclass(frozen=True, eq=False)
class _Fit:
    """A factor for each class; somebody's weight is the product of theirs. Least squares of the
    relative errors of counts."""

    groups: Groups
    limit: Floats
    classes: sparse.csr_array
    wanted: Floats
    """Carriers of each class, with noise."""

    def factors(self) -> Floats:
        """Their logarithms."""
        start = np.zeros(len(self.wanted))
        options = {"maxiter": STEPS}
        return np.asarray(
            minimize(self._objective, start, jac=True, method="L-BFGS-B", options=options).x
        )

    def _objective(self, factors: Floats) -> tuple[float, Floats]:
        weight = np.exp(np.clip(self.classes.T @ factors, -LARGEST, LARGEST))
        start, who, number, _, carriers = lines = self.groups.lines
        share = np.empty(len(who))
        share_out(start, who, number, carriers, weight, self.limit, LEAST, share)
        error = self.classes @ counted_with(*lines, share, len(weight)) / self.wanted - 1.0
        beyond = np.maximum(np.abs(error) - NEAR, 0.0)
        value = 100.0 * (error**2).mean() + STEEP * (beyond**2).sum() + RIDGE * factors @ factors
        pull = 200.0 * error / len(error) + 2.0 * STEEP * beyond * np.sign(error)
        gain = self.classes.T @ (pull / self.wanted)
        changes = slope(*lines, share, self.limit, LEAST, gain)
        return value, self.classes @ changes + 2.0 * RIDGE * factors
