"""Counting: of every class of every view it is known how many carry the event, and who of the class
is in groups that hold it. That tells something of groups drawn at random too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shoal.arrays import Bools, Floats, Ints
from shoal.attacks.lineup import Lineup
from shoal.data.table import Table
from shoal.groups.flows import Flow
from shoal.groups.ragged import Ragged
from shoal.knowledge import View, event_chances
from shoal.knowledge.entropy import Groups, Strata, event_cases, fit_groups

FEWEST = 0.1
"""Classes with fewer carriers than this count as having so many, before logarithms."""
OWN_COUNT = 1e-6
"""A class's carriers as a view has them are the table's own count if they are as near as this."""


class EventSuspects(NamedTuple):
    """One event's suspects, and their classes in some views."""

    suspects: Ints
    classes: Ints
    """suspects x views: the class of each, all classes numbered one after another."""
    carriers: Floats
    """How many carry in every class. Whoever is in no known class is in the first of a view."""


def counted(lineup: Lineup, views: Sequence[View]) -> list[EventSuspects]:
    """For each event that is asked about."""
    found = []
    for event in np.unique(lineup.event):
        mine = np.flatnonzero(lineup.event[lineup.question] == event)
        index, carriers, offset = [], [], 0
        for view in views:
            known = known_carriers(view, lineup.table, int(event))
            index.append(view.index[lineup.signature[mine]].astype(np.int64) + offset)
            carriers.append(known)
            offset += len(known)
        found.append(EventSuspects(mine, np.stack(index, axis=1), np.concatenate(carriers)))
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
    for mine, index, carriers in counted(lineup, views):
        people = np.repeat(lineup.people[mine], index.shape[1])
        among = np.bincount(index.ravel(), people, len(carriers))
        odds = np.log(np.maximum(carriers, FEWEST) / np.maximum(1, among))
        told[mine] = odds[index].mean(axis=1)
    return told


def believed(groups: Lineup, missing: Lineup, views: tuple[View, ...]) -> tuple[Floats, Floats]:
    """The chance of each suspect, in groups and among the missing, by how many carry in every group
    and in every class of all these views at once, as maximum entropy has it."""
    table = groups.table
    strata = Strata(views, len(table.signatures))
    inside, gone = np.zeros(len(groups.signature)), np.zeros(len(missing.signature))
    for event in np.unique(np.concatenate([groups.event, missing.event])):
        asked = np.flatnonzero(groups.event == event)
        mine, away = (np.flatnonzero(one.event[one.question] == event) for one in (groups, missing))
        left = np.bincount(missing.signature[away], missing.people[away], len(table.signatures))
        published = Groups(
            start=Ragged.of_lengths(groups.lengths[asked]).start,
            signature=groups.signature[mine].astype(np.int32),
            people=groups.people[mine],
            copies=np.ones(len(asked), np.int64),
            cases=groups.carriers[asked],
        )
        carriers = event_cases(table, int(event))
        found = fit_groups(strata, carriers, published, left.astype(np.int64))
        inside[mine], gone[away] = found.posterior, found.missing[missing.signature[away]]
    return inside, gone


def certainties(groups: Lineup, missing: Lineup, view: View) -> tuple[Bools, Bools]:
    """Which suspects, in groups and among the missing, carry in every world that agrees with what
    is published and with the carriers of every class of the view. Exact."""
    sure = np.zeros(len(groups.signature), bool), np.zeros(len(missing.signature), bool)
    for event in np.unique(np.concatenate([groups.event, missing.event])):
        if not _own_counts(groups.table, view, int(event)):
            continue
        if not all(_published_truly(one, int(event)) for one in (groups, missing)):
            continue
        inside, gone = (
            np.flatnonzero(one.event[one.question] == event) for one in (groups, missing)
        )
        sides = ((groups, inside, 0), (missing, gone, groups.questions))
        found = Flow.of(
            group=np.concatenate([one.question[mine] + first for one, mine, first in sides]),
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
    """Whether every question has as many carriers as it publishes."""
    held = np.bincount(lineup.question, lineup.carrying, lineup.questions)
    mine = lineup.event == event
    return bool((held[mine] == lineup.carriers[mine]).all())
