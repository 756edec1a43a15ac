"""One more of a class in a group, where some of its carriers would be certain otherwise.

Of a class k people carry the event. A group with c carriers has room for c of them, or for as many
people of the class as it has. If all groups together have room for k and no more, every one of them
has as many as it has room for; where a group has no more people of the class than carriers, each of
them carries. One more of the class in a group with room for it undoes this for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art.asked import Asked, Promise
from shoal.anonymizers.art.assembly import Assembly
from shoal.anonymizers.art.kernels.room import room_by_class
from shoal.anonymizers.art.safety import safe_groups
from shoal.knowledge import View

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
DECOYS, GROUPS, LOOKED_AT = 16, 64, 500
"""People of a value who are tried for a class, by chance; groups that each of them is tried in,
those most alike of as many as are looked at."""
OWN_COUNT = 1e-6
"""A view counts the carriers of a class if its share of them is a whole number, to this."""


class Joining(NamedTuple):
    """Somebody of a cell who joins a group, which may be published pooled from then on."""

    group: int
    cell: int
    pooled: bool


def undo_certainty(
    groups: Assembly, asked: Asked, promise: Promise, random: np.random.Generator
) -> int:
    """Lets one more of each class with somebody certain into a group that stays safe: somebody of
    the group's own value, or else of any. All of them join at last, each another group; how many
    classes found none, but may do so the next time."""
    cells, pooled = groups.cells, len(groups.table.values)
    mine = {
        values: which for values, which in groups.by_values().items() if promise.holds[values[0]]
    }
    mine |= {
        (x, pooled): np.concatenate([which for values, which in mine.items() if values[0] == x])
        for x, _ in mine
    }
    free, chosen, waiting = cells.free.copy(), list[Joining](), 0
    for view, one in certain_classes(groups, asked, promise):
        within = view.index[cells.signature] == one
        room = _Room(groups, promise.holds[cells.value], within)
        helping = [joins.group for joins in chosen if within[joins.cell]]
        if len(room.of(np.array(helping, np.int64))):
            continue
        decoys = np.flatnonzero(within & (cells.event < 0) & (free > 0))
        for (x, y), which in sorted(mine.items(), key=lambda one: one[0][1] == pooled):
            some = decoys if y == pooled else decoys[cells.value[decoys] == y]
            near = room.of(_a_part(which, chosen, random) if len(some) else which[:0])
            joins = _one_more(groups, asked, near, x, y, some, random)
            if joins is not None:
                chosen.append(joins)
                free[joins.cell] -= 1
                break
        else:
            waiting += 1
    singles = groups.single_out(np.array([joins.group for joins in chosen], np.int64))
    for single, joins in zip(singles.tolist(), chosen, strict=True):
        groups.join(single, joins.cell, pooled=joins.pooled)
    return waiting if chosen else 0


def certain_classes(groups: Assembly, asked: Asked, promise: Promise) -> Iterator[tuple[View, int]]:
    """View by view the classes with somebody certain that have people who could be decoys."""
    table, cells = groups.table, groups.cells
    holds = promise.holds[cells.value]
    lost = int(cells.free[holds].sum())
    missing, (members, copies) = groups.missing_people(), groups.all_lines()
    for view, chance in zip(asked.knowledge.class_views, promise.chances, strict=True):
        classes, row = len(view.distributions), view.index[cells.signature]
        room, full = room_by_class(*members, copies, holds, row, classes)
        away = np.bincount(view.index, missing, classes).astype(np.int64)
        room += np.minimum(away, lost)
        full |= (away > 0) & (away <= lost)
        known = np.bincount(view.index, table.signature_rows, classes) * chance
        told = full & (np.abs(known - room) < OWN_COUNT)
        told[0] = False  # whoever is in no class that is known
        for one in np.unique(row[told[row] & (cells.event < 0) & (cells.free > 0)]):
            yield view, int(one)


class _Room(NamedTuple):
    """Which groups have fewer people of some cells than carriers."""

    groups: Assembly
    carrying: Bools
    within: Bools

    def of(self, which: Ints) -> Ints:
        """Those of the groups given."""
        members = self.groups.lines(which)
        more = self.carrying.astype(np.int64) - self.within
        return which[members.summed(members.number * more[members.cell]) > 0]


def _a_part(which: Ints, chosen: list[Joining], random: np.random.Generator) -> Ints:
    """As many of the groups as are looked at, by chance, but those that somebody joins already."""
    if len(which) > LOOKED_AT:
        which = np.unique(which[random.integers(0, len(which), LOOKED_AT)])
    return which[~np.isin(which, [joins.group for joins in chosen])]


def _one_more(
    groups: Assembly,
    asked: Asked,
    which: Ints,
    x: int,
    y: int,
    decoys: Ints,
    random: np.random.Generator,
) -> Joining | None:
    """One of the decoys, by chance, and the group most alike that stays safe with them."""
    if not len(which):
        return None
    shown, cells = groups.table.signatures, groups.cells
    members = groups.lines(which)
    for cell in random.permutation(decoys)[:DECOYS].tolist():
        same = shown[cells.signature[members.cell]] == shown[cells.signature[cell]]
        alike = np.maximum.reduceat(same.sum(axis=1), members.start[:-1])
        near = np.argsort(-alike, kind="stable")[:GROUPS]
        safe = safe_groups(members.of(near).with_one_more(cell), cells, x, y, asked)
        if safe.any():
            return Joining(int(which[near[np.argmax(safe)]]), cell, y == len(groups.table.values))
    return None
