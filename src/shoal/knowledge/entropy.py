"""Everybody's chance of carrying an event, by all public counts together.

Public are, for every view that was counted, how many people and how many cases each *stratum* has:
each class that is known, and everybody who is in none. A *world* says who carries the event. Of all
distributions over worlds in which every group has its cases, and every stratum has its own in
expectation, the one with the largest entropy is believed: a world is as likely as the product of
the odds of its cases, and a person's odds are a product of one factor for each of their strata. In
a group of c cases these are the odds of a conditional Bernoulli design.

Before publication everybody is in one group. Afterwards groups are those of the release, and who is
in none of them is one more. The logarithms of the factors maximise a concave function, less RIDGE
times half their squares, which keeps them finite where counts leave no choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from shoal.arrays import Bools, Floats, IntArray, Ints
from shoal.data.table import Table
from shoal.knowledge.kernels import entropy as kernels
from shoal.knowledge.knowledge import Knowledge, View

RIDGE = 2e-4
NEAR, PART = 0.04, 2e-5
"""The fit ends when every stratum has its cases but for so many, or for that part of all cases if
it is less, times its leeway."""
MOST, INNER, ENOUGH, FAR = 40, 100, 0.1, 1.0
"""Newton steps, and steps to find the direction of each, or until what is left of the slope,
squared and scaled, is this part of it. They are damped as long as a count is missed by more than so
many times its leeway."""
VARIED = 200.0
"""A group whose cases could vary by so many (their variance, if people were alike) is summed by the
saddle point: posteriors are off by less than 1e-4 of themselves."""
LEAST_VARIED = 50.0
LEAST_SCORE = -100.0
BAYES_FACTOR = 4.0
"""Nobody's odds, by all counts together and a release, may be above so many times those of their
limit. They cannot all stay below it: who is always published has, on average over what could be
published, the chance that they had before."""
KNOWN, SURE = 0.999, 0.99899
"""Whoever is likelier than the first by the counts alone is known, whatever is published. Nobody
else may become certain: the second is the most, which is less by more than fits are off."""


class Groups(NamedTuple):
    """Groups as they are read: lines of so many people of a signature, in the order of groups."""

    start: Ints
    """Where the lines of each group begin, and where the last ends."""
    signature: IntArray
    people: Ints
    copies: Ints
    """Of each group."""
    cases: Ints
    """How many people of each group carry the event."""


class Believed(NamedTuple):
    """What is believed after a fit."""

    posterior: Floats
    """Of each line's people."""
    missing: Floats
    """Of each signature's people who are in no group."""
    residual: float
    """By how many cases some stratum, or some group, has more or fewer than it is known to have."""
    off: float
    """The largest misfit in parts of the leeway of each."""
    score: Floats
    """Of each signature: the logarithm of its odds, but for a number that all have; nobody's are
    infinite."""
    factors: Floats | None
    """Their logarithms, of all strata: where a fit to nearly the same groups may begin."""


@dataclass(frozen=True, eq=False)
class AllCounts:
    """What all public counts together say beforehand."""

    chance: Floats
    """signatures x events."""
    residual: Floats
    """Of each event: by how many cases some stratum has more or fewer than it is known to have."""
    off: Floats
    """The largest misfit in parts of the leeway of each."""
    factors: list[Floats | None]
    """Of each event: where a fit to groups may begin."""


