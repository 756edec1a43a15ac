"""What must be true of every class of every view beyond its groups: how many of it are where.

Somebody who takes the known distributions as counts knows of each class that k of its n people
carry an event. They are among those in groups that hold the event, or among those who are missing.
If there are m of them, the chance of each is k/m on average, whatever the groups look like; so at
least min(n, r k) people of the class must be there.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Floats, IntArray, Ints, Whole
from shoal.knowledge import Knowledge

Counts = list[Ints]
"""For each view that has classes, a number for each of them."""


def class_counts(knowledge: Knowledge, people: NDArray[np.number]) -> Counts:
    """How many people each class has, from how many each signature has; models have no classes."""
    there = np.flatnonzero(people)
    return [
        np.bincount(view.index[there], people[there], len(view.distributions)).astype(np.int64)
        for view in knowledge.class_views
    ]


class Lack:
    """How many more people each class needs, and whom it would help to take."""

    def __init__(
        self,
        knowledge: Knowledge,
        lacking: Counts,
        overall: int = 0,
        more: Iterable[tuple[IntArray, Ints]] = (),
    ) -> None:
        """`lacking` by view and class; `overall`, of the table as a whole; `more`, of other strata:
        that of each signature, and how many each lacks."""
        self._index = [view.index for view in knowledge.class_views]
        parts = [np.maximum(one, 0) for one in lacking]
        for one in parts:
            one[0] = 0  # whoever is in no class that is known
        for stratum, lack in more:
            self._index.append(stratum)
            parts.append(np.maximum(lack, 0))
        self._index.append(np.zeros_like(knowledge.views[0].index))
        parts.append(np.array([max(0, overall)]))
        self._first = np.cumsum([0, *(len(one) for one in parts[:-1])])
        self._all = np.concatenate(parts)
        self._lack = np.split(self._all, self._first[1:])
        self.helps = np.zeros(len(knowledge.views[0].index), np.int64)
        """Of each signature: how many classes that lack people it is in."""
        for index, lack in zip(self._index, self._lack, strict=True):
            self.helps += lack[index] > 0

    @property
    def total(self) -> int:
        """How many people all classes lack together."""
        return sum(int(np.maximum(one, 0).sum()) for one in self._lack)

    @property
    def most(self) -> int:
        """How many the class lacks that lacks most."""
        return max(int(one.max()) for one in self._lack)

    @property
    def classes(self) -> Ints:
        """Of each signature: how many classes that are known it is in, the whole table among
        them."""
        known = [index > 0 for index in self._index[:-1]]
        return np.asarray(1 + np.sum(known, axis=0, dtype=np.int64))

    def weighed(self, weights: list[Floats], overall: float) -> Floats:
        """Of each signature: the weights of the classes that lack people it is in, added up."""
        total = np.zeros(len(self.helps))
        for index, lack, weight in zip(
            self._index, self._lack, [*weights, np.array([overall])], strict=True
        ):
            total += np.where(lack > 0, weight, 0.0)[index]
        return total

    def take(self, signature: int, waiting: Waiting | None = None) -> None:
        """Somebody of this signature is taken, of those who are waiting."""
        mine = np.array([index[signature] for index in self._index])
        self._all[self._first + mine] -= 1
        for k in np.flatnonzero(self._all[self._first + mine] == 0):
            others = np.flatnonzero(self._index[k] == mine[k])
            self.helps[others] -= 1
            if waiting is not None:
                waiting.help_less(others)

    def give(self, signature: int) -> None:
        """Somebody of this signature is given back."""
        for index, lack in zip(self._index, self._lack, strict=True):
            one = index[signature]
            lack[one] += 1
            if lack[one] == 1:
                self.helps[index == one] += 1

    def pick(self, signature: Whole, free: Ints, random: np.random.Generator) -> int:
        """Where in `signature` one of those is who help most and are free; -1 if nobody helps."""
        helps = np.where(free > 0, self.helps[signature], 0)
        most = helps.max(initial=0)
        return int(random.choice(np.flatnonzero(helps == most))) if most > 0 else -1


class Waiting:
    """Those who may be taken, line by line in the order of their signatures, and how much it would
    help: the same as `Lack.pick` finds out each time anew."""

    def __init__(self, lack: Lack, signature: Whole) -> None:
        signatures = np.arange(len(lack.helps) + 1)
        self._start = np.searchsorted(signature, signatures).astype(np.int64)
        self._helps = lack.helps[signature].astype(np.int16)  # there are fewer views

    def help_less(self, signatures: Ints) -> None:
        """One class less that these are in lacks people."""
        first, last = self._start[signatures], self._start[signatures + 1]
        lengths = last - first
        line = np.arange(lengths.sum()) + np.repeat(last - np.cumsum(lengths), lengths)
        self._helps[line] -= self._helps[line] > 0

    def drop(self, line: int) -> None:
        """Nobody of this line can be taken any more."""
        self._helps[line] = 0

    def pick(self, random: np.random.Generator) -> int:
        """One of the lines that help most; -1 if nobody helps."""
        most = self._helps.max(initial=0)
        return int(random.choice(np.flatnonzero(self._helps == most))) if most > 0 else -1
