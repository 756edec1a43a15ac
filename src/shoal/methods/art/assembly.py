"""The groups that ART has made so far, as counts of cells."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Bools, Ints, Whole
from shoal.data.table import Table
from shoal.groups import Grouping
from shoal.groups.ragged import Ragged
from shoal.methods.art.asked import Asked
from shoal.methods.art.cells import Cells
from shoal.methods.art.members import Members
from shoal.methods.art.safety import safe_groups
from shoal.methods.art.weights import member_weights

GroupKind = Literal["pure", "pooled", "mixed", "bound", "alike", "told"]
"""Alike: of people of one signature, whatever they hold; told: published before."""
GROUP_KINDS: tuple[GroupKind, ...] = ("pure", "pooled", "mixed", "bound", "alike", "told")


class Assembly:
    """The groups made so far. Those that are alike are one group with copies; whoever changes
    groups opens them up first."""

    def __init__(self, table: Table, cells: Cells, rate: float = np.inf) -> None:
        """One in `rate` times r people of the sample that groups are made of carries."""
        self.table, self.cells, self._rate = table, cells, rate
        none = np.zeros(0, np.int64)
        self._members = Members(np.zeros(1, np.int64), none, none)
        self._kind, self._copies = none, none
        self._checked = np.zeros(0, bool)
        """Of each group: whether it is known to be safe as it is."""
        self._new: list[tuple[Members, Ints, Ints]] = []
        self._changed: dict[int, Ints] = {}
        self._before: dict[int, tuple[Ints, int]] = {}
        """What the groups that were joined were like before."""
        self.withheld = np.zeros(len(cells.free), np.int64)
        """Of each cell: how many people are left out though they carry nothing."""

    @classmethod
    def of(cls, asked: Asked, rate: float = np.inf) -> Assembly:
        """With the groups that are told already."""
        groups, told = cls(asked.table, Cells.of(asked.table), rate), asked.told
        if told is not None:
            cell = groups.cells.find(told.signature, told.value)
            groups.add_many(told.group, cell, told.rows, told.copies, "told")
        return groups

    def add(self, members: Ints, kind: GroupKind) -> None:
        """One group; its cells' rows have been taken out of `cells.free` already."""
        cell, number = np.unique(members, return_counts=True)
        start, code = np.array([0, len(cell)]), np.array([GROUP_KINDS.index(kind)])
        self._new.append((Members(start, cell, number), code, np.ones(1, np.int64)))

    def take(self, members: Ints, kind: GroupKind) -> None:
        """One group of people who are free."""
        np.subtract.at(self.cells.free, members, 1)
        self.add(members, kind)

    def add_many(
        self,
        owner: Whole,
        cell: Whole,
        number: Whole,
        copies: Ints,
        kind: GroupKind,
        sampled: Bools | None = None,
    ) -> None:
        """Groups of people who are free, from lines in the order of the groups."""
        people = np.bincount(cell, number * copies[owner], len(self.cells.free))
        self.cells.free[:] -= people.astype(np.int64)
        kinds = np.full(len(copies), GROUP_KINDS.index(kind))
        start = Ragged.of_owners(owner, len(copies)).start
        members = Members(start, cell.astype(np.int64), number.astype(np.int64), sampled)
        self._new.append((members, kinds, copies))

    def __len__(self) -> int:
        """How many groups there are, those that are alike counted once."""
        return len(self._kind) + sum(len(kinds) for _, kinds, _ in self._new)

    def _settle(self) -> Members:
        """Who is in which group, with all that was added and changed since."""
        if self._new:
            parts = [self._members, *(members for members, _, _ in self._new)]
            self._members = Members.joined(parts)
            self._kind = np.concatenate([self._kind, *(kinds for _, kinds, _ in self._new)])
            self._copies = np.concatenate([self._copies, *(copies for _, _, copies in self._new)])
            more = np.zeros(len(self._kind) - len(self._checked), bool)
            self._checked = np.append(self._checked, more)
            self._new = []
        if self._changed:
            changed, members = self._changed, self._members
            kept = np.ones(members.owners, bool)
            kept[list(changed)] = self._checked[list(changed)] = False
            old = kept[members.owner]
            joined = [len(one) for one in changed.values()]
            owner = np.concatenate([members.owner[old], np.repeat(list(changed), joined)])
            order = np.argsort(owner, kind="stable")
            cell = np.concatenate([members.cell[old], *changed.values()])[order]
            number = np.concatenate([members.number[old], np.ones(sum(joined), np.int64)])[order]
            still = [_still(members.some(np.array([g])), one) for g, one in changed.items()]
            sampled = np.concatenate([members.is_sampled[old], *still])[order]
            start = Ragged.of_owners(owner, members.owners).start
            self._members, self._changed = Members(start, cell, number, sampled), {}
        return self._members

    def count(self, kind: GroupKind) -> int:
        """How many groups there are of a kind, each copy counted."""
        self._settle()
        return int(self._copies[self._kind == GROUP_KINDS.index(kind)].sum())

    def people(self, kind: GroupKind) -> int:
        """How many people are in groups of a kind."""
        sizes = self._settle().summed(self._members.number)
        return int((sizes * self._copies)[self._kind == GROUP_KINDS.index(kind)].sum())

    def members(self, group: int) -> Ints:
        """The cells of a group, one for each member."""
        if group in self._changed:
            return self._changed[group]
        if group >= len(self._kind):
            self._settle()
        mine = self._members.stretch(group)
        return np.repeat(self._members.cell[mine], self._members.number[mine])

    def lines(self, groups: Ints) -> Members:
        """The members of some groups."""
        return self._settle().some(groups)

    def all_lines(self) -> tuple[Members, Ints]:
        """The members of all groups, and how many copies each has."""
        return self._settle(), self._copies

    def everybody(self) -> tuple[Ints, Ints]:
        """The group and the cell of everybody who is in one, of alike groups once."""
        members = self._settle()
        return np.repeat(members.owner, members.number), np.repeat(members.cell, members.number)

    def of_kind(self, kind: GroupKind) -> list[int]:
        """The groups of a kind."""
        there = self._settle().lengths > 0
        return np.flatnonzero(there & (self._kind == GROUP_KINDS.index(kind))).tolist()

    def open_up(self, which: Ints, most: int, random: np.random.Generator) -> Ints:
        """Groups without copies, each of which may be changed: all of those given and of their
        copies, or `most` of them, by chance."""
        self._settle()
        copies = self._copies[which]
        taken = copies
        if copies.sum() > most:
            taken = np.minimum(copies, random.multinomial(most, copies / copies.sum()))
        whole = taken == copies
        more = np.repeat(which, taken - whole)
        first = len(self)
        self._new.append((self._members.some(more), self._kind[more], np.ones_like(more)))
        self._copies[which] = np.where(whole, 1, copies - taken)
        self._settle()
        return np.concatenate([which[whole], np.arange(first, first + len(more))])

    def single_out(self, which: Ints) -> Ints:
        """One copy of each of the groups given, which may be changed."""
        self._settle()
        copied = self._copies[which] > 1
        more, singles = which[copied], which.copy()
        singles[copied] = len(self) + np.arange(len(more))
        self._new.append((self._members.some(more), self._kind[more], np.ones_like(more)))
        self._copies[more] -= 1
        self._settle()
        return singles

    def separate(self) -> None:
        """Every copy becomes a group of its own."""
        self._settle()
        self._keep(np.repeat(np.arange(len(self._copies)), self._copies))
        self._copies = np.ones(len(self._copies), np.int64)

    def _keep(self, which: Ints) -> None:
        """No groups but these, in this order."""
        self._members, self._kind = self._members.some(which), self._kind[which]
        self._copies, self._checked = self._copies[which], self._checked[which]

    def signature_of(self, group: int) -> int:
        """The signature of a group's first member."""
        return int(self.cells.signature[self.members(group)[0]])

    def saved(self) -> tuple[Members, tuple[NDArray[Any], ...]]:
        """Who is where, to come back to."""
        members = self._settle()
        rest = (self._kind, self._copies, self._checked, self.cells.free, self.withheld)
        return members, tuple(one.copy() for one in rest)

    def put_back(self, saved: tuple[Members, tuple[NDArray[Any], ...]]) -> None:
        """Everybody is where they were."""
        self._members, rest = saved
        self._new, self._changed, self._before = [], {}, {}
        kind, copies, checked, free, withheld = (one.copy() for one in rest)
        self._kind, self._copies, self._checked = kind, copies, checked
        self.cells.free[:], self.withheld[:] = free, withheld

    def dissolve(self, group: int) -> None:
        """Nobody of a group is in it any more: all are free."""
        members = self.members(group)
        np.add.at(self.cells.free, members, 1)
        self._changed[group] = members[:0]

    def smallest(self) -> int | None:
        """The size of the smallest group, if there is one."""
        sizes = self._settle().summed(self._members.number)
        return int(sizes[sizes > 0].min()) if sizes.any() else None

    def is_pooled(self, groups: Ints) -> Bools:
        self._settle()
        return np.asarray(self._kind[groups] == GROUP_KINDS.index("pooled"))

    def join(self, group: int, cell: int, *, pooled: bool = False) -> None:
        """One more member of a group; `pooled`: which is published pooled from now on."""
        members = self.members(group)
        self._before.setdefault(group, (members, int(self._kind[group])))
        self.cells.free[cell] -= 1
        self._changed[group] = np.append(members, cell)
        if pooled:
            self._kind[group] = GROUP_KINDS.index("pooled")

    @property
    def joined(self) -> list[int]:
        """The groups that somebody has joined."""
        return list(self._before)

    def part_again(self, group: int) -> None:
        """A group as it was before anybody joined it; who did is free again."""
        before, kind = self._before.pop(group)
        np.add.at(self.cells.free, self.members(group), 1)
        np.subtract.at(self.cells.free, before, 1)
        self._changed[group], self._kind[group] = before, kind

    def without(self, group: int, cell: int) -> Ints:
        """The members of a group but one of that cell."""
        members = self.members(group)
        return np.delete(members, int(np.flatnonzero(members == cell)[0]))

    def united(self, ones: Ints, others: Ints) -> Members:
        """Pairs of groups as one."""
        both = self._settle().some(np.ravel(np.column_stack([ones, others])))
        return replace(both, start=both.start[::2])

    def unite(self, pairs: list[tuple[int, int, bool]]) -> None:
        """Makes one group of a copy of each of two; whether it is published pooled from then on is
        the third of each."""
        if not pairs:
            return
        ones, others = (
            self.single_out(np.array([pair[side] for pair in pairs])) for side in (0, 1)
        )
        both, kinds = self.united(ones, others), self._kind[ones]
        kinds[[pooled for *_, pooled in pairs]] = GROUP_KINDS.index("pooled")
        kept = np.ones(len(self._kind), bool)
        kept[ones] = kept[others] = False
        self._keep(np.flatnonzero(kept))
        self._new.append((both, kinds, np.ones(len(pairs), np.int64)))
        self._settle()

    def pull_out(self, group: int, cell: int, instead: Ints) -> None:
        """Leaves a member of a group out, and takes others in its place."""
        self._changed[group] = np.concatenate([self.without(group, cell), instead])
        np.subtract.at(self.cells.free, instead, 1)
        self.withheld[cell] += 1

    def withhold(self, cell: Ints | int, number: Ints | int = 1) -> None:
        """People without an event who are left out."""
        np.subtract.at(self.cells.free, cell, number)
        np.add.at(self.withheld, cell, number)

    def let_in(self, cell: int) -> None:
        """Somebody who was left out is free again."""
        self.cells.free[cell] += 1
        self.withheld[cell] -= 1

    def people_with(self, values: Bools) -> Ints:
        """Of each signature: how many people are in groups that hold one of some values."""
        members, cells = self._settle(), self.cells
        owner = members.owner
        holds = members.summed(values[cells.value[members.cell]]) > 0
        inside = np.where(holds, self._copies, 0)[owner] * members.number
        signature = cells.signature[members.cell]
        return np.bincount(signature, inside, len(self.table.signatures)).astype(np.int64)

    def missing_people(self) -> Ints:
        """Of each signature: how many people are left out, carriers who are still free among
        them."""
        cells = self.cells
        missing = self.withheld + np.where(cells.event >= 0, cells.free, 0)
        return np.bincount(cells.signature, missing, len(self.table.signatures)).astype(np.int64)

    def grouping(
        self, asked: Asked | None = None, *, hidden: tuple[GroupKind, ...] = ("pooled",)
    ) -> Grouping:
        """The groups as counts, without those that are told already, those of the `hidden` kinds
        published pooled, and rows without an event that nobody needs alone; carriers who are still
        free are in no group. With weights if it is said what was asked."""
        cells, members = self.cells, self._settle()
        alone = np.flatnonzero((cells.event < 0) & (cells.free > 0))
        there = (members.lengths > 0) & (self._kind != GROUP_KINDS.index("told"))
        members = members.some(np.flatnonzero(there))
        count, codes = int(there.sum()), [GROUP_KINDS.index(kind) for kind in hidden]
        pooled = np.append(np.isin(self._kind[there], codes), np.zeros(len(alone), bool))
        number = np.append(members.owner, count + np.arange(len(alone)))
        member = np.append(members.cell, alone)
        weight = None
        if asked is not None and asked.masks is None:
            weight = member_weights(members, cells, asked, self._rate)
            weight = np.append(weight, np.full(len(alone), np.nan))
        return Grouping.of_lines(
            self.table,
            number.astype(np.int32),
            cells.signature[member],
            cells.value[member],
            np.append(members.number, np.ones(len(alone), np.int64)),
            copies=np.append(self._copies[there], cells.free[alone]),
            weight=weight,
            pooled=pooled if pooled.any() else None,
        )

    def drop_unsafe(self, asked: Asked) -> None:
        """Checks pure and pooled groups in double precision and takes apart what fails."""
        members = self._settle()
        kept = members.lengths > 0
        for (x, y), which in self.by_values(~self._checked).items():
            kept[which] = self._checked[which] = self.are_safe(which, x, y, asked)
        gone = ~kept[members.owner]
        people = members.number[gone] * self._copies[members.owner[gone]]
        freed = np.bincount(members.cell[gone], people, len(self.cells.free))
        self.cells.free[:] += freed.astype(np.int64)
        self._keep(np.flatnonzero(kept))
        self._before = {}

    def are_safe(self, which: Ints, x: int, y: int, asked: Asked) -> Bools:
        """Whether every posterior is within its limit, by the closed form (kernels/links.py)."""
        return safe_groups(self._settle().some(which), self.cells, x, y, asked)

    def by_values(self, some: Bools | None = None) -> dict[tuple[int, int], Ints]:
        """The pure and pooled groups, or `some` of them, by their event value and by the value of
        the others (for pooled ones `len(table.values)`)."""
        members, cells, other = self._settle(), self.cells, len(self.table.values)
        pooled = self._kind == GROUP_KINDS.index("pooled")
        there = (self._kind == GROUP_KINDS.index("pure")) | pooled
        there &= True if some is None else some
        held = np.flatnonzero(members.lengths)
        if not there[held].any():
            return {}
        which, value = held[there[held]], cells.value[members.cell]
        carries = (cells.event >= 0)[members.cell]
        x = members.largest(np.where(carries, value, np.int32(-1)))[which]
        y = members.largest(np.where(carries, np.int32(-1), value))[which]
        y = np.where(pooled[which] | (y < 0), other, y).astype(np.int64)
        keys, line = np.unique(x.astype(np.int64) * (other + 1) + y, return_inverse=True)
        by_key = np.split(which[np.argsort(line, kind="stable")], np.cumsum(np.bincount(line))[:-1])
        return {
            (int(key) // (other + 1), int(key) % (other + 1)): mine
            for key, mine in zip(keys, by_key, strict=True)
        }


def _still(before: Members, members: Ints) -> Bools:
    """Which members of a group are of the sample, by who was before it changed."""
    drawn = np.repeat(before.cell[before.is_sampled], before.number[before.is_sampled])
    order = np.argsort(members, kind="stable")
    ranks = np.empty(len(members), np.int64)
    ranks[order] = np.arange(len(members)) - np.searchsorted(members[order], members[order])
    return np.asarray(ranks < (drawn[:, None] == members).sum(axis=0))