@dataclass(frozen=True, eq=False)
class Strata:
    """The strata of all views that were counted."""

    views: tuple[View, ...]
    signatures: int

    @classmethod
    def of(cls, table: Table, knowledge: Knowledge) -> Strata:
        """None of a model, or of knowledge from outside: nobody has counted their people."""
        if knowledge not in _strata:
            views = (one for one in knowledge.class_views if one.people is not None)
            _strata[knowledge] = cls(tuple(views), len(table.signatures))
        return _strata[knowledge]

    def cases(self, of_signature: Floats) -> list[Floats]:
        """By view and stratum, of what there is of each signature."""
        counts = [np.zeros(len(view.distributions)) for view in self.views]
        for view, count in zip(self.views, counts, strict=True):
            kernels.add_to_strata(count, of_signature, view.index)
        return counts

    @cached_property
    def nested(self) -> list[tuple[int, int, Ints]]:
        """Views, and views with one attribute more, whose classes are parts of theirs: of which,
        is told of each class."""
        found = []
        known = [frozenset(view.attributes) for view in self.views]
        place = {attributes: number for number, attributes in enumerate(known)}
        for fine, attributes in enumerate(known):
            for one in attributes:
                if attributes - {one} in place:
                    coarse, view = place[attributes - {one}], self.views[fine]
                    outer = np.zeros(len(view.distributions), np.int64)
                    outer[view.index] = self.views[coarse].index
                    found.append((coarse, fine, outer))
        return found


def leeway(cases: Floats) -> Floats:
    """How many times as much as a small one each count may be missed by: half of what it would vary
    by if it were drawn, and 1 at least."""
    return np.asarray(np.maximum(1.0, np.sqrt(np.maximum(cases, 0.0)) / 2))


def most_believed(limit: Floats) -> Floats:
    """How sure all counts together may be of somebody with that limit."""
    odds = BAYES_FACTOR * limit
    return np.where(limit > KNOWN, 1.0, np.minimum(SURE, odds / (odds + 1.0 - limit)))


def most_counted(table: Table, chance: Floats) -> Floats:
    """signatures x events: how much of a case somebody may count as whom the counts alone give that
    chance: 1/r, or, if these say more, as sure as all counts may be. To cut such people off at
    their chance would miscount all like them. Whom counts alone hold for known stays at that, and
    nobody counts as certain. (With several rows a person's add up, and stay at their chance.)"""
    least = np.broadcast_to(1.0 / table.event_r, chance.shape)
    more = most_believed(chance) if table.persons is None else chance
    return np.where(chance > least, np.minimum(more, np.maximum(chance, SURE)), least)


def event_cases(table: Table, event: int) -> Floats:
    """How many people of each signature carry an event."""
    signature, value, rows = table.cells
    carry = np.flatnonzero(table.holds(event)[value])
    return np.bincount(signature[carry], rows[carry], len(table.signatures)).astype(np.float64)


def all_counts(table: Table, knowledge: Knowledge) -> AllCounts:
    """Before publication; where no view was counted, by how common each event is. It is kept, since
    it is asked for again and again: whoever gets it changes nothing in it."""
    kept = _kept.setdefault(knowledge, WeakKeyDictionary())
    if table not in kept:
        strata, everybody = Strata.of(table, knowledge), np.flatnonzero(table.signature_rows)
        chance = np.zeros((len(table.signatures), len(table.events)))
        residual, off = np.zeros((2, len(table.events)))
        factors: list[Floats | None] = [None] * len(table.events)
        chance[everybody] = table.event_rows / table.rows
        for event in range(len(table.events) if strata.views else 0):
            one = Groups(
                np.array([0, len(everybody)]),
                everybody.astype(np.int32),
                table.signature_rows[everybody],
                np.ones(1, np.int64),
                table.event_rows[event : event + 1],
            )
            found = fit_groups(strata, event_cases(table, event), one)
            chance[everybody, event] = found.posterior
            residual[event], off[event] = found.residual, found.off
            factors[event] = found.factors
        kept[table] = AllCounts(chance, residual, off, factors)
    return kept[table]


_strata: WeakKeyDictionary[Knowledge, Strata] = WeakKeyDictionary()
_kept: WeakKeyDictionary[Knowledge, WeakKeyDictionary[Table, AllCounts]] = WeakKeyDictionary()


