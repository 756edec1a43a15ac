"""Counting: of every class of every view it is known how many carry the event, and who of the class
is in groups that hold it. That tells something of groups drawn at random too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from shoal.attacks.lineup import Bools, Lineup
from shoal.attacks.odds import Floats, Ints
from shoal.grouping.flows import Flow
from shoal.knowledge import View, event_chances
from shoal.table import Table

RIDGE, ROUNDS = 0.01, 150
FEWEST = 0.1
"""Classes with fewer carriers than this count as having so many, before logarithms."""
OWN_COUNT = 1e-6
"""A class's carriers as a view has them are the table's own count if they are as near as this."""


class Counted(NamedTuple):
    """One event's suspects and cases, and their classes in some views."""

    suspects: Ints
    cases: Ints
    classes: Ints
    """suspects x views: the class of each, all classes numbered one after another."""
    carriers: Floats
    """How many carry in every class. Whoever is in no known class is in the first of a view."""


def counted(lineup: Lineup, views: Sequence[View]) -> list[Counted]:
    """For each event that there are cases of."""
    found = []
    for event in np.unique(lineup.event):
        cases = np.flatnonzero(lineup.event == event)
        mine = np.flatnonzero(lineup.event[lineup.case] == event)
        index, carriers, offset = [], [], 0
        for view in views:
            known = known_carriers(view, lineup.table, int(event))
            index.append(view.index[lineup.signature[mine]].astype(np.int64) + offset)
            carriers.append(known)
            offset += len(known)
        found.append(Counted(mine, cases, np.stack(index, axis=1), np.concatenate(carriers)))
    return found


def known_carriers(view: View, table: Table, event: int) -> Floats:
    """The carriers of each class of a view; the first is the rest."""
    people = np.bincount(view.index, table.signature_rows, len(view.distributions))
    known = event_chances(view, table)[:, event] * people
    known[0] = max(0.0, float(table.event_rows[event]) - known[1:].sum())
    return np.asarray(known)


def by_class(lineup: Lineup, views: Sequence[View]) -> Floats:
    """For each suspect the carriers of its class over the class's people in groups that hold the
    event, as a logarithm, on average over views."""
    told = np.zeros(len(lineup.signature))
    for mine, _, index, carriers in counted(lineup, views):
        people = np.repeat(lineup.people[mine], index.shape[1])
        among = np.bincount(index.ravel(), people, len(carriers))
        odds = np.log(np.maximum(carriers, FEWEST) / np.maximum(1, among))
        told[mine] = odds[index].mean(axis=1)
    return told


def fitted(lineup: Lineup, views: Sequence[View]) -> Floats:
    """The logarithm of each suspect's odds under which the expected carriers of every class come to
    those known, in all the views at once.

    Among all such odds maximum entropy takes a product of one factor per class; the factors
    maximise a concave likelihood (what iterative proportional fitting does one class after
    another). A small ridge keeps them finite where numbers contradict one another, as they do once
    carriers are suppressed.
    """
    told = np.zeros(len(lineup.signature))
    for one in counted(lineup, views):
        factors = _fitted(lineup, one)
        told[one.suspects] = factors[one.classes].sum(axis=1)
    return told


def _fitted(lineup: Lineup, one: Counted) -> Floats:
    """The logarithm of each class's factor."""
    size, drawn = lineup.size[one.cases], lineup.carriers[one.cases]
    people, index, carriers = lineup.people[one.suspects], one.classes, one.carriers
    starts, case = np.cumsum(size) - size, np.repeat(np.arange(len(size)), size)
    # Who is suppressed is in no group.
    known = carriers * (drawn.sum() * index.shape[1] / max(carriers.sum(), 1e-12))

    def loss(factors: Floats) -> tuple[float, Floats]:
        scores = factors[index].sum(axis=1)
        top = np.maximum.reduceat(scores, starts)
        weight = people * np.exp(scores - top[case])
        total = np.add.reduceat(weight, starts)
        expected = weight * (drawn / total)[case]
        value = drawn @ (np.log(total) + top) - known @ factors + RIDGE / 2 * factors @ factors
        gradient = RIDGE * factors - known
        for column in index.T:
            gradient += np.bincount(column, expected, len(known))
        return float(value), gradient

    options = {"maxiter": ROUNDS}
    start = np.zeros(len(known))
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x)


def certainties(groups: Lineup, missing: Lineup, view: View) -> tuple[Bools, Bools]:
    """Which suspects, in groups and among the missing, carry in every world that agrees with what
    is published and with the carriers of every class of the view. Exact."""
    sure = np.zeros(len(groups.signature), bool), np.zeros(len(missing.signature), bool)
    for event in np.unique(np.concatenate([groups.event, missing.event])):
        if not _own_counts(groups.table, view, int(event)):
            continue
        if not all(_published_truly(one, int(event)) for one in (groups, missing)):
            continue
        inside, gone = (np.flatnonzero(one.event[one.case] == event) for one in (groups, missing))
        sides = ((groups, inside, 0), (missing, gone, groups.cases))
        found = Flow.of(
            group=np.concatenate([one.case[mine] + first for one, mine, first in sides]),
            kind=np.concatenate([view.index[one.signature[mine]] for one, mine, _ in sides]),
            people=np.concatenate([one.people[mine] for one, mine, _ in sides]),
            carrying=np.concatenate([one.carrying[mine] for one, mine, _ in sides]),
        ).certain
        sure[0][inside], sure[1][gone] = found[: len(inside)], found[len(inside) :]
    return sure


def _own_counts(table: Table, view: View, event: int) -> bool:
    """Whether a view's carriers are the table's own counts."""
    signature, value, rows = table.cells
    mine = table.value_event[value] == event
    own = np.bincount(view.index[signature[mine]], rows[mine], len(view.distributions))
    return bool((np.abs(known_carriers(view, table, event) - own) < OWN_COUNT).all())


def _published_truly(lineup: Lineup, event: int) -> bool:
    """Whether every case has as many carriers as it publishes."""
    held = np.bincount(lineup.case, lineup.carrying, lineup.cases)
    mine = lineup.event == event
    return bool((held[mine] == lineup.carriers[mine]).all())
