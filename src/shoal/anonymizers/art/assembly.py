"""The groups that ART has made so far, as counts of cells."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art.asked import Asked
from shoal.anonymizers.art.cells import Cells
from shoal.anonymizers.art.members import Members
from shoal.anonymizers.art.safety import safe_groups
from shoal.anonymizers.art.weights import member_weights
from shoal.grouping import Grouping
from shoal.grouping.pairs import starts
from shoal.table import Table

GroupKind = Literal["pure", "pooled", "mixed", "bound", "alike", "open"]
"""Alike: of people of one signature, whatever they hold; open: of people without an event."""
GROUP_KINDS: tuple[GroupKind, ...] = ("pure", "pooled", "mixed", "bound", "alike", "open")
Ints = NDArray[np.int64]


class Assembly:
    """The groups made so far. Those that are alike are one group with copies; whoever changes
    groups opens them up first."""

    def __init__(self, table: Table, cells: Cells, rate: float = np.inf) -> None:
        """One in `rate` times r people of the sample that groups are made of carries."""
        self.table, self.cells, self._rate = table, cells, rate
        none = np.zeros(0, np.int64)
        self._members = Members(np.zeros(1, np.int64), none, none, np.zeros(0, bool))
        self._kind, self._copies = none, none
        self._checked = np.zeros(0, bool)
        """Of each group: whether it is known to be safe as it is."""
        self._joined: list[tuple[int, int]] = []
        """Groups, and the cells of those who joined them."""
        self.withheld = np.zeros(len(cells.free), np.int64)
        """Of each cell: how many people are left out though they carry nothing."""

    def add(self, members: Ints, kind: GroupKind) -> None:
        """One group; its cells' rows have been taken out of `cells.free` already."""
        cell, number = np.unique(members, return_counts=True)
        whole = Members(np.array([0, len(cell)]), cell, number, np.zeros(len(cell), bool))
        self._append(whole, kind, np.ones(1, np.int64))

    def add_many(
        self,
        owner: NDArray[np.integer],
        cell: NDArray[np.integer],
        number: NDArray[np.integer],
        sampled: NDArray[np.bool_],
        copies: Ints,
        kind: GroupKind,
    ) -> None:
        """Groups of people who are free, from lines in the order of the groups."""
        people = np.bincount(cell, number * copies[owner], len(self.cells.free))
        self.cells.free[:] -= people.astype(np.int64)
        start = starts(owner, len(copies))
        members = Members(start, cell.astype(np.int64), number.astype(np.int64), sampled)
        self._append(members, kind, copies)

    def _append(self, members: Members, kind: GroupKind, copies: Ints) -> None:
        self._members = self._members.followed_by(members)
        self._kind = np.append(self._kind, np.full(len(copies), GROUP_KINDS.index(kind)))
        self._copies = np.append(self._copies, copies)
        self._checked = np.append(self._checked, np.zeros(len(copies), bool))

    def __len__(self) -> int:
        """How many groups there are, those that are alike counted once."""
        return len(self._kind)

    def count(self, kind: GroupKind) -> int:
        """How many groups there are of a kind, each copy counted."""
        return int(self._copies[self._kind == GROUP_KINDS.index(kind)].sum())

    def people(self, kind: GroupKind) -> int:
        """How many people are in groups of a kind."""
        sizes = self._members.summed(self._members.number)
        return int((sizes * self._copies)[self._kind == GROUP_KINDS.index(kind)].sum())

    def lines(self, groups: Ints) -> Members:
        """The members of some groups."""
        return self._members.of(groups)

    def members(self, group: int) -> Ints:
        """The cells of a group, one for each member."""
        mine = self.lines(np.array([group]))
        return np.repeat(mine.cell, mine.number)

    def of_kind(self, kind: GroupKind) -> list[int]:
        """The groups of a kind."""
        return np.flatnonzero(self._kind == GROUP_KINDS.index(kind)).tolist()

    def open_up(self, which: Ints, most: int, random: np.random.Generator) -> Ints:
        """Groups without copies, each of which may be changed: all of those given and of their
        copies, or `most` of them, by chance."""
        copies = self._copies[which]
        taken = copies
        if copies.sum() > most:
            taken = np.minimum(copies, random.multinomial(most, copies / copies.sum()))
        whole = taken == copies
        more, first = np.repeat(which, taken - whole), len(self)
        self._copies[which] = np.where(whole, 1, copies - taken)
        self._members = self._members.followed_by(self._members.of(more))
        self._kind = np.append(self._kind, self._kind[more])
        self._copies = np.append(self._copies, np.ones_like(more))
        self._checked = np.append(self._checked, self._checked[more])
        return np.concatenate([which[whole], np.arange(first, first + len(more))])

    def separate(self) -> None:
        """Every copy becomes a group of its own."""
        which = np.repeat(np.arange(len(self)), self._copies)
        self._members, self._kind = self._members.of(which), self._kind[which]
        self._copies, self._checked = np.ones(len(which), np.int64), self._checked[which]

    def signature_of(self, group: int) -> int:
        """The signature of a group's first member."""
        return int(self.cells.signature[self._members.cell[self._members.start[group]]])

    def smallest(self) -> int | None:
        """The size of the smallest group, if there is one."""
        sizes = self._members.summed(self._members.number)
        return int(sizes.min()) if len(sizes) else None

    def is_pooled(self, groups: Ints) -> NDArray[np.bool_]:
        return np.asarray(self._kind[groups] == GROUP_KINDS.index("pooled"))

    def join(self, group: int, cell: int, *, pooled: bool = False) -> None:
        """One more member of a group, as soon as joining is over (`close`); `pooled`: which is
        published pooled from now on."""
        self.cells.free[cell] -= 1
        self._joined.append((group, cell))
        if pooled:
            self._kind[group] = GROUP_KINDS.index("pooled")

    def close(self, asked: Asked) -> None:
        """Whoever joined groups is in them, but for those groups that are not safe with them."""
        if not self._joined:
            return
        group, cell = np.array(self._joined).T
        members, self._joined = self._members, []
        self._members = members.joined_by(group, cell)
        unsafe = np.zeros(len(self), bool)
        changed = np.zeros(len(self), bool)
        changed[group] = True
        for (x, y), which in self.by_values(changed).items():
            unsafe[which] = ~self.are_safe(which, x, y, asked)
        kept = ~unsafe[group]
        np.add.at(self.cells.free, cell[~kept], 1)
        self._members = members.joined_by(group[kept], cell[kept])

    def withhold(self, cell: Ints | int, number: Ints | int = 1) -> None:
        """People without an event who are left out."""
        np.subtract.at(self.cells.free, cell, number)
        np.add.at(self.withheld, cell, number)

    def people_with(self, values: NDArray[np.bool_]) -> Ints:
        """Of each signature: how many people are in groups that hold one of some values."""
        members, cells = self._members, self.cells
        holds = members.summed(values[cells.value[members.cell]]) > 0
        inside = np.where(holds, self._copies, 0)[members.owner] * members.number
        signature = cells.signature[members.cell]
        return np.bincount(signature, inside, len(self.table.signatures)).astype(np.int64)

    def missing_people(self) -> Ints:
        """Of each signature: how many people are left out, carriers who are still free among
        them."""
        cells = self.cells
        missing = self.withheld + np.where(cells.event >= 0, cells.free, 0)
        return np.bincount(cells.signature, missing, len(self.table.signatures)).astype(np.int64)

    def grouping(
        self, asked: Asked | None = None, hidden: tuple[GroupKind, ...] = ("pooled",)
    ) -> Grouping:
        """The groups as counts, those of the `hidden` kinds published pooled, and rows without an
        event that nobody needs alone; carriers who are still free are in no group. With weights if
        it is said what was asked."""
        cells, members, count = self.cells, self._members, len(self)
        alone = np.flatnonzero((cells.event < 0) & (cells.free > 0))
        codes = [GROUP_KINDS.index(kind) for kind in hidden]
        pooled = np.append(np.isin(self._kind, codes), np.zeros(len(alone), bool))
        member = np.append(members.cell, alone)
        weight = None
        if asked is not None and asked.masks is None:
            weight = np.append(
                member_weights(members, cells, asked, self._rate), np.full(len(alone), np.nan)
            )
        return Grouping.of_lines(
            self.table,
            np.append(members.owner, np.arange(count, count + len(alone))).astype(np.int32),
            cells.signature[member],
            cells.value[member],
            np.append(members.number, np.ones(len(alone), np.int64)),
            copies=np.append(self._copies, cells.free[alone]),
            weight=weight,
            pooled=pooled if pooled.any() else None,
        )

    def drop_unsafe(self, asked: Asked) -> None:
        """Checks pure and pooled groups in double precision and takes apart what fails."""
        members, kept = self._members, np.ones(len(self), bool)
        for (x, y), which in self.by_values(~self._checked).items():
            kept[which] = self._checked[which] = self.are_safe(which, x, y, asked)
        gone = ~kept[members.owner]
        people = members.number[gone] * self._copies[members.owner[gone]]
        freed = np.bincount(members.cell[gone], people, len(self.cells.free))
        self.cells.free[:] += freed.astype(np.int64)
        which = np.flatnonzero(kept)
        self._members = members.of(which)
        self._kind, self._copies = self._kind[which], self._copies[which]
        self._checked = self._checked[which]

    def are_safe(self, which: Ints, x: int, y: int, asked: Asked) -> NDArray[np.bool_]:
        """Whether every posterior is within its limit, by the closed form (kernels/links.py)."""
        return safe_groups(self._members.of(which), self.cells, x, y, asked)

    def by_values(self, some: NDArray[np.bool_] | None = None) -> dict[tuple[int, int], Ints]:
        """The pure and pooled groups, or `some` of them, by their event value and by the value of
        the others (for pooled ones `len(table.values)`)."""
        members, cells, other = self._members, self.cells, len(self.table.values)
        pooled = self._kind == GROUP_KINDS.index("pooled")
        there = (self._kind == GROUP_KINDS.index("pure")) | pooled
        there &= True if some is None else some
        if not there.any():
            return {}
        begin, value = members.start[:-1], cells.value[members.cell]
        carries = (cells.event >= 0)[members.cell]
        x = np.maximum.reduceat(np.where(carries, value, np.int32(-1)), begin)[there]
        y = np.maximum.reduceat(np.where(carries, np.int32(-1), value), begin)[there]
        which = np.flatnonzero(there)
        y = np.where(pooled[which] | (y < 0), other, y).astype(np.int64)
        keys, line = np.unique(x.astype(np.int64) * (other + 1) + y, return_inverse=True)
        by_key = np.split(which[np.argsort(line, kind="stable")], np.cumsum(np.bincount(line))[:-1])
        return {
            (int(key) // (other + 1), int(key) % (other + 1)): mine
            for key, mine in zip(keys, by_key, strict=True)
        }
