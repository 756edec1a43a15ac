"""Counters: of every class of every view it is known how many carry the event, and who of the
class is in groups that hold it. That tells something of groups drawn at random too, and is no
matter of how groups are made: counters are reported apart from insiders.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from benchmarks.insider.lineup import Lineup
from benchmarks.insider.odds import Floats, Ints

RIDGE, ROUNDS = 0.01, 150
FEWEST = 0.1
"""Classes with fewer carriers than this count as having so many, before logarithms."""


def by_class(lineup: Lineup) -> Floats:
    """For each suspect the carriers of its class over the class's suspects, as a logarithm, on
    average over views."""
    told = np.zeros(len(lineup.signature))
    for mine, _, index, carriers in _by_event(lineup):
        among = np.bincount(index.ravel(), minlength=len(carriers))
        odds = np.log(np.maximum(carriers, FEWEST) / np.maximum(1, among))
        told[mine] = odds[index].mean(axis=1)
    return told


def in_all_views(lineup: Lineup) -> Floats:
    """The logarithm of each suspect's odds under which the expected carriers of every class come to
    those known.

    Among all such odds maximum entropy takes a product of one factor per class; the factors
    maximise a concave likelihood (what iterative proportional fitting does one class after
    another). A small ridge keeps them finite where numbers contradict one another, as they do once
    carriers are suppressed.
    """
    told = np.zeros(len(lineup.signature))
    for mine, cases, index, carriers in _by_event(lineup):
        factors = _fitted(lineup.size[cases], lineup.carriers[cases], index, carriers)
        told[mine] = factors[index].sum(axis=1)
    return told


def _fitted(size: Ints, drawn: Ints, index: Ints, carriers: Floats) -> Floats:
    """The logarithm of each class's factor; `drawn` carriers are in each case of so many suspects,
    `carriers` in each class."""
    starts, case = np.cumsum(size) - size, np.repeat(np.arange(len(size)), size)
    # Who is suppressed is in no group.
    known = carriers * (drawn.sum() * index.shape[1] / carriers.sum())

    def loss(factors: Floats) -> tuple[float, Floats]:
        scores = factors[index].sum(axis=1)
        top = np.maximum.reduceat(scores, starts)
        weight = np.exp(scores - top[case])
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


def _by_event(lineup: Lineup) -> list[tuple[Ints, Ints, Ints, Floats]]:
    """For each event its suspects and cases; the class of each suspect in each view, all classes
    numbered one after another; and the carriers of every class."""
    found = []
    for event in np.unique(lineup.event):
        cases = np.flatnonzero(lineup.event == event)
        mine = np.flatnonzero(lineup.event[lineup.case] == event)
        found.append((mine, cases, *_classes(lineup, int(event), mine)))
    return found


def _classes(lineup: Lineup, event: int, mine: Ints) -> tuple[Ints, Floats]:
    """Whoever is in no known class of a view is in the class of the rest, which is its first."""
    table, index, carriers, offset = lineup.table, [], [], 0
    held = table.value_event == event
    for view in lineup.knowledge.views:
        people = np.bincount(view.index, table.signature_rows, len(view.distributions))
        counted = view.distributions[:, held].sum(axis=1) * people
        counted[0] = max(0.0, float(table.event_rows[event]) - counted[1:].sum())
        index.append(view.index[lineup.signature[mine]].astype(np.int64) + offset)
        carriers.append(counted)
        offset += len(counted)
    return np.stack(index, axis=1), np.concatenate(carriers)
