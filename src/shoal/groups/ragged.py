"""Entries by their owners: one after another, those of an owner together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Bools, IntArray, Ints, Whole

Lines = TypeVar("Lines", bound=NDArray[Any])


@dataclass(frozen=True, eq=False)
class Ragged:
    """Which entries are whose."""

    start: NDArray[Any]
    """The entries of owner i are `start[i]` to `start[i+1]`."""

    @staticmethod
    def of_owners(owner: Whole, owners: int) -> Ragged:
        """From the owner of each entry."""
        return Ragged.of_lengths(np.bincount(owner, minlength=owners))

    @staticmethod
    def of_lengths(lengths: Whole) -> Ragged:
        """From how many entries each owner has; or each thing, of which there are copies."""
        start = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=start[1:])
        return Ragged(start)

    @property
    def owners(self) -> int:
        return len(self.start) - 1

    @property
    def lengths(self) -> Ints:
        """How many entries each owner has."""
        return np.asarray(np.diff(self.start))

    @property
    def owner(self) -> Ints:
        """The owner of each entry."""
        return np.repeat(np.arange(self.owners), self.lengths)

    @property
    def nth(self) -> NDArray[Any]:
        """Of each entry, how many of its owner's stand before it."""
        return np.asarray(np.arange(self.start[-1]) - np.repeat(self.start[:-1], self.lengths))

    def before(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Of each entry, the sum over those of its owner that stand before it."""
        total = np.append(np.cumsum(numbers) - numbers, 0)
        return np.asarray(total[:-1] - self.spread(total[self.start[:-1]]))

    def spread(self, numbers: Lines) -> Lines:
        """What each owner has, entry by entry."""
        return cast(Lines, np.repeat(numbers, self.lengths, axis=0))

    def owner_of(self, entries: Whole | int) -> Ints:
        """The owner of some entries."""
        return np.asarray(np.searchsorted(self.start, entries, side="right") - 1)

    def stretch(self, owner: int) -> slice:
        """Where the entries of one owner are."""
        return slice(int(self.start[owner]), int(self.start[owner + 1]))

    def entries(self, which: Whole) -> tuple[IntArray, IntArray]:
        """All entries of some owners, one after another: which of these owners each is of, and its
        place."""
        some = Ragged.of_lengths(self.lengths[which])
        owner = some.spread(np.arange(len(which), dtype=np.int32))
        place = np.arange(len(owner), dtype=np.int32)
        place += (self.start[which] - some.start[:-1]).astype(np.int32)[owner]
        return owner, place

    def summed(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """The sum over each owner's entries."""
        return self._reduced(np.add, numbers)

    def largest(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """The largest of each owner's entries; nought where there is none."""
        return self._reduced(np.maximum, numbers)

    def least(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """The least of them."""
        return self._reduced(np.minimum, numbers)

    def any(self, flags: Bools) -> Bools:
        """Whether some of each owner's entries is so."""
        return self._reduced(np.logical_or, flags)

    def _reduced(self, by: np.ufunc, numbers: NDArray[Any]) -> NDArray[Any]:
        held = self.start[1:] > self.start[:-1]
        if held.all() and self.owners:
            return np.asarray(by.reduceat(numbers, self.start[:-1]))
        reduced = np.zeros((self.owners, *numbers.shape[1:]), numbers.dtype)
        if held.any():
            reduced[held] = by.reduceat(numbers, self.start[:-1][held])
        return reduced


@dataclass(frozen=True, eq=False)
class Counts(Ragged):
    """How many there are of each code that an owner has, in the order of codes."""

    code: IntArray
    count: NDArray[Any]

    @classmethod
    def of_lines(cls, owner: Whole, code: IntArray, count: NDArray[Any], owners: int) -> Counts:
        """From lines in any order; equal ones are added up."""
        return cls.placed(owner, code, count, owners)[1]

    @classmethod
    def placed(
        cls, owner: Whole, code: IntArray, count: NDArray[Any], owners: int
    ) -> tuple[IntArray, Counts]:
        """The entry that each line went into, and the counts."""
        order = _sorting(owner, code)
        if order is not None:
            owner, code, count = _moved(owner, order), _moved(code, order), _moved(count, order)
        new = np.ones(len(owner), bool)
        np.not_equal(owner[1:], owner[:-1], out=new[1:])
        new[1:] |= code[1:] != code[:-1]
        if not new.all():
            first = np.flatnonzero(new)
            owner, code = owner[first], code[first]
            count = np.add.reduceat(count, first, dtype=count.dtype)
            del first
        start = Ragged.of_owners(owner, owners).start.astype(np.int32)
        line = np.cumsum(new, dtype=np.int32)
        line -= 1
        if order is not None:
            line[order[1]] = line[order[0]]
        return line, cls(start, code, count)

    @property
    def arrays(self) -> tuple[Any, Any, Any]:
        """As kernels take them."""
        return self.start, self.code, self.count

    def some(self, which: Whole) -> Self:
        """Those of some owners."""
        place = self.entries(which)[1]
        start = Ragged.of_lengths(self.lengths[which]).start.astype(self.start.dtype)
        return type(self)(start, self.code[place], self.count[place])

    def times(self, copies: Ints) -> Ints:
        """The counts in all copies of their owners."""
        return np.asarray(self.count * self.spread(copies))


def _moved(lines: Lines, order: tuple[IntArray, IntArray]) -> Lines:
    """Lines in order."""
    moved = lines.copy()
    moved[order[0]] = lines[order[1]]
    return moved


def _sorting(owner: Whole, code: IntArray) -> tuple[IntArray, IntArray] | None:
    """Places of lines that are not in order, all of their owner's, and what belongs there; None if
    all are in order, as a grouping's lines mostly are."""
    rises = owner[1:] > owner[:-1]
    rises |= (owner[1:] == owner[:-1]) & (code[1:] >= code[:-1])
    if rises.all():
        return None
    some = np.arange(len(owner), dtype=np.int32)
    if (owner[1:] >= owner[:-1]).all():
        torn = np.zeros(int(owner[-1]) + 1, bool)
        torn[owner[1:][~rises]] = True
        some = some[torn[owner]]
    return some, some[np.lexsort((code[some], owner[some]))]