def fit_groups(
    strata: Strata,
    known: Floats,
    groups: Groups,
    missing: Ints | None = None,
    factors: Floats | None = None,
) -> Believed:
    """What is believed of the people in `groups`, of whom all may be left out that have no case.

    `known` are the cases of each signature: of these nothing is used but how many each stratum has.
    `missing` people of each signature, if there are any, are one more group, with the cases that no
    group has; that nobody is missing goes without saying. `factors`, if there are any, are those of
    nearly the same groups, or of everybody as one.
    """
    published = len(groups.signature)
    if missing is not None and missing.any():
        groups = _with_missing(groups, missing, known)
    counts = strata.cases(known)
    settled = _Settled.of(strata, counts, groups)
    posterior, score = settled.posterior.copy(), np.full(strata.signatures, LEAST_SCORE)
    found = factors
    if settled.open.any():
        fit = _Fit.of(strata, settled)
        posterior[settled.open], score[fit.signature], found = fit.run(factors)
    residual, off = _missed(strata, counts, groups, posterior)
    gone = np.zeros(strata.signatures)
    gone[groups.signature[published:]] = posterior[published:]
    return Believed(posterior[:published], gone, residual, off, score, found)


def _with_missing(groups: Groups, missing: Ints, known: Floats) -> Groups:
    away = np.flatnonzero(missing)
    lost = max(0, round(float(known.sum())) - int(groups.cases @ groups.copies))
    return Groups(
        np.append(groups.start, groups.start[-1] + len(away)),
        np.append(groups.signature, away.astype(np.int32)),
        np.append(groups.people, missing[away]),
        np.append(groups.copies, 1),
        np.append(groups.cases, lost),
    )


def _by_signature(strata: Strata, groups: Groups, of_line: Floats) -> Floats:
    """How many people all lines together come to."""
    amount = np.zeros(strata.signatures)
    start, signature, people, copies, _ = groups
    kernels.add_lines(amount, of_line, start, signature, people, copies)
    return amount


def _missed(
    strata: Strata, counts: list[Floats], groups: Groups, posterior: Floats
) -> tuple[float, float]:
    """By how much some count is missed at most: in cases, and in parts of its leeway."""
    held = np.bincount(_group_of(groups), groups.people * posterior, len(groups.cases))
    expected = strata.cases(_by_signature(strata, groups, posterior))
    told = np.concatenate([groups.cases, *counts])
    over = np.abs(np.concatenate([held, *expected]) - told)
    return float(over.max(initial=0.0)), float((over / leeway(told)).max(initial=0.0))


def _group_of(groups: Groups) -> Ints:
    return np.repeat(np.arange(len(groups.cases)), np.diff(groups.start))


@dataclass(frozen=True, eq=False)
class _Settled:
    """Who is certain to be a case, or not to be: people of strata and groups that have nothing but
    cases, or none. The others are open, with the cases that are left."""

    groups: Groups
    posterior: Floats
    open: Bools
    left: list[Floats]
    """The cases left to each stratum."""
    cases: Ints
    """The cases left to each group."""

    @classmethod
    def of(cls, strata: Strata, left: list[Floats], groups: Groups) -> _Settled:
        """Whoever is settled leaves less to others, until nobody more is."""
        group, signature = _group_of(groups), groups.signature
        posterior, open_ = np.zeros(len(signature)), np.ones(len(signature), bool)
        cases = groups.cases
        while True:
            every = _by_signature(strata, groups, open_.astype(np.float64))
            there = np.flatnonzero(every)
            people, index = every[there], [view.index[there] for view in strata.views]
            told = np.zeros((2, len(there)), bool)
            for mine, count in zip(index, left, strict=True):
                kernels.settle_strata(mine, count, people, *told)
            for coarse, fine, outer in strata.nested:
                rest = left[coarse], left[fine], outer
                kernels.settle_rest(index[coarse], index[fine], *rest, people, *told)
            never, always = np.zeros((2, strata.signatures), bool)
            never[there], always[there] = told
            inside = np.bincount(group, groups.people * open_, len(cases))
            out = open_ & (never[signature] | (cases <= 0)[group])
            sure = open_ & ~out & (always[signature] | (cases >= inside)[group])
            if not (out.any() or sure.any()):
                return cls(groups, posterior, open_, left, cases)
            posterior[sure], open_ = 1.0, open_ & ~out & ~sure
            if not sure.any():
                continue
            cases = cases - np.bincount(group, groups.people * sure, len(cases)).astype(np.int64)
            taken = strata.cases(_by_signature(strata, groups, sure.astype(np.float64)))
            left = [count - some for count, some in zip(left, taken, strict=True)]


