"""Who is certain to carry an event by counting a class group by group.

Of a class k people carry the event. A group that publishes c carriers has at most c of the class,
and no more than it has people of it. If the groups have room for k of them and no more, every group
has as many as it has room for; and where that is all its people of the class, each of them carries.
Whoever is missing is in one more group, with the carriers that are not published.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Bools
from shoal.auditing.adversaries.judging import Case
from shoal.auditing.kernels import count_held, room_for_carriers
from shoal.knowledge import Knowledge, event_chances

OWN_COUNT = 1e-6
"""A class's carriers as a view has them are the table's own count if they are as near as this."""


def certain_people(case: Case, knowledge: Knowledge) -> int:
    """How many people, published or missing, are certain to carry some event by what is public, and
    were not before; in tables that publish what is true."""
    table, part = case.table, case.partition
    inside = np.zeros(len(part.signature), bool)
    away = np.zeros(len(table.signatures), bool)
    for event in range(len(table.events)):
        forced, gone = forced_carriers(case, knowledge, event)
        inside |= forced
        away |= gone
    missing = table.signature_rows - part.signature_people
    return int(part.pair_people[inside].sum() + missing[away].sum())


def forced_carriers(case: Case, knowledge: Knowledge, event: int) -> tuple[Bools, Bools]:
    """The pairs of the partition all of whose people carry the event in every world that agrees
    with the carriers of some class; and the signatures whose missing people all do. Only classes
    whose carriers are as many as the table has of them are counted. Nobody is among them of whom
    some class tells it without the release, as all of it carry the event."""
    table, part = case.table, case.partition
    forced, gone = np.zeros(len(part.signature), bool), np.zeros(len(table.signatures), bool)
    known_before = np.zeros(len(table.signatures), bool)
    signature, value, rows = table.cells
    holds = table.holds(event)
    mine = np.flatnonzero(holds[value])
    carriers = count_held(*part.values.arrays, holds)
    lost = int(table.event_rows[event]) - int(carriers @ part.copies)
    missing = table.signature_rows - part.signature_people
    full = np.zeros(len(part.signature), bool)
    for view in knowledge.class_views:
        size, row = len(view.distributions), view.index[part.signature]
        room = room_for_carriers(
            part.pairs.start, part.copies, row, part.pairs.count, carriers, full, size
        )
        away = np.bincount(view.index, missing, size).astype(np.int64)
        room += np.minimum(away, lost)
        own = np.bincount(view.index[signature[mine]], rows[mine], size)
        people = np.bincount(view.index, table.signature_rows, size)
        known = people * event_chances(view, table)[:, event]
        told = (room == own) & (np.abs(known - own) < OWN_COUNT)
        told[0] = False
        known_before |= (told & (own == people))[view.index]
        forced |= full & told[row]
        gone |= (told & (away > 0) & (away <= lost))[view.index]
    forced &= ~known_before[part.signature]
    return forced, gone & (missing > 0) & ~known_before
