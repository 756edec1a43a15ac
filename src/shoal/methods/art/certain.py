"""Nobody is certain to be a case where classes are counted group by group: for several sensitive
columns, whose groups are not joined by what all counts together say of them.

A group with c cases has at most c of a class, and at most as many as it has people of it. If all
groups, and whoever is left out, have room for no more cases than the class has, whoever is of a
class of which a group has no more people than cases is one. One more of the class joins that group.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shoal.methods.art.asked import Asked
from shoal.methods.art.assembly import Assembly
from shoal.methods.art.classes import Lack, class_counts
from shoal.methods.art.decoys import join_nearest, part_unsafe

ROUNDS = 4


def unsettle(groups: Assembly, asked: Asked, random: np.random.Generator) -> None:
    """Takes free filler into groups in which somebody is certain to be a case, as long as it
    helps."""
    cells, none = groups.cells, [np.zeros(len(n), np.int64) for n in asked.people]
    for _ in range(ROUNDS):
        groups.separate()
        kinds = {int(g): key for key, which in groups.by_values().items() for g in which}
        free = cells.free.sum()
        for group, view, number in list(_certain(groups, asked)):
            if group not in kinds:
                continue
            lacking = [one.copy() for one in none]
            lacking[view][number] = 1
            lack, (x, y) = Lack(asked.knowledge, lacking), kinds[group]
            for value in (y, len(groups.table.values)):
                of_value = cells.event < 0 if value != y else cells.value == y
                filler = np.flatnonzero(of_value & (cells.free > 0))
                join_nearest(groups, asked, np.array([group]), x, value, filler, lack, random)
        part_unsafe(groups, asked)
        if cells.free.sum() == free:
            break


def _certain(groups: Assembly, asked: Asked) -> Iterator[tuple[int, int, int]]:
    """Groups in which somebody is certain to be a case, by the class of a view."""
    cells, (members, copies) = groups.cells, groups.all_lines()
    signature, missing = cells.signature[members.cell], groups.missing_people()
    away = class_counts(asked.knowledge, missing)
    held = [one.holds[cells.value] for one in asked.promises]
    cases = [members.summed(members.number * one[members.cell]) for one in held]
    for number, view in enumerate(asked.knowledge.class_views):
        size = len(view.distributions)
        pairs, at = np.unique(members.owner * size + view.index[signature], return_inverse=True)
        people, (group, of) = np.bincount(at, members.number), np.divmod(pairs, size)
        for one, inside in zip(held, cases, strict=True):
            own = np.bincount(view.index[cells.signature], cells.rows * one, size)
            room = np.bincount(of, np.minimum(people, inside[group]) * copies[group], size)
            room += np.minimum(away[number], cells.free[one].sum())
            tight = (room == own) & (own < asked.people[number])
            tight[0] = False
            for pair in np.flatnonzero(tight[of] & (people <= inside[group])):
                yield int(group[pair]), number, int(of[pair])