class Membership(NamedTuple):
    """The strata of each signature."""

    start: Ints
    """Where those of each signature begin, and where the last ends."""
    stratum: IntArray


class _Classes(NamedTuple):
    """The classes that those are in who are open, and which of them differ: classes of the very
    same signatures are one to the fit. Who is in no class of a view needs no factor of their own,
    since the cases of all are known."""

    view: Ints
    held: Ints
    """Which of all strata it is."""
    first: Ints
    """The first of each that differ from others, among those held."""
    same: Ints
    """Its place among those that differ."""
    rest: Floats
    """By view, the cases of those in no class; not a number if there is nobody."""
    strata: int
    """How many there are, those who are in no class among them."""

    @classmethod
    def of(
        cls, strata: Strata, there: IntArray, left: list[Floats]
    ) -> tuple[_Classes, Membership, Floats]:
        """Also the different classes of each signature, and the cases left to each, which are the
        mean where the same people were left different numbers.

        They are told apart by sums of random numbers of 64 bits. Should two that differ have the
        same sum, the fit misses a count, and the residual, which is of all strata, tells.
        """
        ends = np.cumsum([0, *(len(count) for count in left)])
        number = np.random.default_rng(0).integers(1 << 63, size=len(there), dtype=np.uint64)
        sums = np.zeros(ends[-1], np.uint64)
        for view, end in zip(strata.views, ends[:-1], strict=True):
            kernels.add_numbers(sums[end:], number, view.index[there])
        known, rest = np.concatenate(left), ends[:-1]
        nobody = sums[rest] == 0
        sums[rest] = 0
        held = np.flatnonzero(sums)
        _, first, same = np.unique(sums[held], return_index=True, return_inverse=True)
        kept = np.full(ends[-1], -1, np.int32)
        kept[held[first]] = np.arange(len(first), dtype=np.int32)
        found = np.empty((len(there), len(strata.views)), np.int32)
        for place, view in enumerate(strata.views):
            found[:, place] = kept[view.index[there] + ends[place]]
        inside = found >= 0
        start = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
        return (
            cls(
                np.searchsorted(ends, held, "right") - 1,
                held,
                first,
                same,
                np.where(nobody, np.nan, known[rest]),
                int(ends[-1]),
            ),
            Membership(start, found[inside]),
            np.bincount(same, known[held]) / np.bincount(same),
        )

    def off(self, slope: Floats, known: Floats) -> float:
        """By how much some count is missed at most, in parts of its leeway."""
        over = np.bincount(self.view, slope[self.same], len(self.rest))
        some = np.isfinite(self.rest)
        rest = np.abs(over[some]) / leeway(self.rest[some])
        return float(max((np.abs(slope) / leeway(known)).max(initial=0.0), rest.max(initial=0.0)))


