"""One more of a class in a group, where some of its carriers would be certain otherwise.

Of a class k people carry the event. A group with c carriers has room for c of them, or for as many
people of the class as it has. If all groups together have room for k and no more, every one of them
has as many as it has room for; where a group has no more people of the class than carriers, each of
them carries. One more of the class in a group with room for it undoes this for all of them.

Then the classes of a view are counted together, unless groups are too many for it: flows from
groups to classes (grouping/flows.py), which make a few people certain whom no class does alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art.asked import Asked, Promise
from shoal.anonymizers.art.assembly import Assembly
from shoal.anonymizers.art.kernels.room import room_by_class
from shoal.anonymizers.art.safety import safe_groups
from shoal.grouping.flows import Flow
from shoal.knowledge import View

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
DECOYS, GROUPS, LOOKED_AT = 16, 64, 500
"""People of a value who are tried for a class, by chance; groups that each of them is tried in,
those most alike of as many as are looked at."""
OWN_COUNT = 1e-6
"""A view counts the carriers of a class if its share of them is a whole number, to this."""
MOST_LINES = 1_000_000
"""Of groups that hold an event, where classes are counted together."""


class Joining(NamedTuple):
    """Somebody of a cell who joins a group, which may be published pooled from then on."""

    group: int
    cell: int
    pooled: bool


class Need(Protocol):
    """Somebody of a class has to join a group, for others of it are certain to carry."""

    @property
    def within(self) -> Bools:
        """The cells of the class."""

    def of(self, which: Ints) -> Ints:
        """Those of some groups in which one more of the class helps."""

    def near(self, which: Ints, taken: list[int], random: np.random.Generator) -> Ints:
        """The same, or as many as are looked at, by chance; none of those `taken`."""


def undo_certainty(
    groups: Assembly, asked: Asked, promise: Promise, random: np.random.Generator
) -> None:
    """Lets one more of classes with somebody certain into groups that stay safe, as long as there
    are such."""
    cells = groups.cells
    holds = promise.holds[cells.value]
    waiting = 1
    while waiting:
        classes = certain_classes(groups, asked, promise)
        needs = (_Room(groups, holds, view.index[cells.signature] == one) for view, one in classes)
        joined, waiting = _let_in(groups, asked, promise, needs, random)
        waiting = waiting if joined else 0
    views = list(range(len(asked.knowledge.class_views)))
    while views and len((held := Held.of(groups, holds)).cell) <= MOST_LINES:
        found = {view: certain_together(groups, asked, promise, view, held) for view in views}
        together = chain.from_iterable(found.values())
        joined, _ = _let_in(groups, asked, promise, together, random)
        # Nobody becomes certain by one more person: other views need not be looked at again.
        views = [view for view in views if found[view]] if joined else []


def _let_in(
    groups: Assembly,
    asked: Asked,
    promise: Promise,
    needs: Iterable[Need],
    random: np.random.Generator,
) -> tuple[int, int]:
    """Lets one more of each class that needs it into a group: somebody of the group's own value, or
    else of any. All of them join at last, each another group; how many do, and how many classes
    found none, but may do so the next time."""
    cells, pooled = groups.cells, len(groups.table.values)
    mine = {
        values: which for values, which in groups.by_values().items() if promise.holds[values[0]]
    }
    mine |= {
        (x, pooled): np.concatenate([which for values, which in mine.items() if values[0] == x])
        for x, _ in mine
    }
    free, chosen, waiting = cells.free.copy(), list[Joining](), 0
    for need in needs:
        helping = [joins.group for joins in chosen if need.within[joins.cell]]
        if len(need.of(np.array(helping, np.int64))):
            continue
        decoys = np.flatnonzero(need.within & (cells.event < 0) & (free > 0))
        for (x, y), which in sorted(mine.items(), key=lambda one: one[0][1] == pooled):
            some = decoys if y == pooled else decoys[cells.value[decoys] == y]
            if not len(some):
                continue
            near = need.near(which, [joins.group for joins in chosen], random)
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
    return len(chosen), waiting


def certain_classes(groups: Assembly, asked: Asked, promise: Promise) -> Iterator[tuple[View, int]]:
    """View by view the classes with somebody certain that have people who could be decoys."""
    table, cells = groups.table, groups.cells
    holds = promise.holds[cells.value]
    lost = int(cells.free[holds].sum())
    missing, (members, copies) = groups.missing_people(), groups.all_lines()
    for view, chance in zip(asked.knowledge.class_views, promise.chances, strict=True):
        classes, row = len(view.distributions), view.index[cells.signature]
        room, full = room_by_class(*members[:3], copies, holds, row, classes)
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

    def near(self, which: Ints, taken: list[int], random: np.random.Generator) -> Ints:
        return self.of(_a_part(which, taken, random))


class Held(NamedTuple):
    """Lines of so many people of a cell in groups that hold an event, and of the missing, if some
    of them do, as one more group."""

    group: NDArray[np.int32]
    cell: Ints
    people: Ints
    carrying: Ints
    groups: int

    @classmethod
    def of(cls, groups: Assembly, holds: Bools) -> Held:
        """`holds`: whether the people of a cell carry."""
        cells, (members, copies) = groups.cells, groups.all_lines()
        owner = members.owner
        inside = np.flatnonzero((members.summed(holds[members.cell]) > 0)[owner])
        missing = groups.withheld + np.where(cells.event >= 0, cells.free, 0)
        away = np.flatnonzero(missing if cells.free[holds].any() else missing[:0])
        group = np.append(owner[inside], np.full(len(away), len(copies))).astype(np.int32)
        cell = np.append(members.cell[inside], away)
        people = np.append(members.number[inside] * copies[owner[inside]], missing[away])
        return cls(group, cell, people, people * holds[cell], len(copies))


def certain_together(
    groups: Assembly, asked: Asked, promise: Promise, number: int, held: Held
) -> list[_Reached]:
    """Of a view, one for each of its classes with somebody certain if all of them are counted
    together."""
    table, cells, view = groups.table, groups.cells, asked.knowledge.class_views[number]
    people = np.bincount(view.index, table.signature_rows, len(view.distributions))
    row = view.index[cells.signature]
    own = np.bincount(row, cells.rows * promise.holds[cells.value], len(people))
    if (np.abs(people * promise.chances[number] - own)[1:] >= OWN_COUNT).any():
        return []
    flow = Flow.of(held.group, row[held.cell].astype(np.int32), held.people, held.carrying)
    certain = np.flatnonzero(flow.certain)
    _, first = np.unique(flow.kind[certain], return_index=True)
    return [_reached(flow, line, row, held.groups) for line in certain[first].tolist()]


class _Reached(NamedTuple):
    """The groups that one more of a class would have to join."""

    within: Bools
    groups: Bools

    def of(self, which: Ints) -> Ints:
        return which[self.groups[which]]

    def near(self, which: Ints, taken: list[int], random: np.random.Generator) -> Ints:
        return _a_part(self.of(which), taken, random)


def _reached(flow: Flow, line: int, row: NDArray[np.integer], count: int) -> _Reached:
    reached = np.zeros(count + 1, bool)
    reached[flow.reached(line)] = True
    return _Reached(row == flow.kind[line], reached[:count])


def _a_part(which: Ints, taken: list[int], random: np.random.Generator) -> Ints:
    """As many of the groups as are looked at, by chance, but those that somebody joins already."""
    if len(which) > LOOKED_AT:
        which = np.unique(which[random.integers(0, len(which), LOOKED_AT)])
    return which[~np.isin(which, taken)]


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