@dataclass(frozen=True, eq=False)
class _Fit:
    """The concave problem of those who are open."""

    groups: Groups
    """Signatures are those that occur, in order."""
    signature: IntArray
    """Which these are."""
    classes: _Classes
    strata: Membership
    known: Floats
    """The cases of each stratum."""
    exact: Bools
    """Of each group."""
    posterior: Floats
    weight: Floats
    total: Floats

    @classmethod
    def of(cls, strata: Strata, settled: _Settled) -> _Fit:
        groups, line = settled.groups, np.flatnonzero(settled.open)
        held, group = np.unique(_group_of(groups)[line], return_inverse=True)
        there, place = np.unique(groups.signature[line], return_inverse=True)
        classes, member, known = _Classes.of(strata, there, settled.left)
        some = Groups(
            np.searchsorted(group, np.arange(len(held) + 1)),
            place.astype(np.int32),
            groups.people[line].astype(np.int64),
            groups.copies[held].astype(np.int64),
            settled.cases[held].astype(np.int64),
        )
        size = np.bincount(group, some.people, len(held))
        return cls(
            groups=some,
            signature=there,
            classes=classes,
            strata=member,
            known=known,
            exact=some.cases * (size - some.cases) < VARIED * size,
            posterior=np.zeros(len(line)),
            weight=np.zeros(len(line)),
            total=np.zeros(len(held)),
        )

    def run(self, factors: Floats | None) -> tuple[Floats, Floats, Floats]:
        """Each line's posterior, each signature's score, and the factors of all strata."""
        classes, theta = self.classes, np.zeros(len(self.known))
        if factors is not None:
            np.add.at(theta, classes.same, factors[classes.held])
        theta = self._fitted(theta)
        flat = ~self.exact & (self.total < LEAST_VARIED)
        if flat.any():
            self.exact[flat] = True
            theta = self._fitted(theta)
        scores = kernels.scores_of(theta, *self.strata)
        scores = np.maximum(scores - scores.max(initial=LEAST_SCORE), LEAST_SCORE)
        found = np.zeros(classes.strata)
        found[classes.held[classes.first]] = theta
        return self.posterior, scores, found

    def _expected(self, of_line: Floats) -> Floats:
        """By stratum, how many people all lines come to."""
        amount = np.zeros(len(self.strata.start) - 1)
        kernels.add_lines(amount, of_line, *self.groups[:4])
        return kernels.by_stratum(amount, *self.strata, len(self.known))

    def _loss(self, theta: Floats) -> tuple[float, Floats]:
        """What is minimised, and its slope."""
        scores = kernels.scores_of(theta, *self.strata)
        told = self.posterior, self.weight, self.total
        worlds = kernels.posteriors(scores, *self.groups, self.exact, *told)
        value = worlds - _product(self.known, theta) + RIDGE / 2 * _product(theta, theta)
        return value, self._expected(self.posterior) - self.known + RIDGE * theta

    def _curved(self, change: Floats) -> Floats:
        """The second derivatives times a change."""
        scores = kernels.scores_of(change, *self.strata)
        amount = np.zeros(len(scores))
        kernels.add_moves(amount, scores, self.weight, self.total, *self.groups[:4])
        return kernels.by_stratum(amount, *self.strata, len(self.known)) + RIDGE * change

    def _fitted(self, theta: Floats) -> Floats:
        """Newton's steps, whose directions conjugate gradients find, come as close as is asked."""
        value, slope = self._loss(theta)
        enough = min(NEAR, PART * float((self.groups.cases * self.groups.copies).sum()))
        for _ in range(MOST):
            off = self.classes.off(slope, self.known)
            if off <= enough:
                break
            direction, step = self._direction(slope, damped=off > FAR), 1.0
            fall = _product(slope, direction)
            while step > 1e-6:
                there = self._loss(theta + step * direction)
                if there[0] <= value + 1e-4 * step * fall:
                    break
                step /= 2
            theta, (value, slope) = theta + step * direction, there
        return theta

    def _direction(self, slope: Floats, *, damped: bool) -> Floats:
        """Newton's: conjugate gradients, scaled by the diagonal. A damped one moves no stratum by
        more than in proportion to its cases, however few are expected so far."""
        damping = np.abs(slope) if damped else np.zeros(len(slope))
        diagonal = self._expected(self.weight) + RIDGE + damping
        direction, left = np.zeros(len(slope)), -slope
        near = left / diagonal
        along, size = near.copy(), _product(left, near)
        enough = ENOUGH * size
        for _ in range(INNER):
            curved = self._curved(along) + damping * along
            length = size / _product(along, curved)
            direction += length * along
            left = left - length * curved
            near = left / diagonal
            before, size = size, _product(left, near)
            if size <= enough:
                break
            along = near + size / before * along
        return direction


def _product(one: Floats, other: Floats) -> float:
    """Not by BLAS, whose threads wait for each other, and whose last digits are the machine's."""
    return float((one * other).sum())
