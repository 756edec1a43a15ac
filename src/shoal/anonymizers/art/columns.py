"""Odds and limits of kinds of people in every column: in each view, in the hands of each reader.

Kinds are many where there are many QIs, and so are views. People of one class share their odds in a
view, so that these are kept by class; they are written out, kind by kind, for some kinds at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art.asked import Asked
from shoal.anonymizers.art.kernels.fill import Known
from shoal.anonymizers.art.masks import Block, Masks
from shoal.knowledge import Rows

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
FEATURES = 12
"""Principal components that tell who is alike."""
PRESSURE = 3
"""The power of a column's expected use with which it counts in who is alike: columns that run out
first decide."""
SMALLEST_ODDS = 1e-6
ROUNDING = 1e-13
WRITTEN = 1 << 23
"""Odds that are written out at a time; of more, a sample tells who is alike."""


def _same(one: Block, other: Block) -> bool:
    """Whether odds and limits differ by rounding at most: groups are checked with all of them in
    the end."""
    near = np.isclose(one.odds, other.odds, rtol=ROUNDING, atol=0.0, equal_nan=True)
    return bool(near.all()) and np.allclose(one.strength, other.strength, rtol=ROUNDING, atol=0.0)


@dataclass(frozen=True, eq=False)
class Columns:
    """kinds x columns, for carriers of one event value among people of one other value."""

    index: list[Rows]
    """Rows of kinds, one for each view: where they stand in what is known of its classes."""
    kinds: NDArray[np.integer]
    """Where each kind stands in those."""
    part: Ints
    """Of each column: which rows it follows."""
    start: Ints
    """Of each column: where its first class stands in the next two; classes follow at strides."""
    stride: Ints
    odds: Floats
    strength: Floats
    """One over the limit."""
    chance: Floats
    """Of each kind: the event's probability, on average over columns."""
    usable: NDArray[np.bool_]
    """Of each kind; the odds of others count as 1, so that they have a place."""
    leading: int | None = None
    """How many columns, the first, tell who is alike; None: all."""

    @classmethod
    def of(cls, asked: Asked, kinds: NDArray[np.integer], x: int, y: int) -> Columns:
        """For the signatures `kinds`; readers who weigh a view alike share its column."""
        if asked.masks is not None:
            return cls._of_masks(asked.masks, kinds, x)
        views = asked.knowledge.views
        part: list[int] = []
        odds: list[Floats] = []
        strength: list[Floats] = []
        chance = np.zeros(len(kinds))
        for number, column in enumerate(asked.columns(x, np.array([y], np.int32))):
            view, mine = number % len(views), column.odds[:, 0]
            before = (odds[at] for at, other in enumerate(part) if other == view)
            if any(np.array_equal(mine, other) for other in before):
                continue
            part.append(view)
            odds.append(mine)
            strength.append(column.strength)
            chance += column.chance[column.view.index[kinds]]
        together = np.concatenate(odds)
        together[np.isnan(together)] = np.inf
        return cls(
            [view.index for view in views],
            kinds,
            np.array(part),
            np.cumsum([0] + [len(one) for one in odds])[:-1],
            np.ones(len(part), np.int64),
            together,
            np.concatenate(strength),
            chance / len(part),
            np.ones(len(kinds), bool),
        )

    @classmethod
    def _of_masks(cls, masks: Masks, kinds: NDArray[np.integer], x: int) -> Columns:
        blocks: list[Block] = []
        for one in masks.blocks(x):
            if not any(_same(one, other) for other in blocks):
                blocks.append(one)
        odds, strength = (
            np.hstack([getattr(one, name)[kinds] for one in blocks])
            for name in ("odds", "strength")
        )
        odds[np.isnan(odds)] = np.inf
        chance = np.mean([one.chance[kinds].mean(axis=1) for one in blocks], axis=0)
        return cls.written(odds, strength, chance, blocks[0].odds.shape[1])

    @classmethod
    def written(
        cls, odds: Floats, strength: Floats, chance: Floats, leading: int | None = None
    ) -> Columns:
        """From kinds x columns: every kind is a class of its own, the same one in every column."""
        kinds, width = odds.shape
        return cls(
            [np.arange(kinds, dtype=np.int32)],
            np.arange(kinds),
            np.zeros(width, np.int64),
            np.arange(width),
            np.full(width, width),
            odds.reshape(-1),
            strength.reshape(-1),
            chance,
            np.ones(kinds, bool),
            leading,
        )

    def __len__(self) -> int:
        """How many columns there are."""
        return len(self.part)

    def below(self, limit: float) -> NDArray[np.bool_]:
        """The kinds whose odds are below a limit in every column."""
        answer = np.ones(len(self.kinds), bool)
        for at in self._each():
            answer &= self.odds[at] < limit
        return answer

    def finite(self) -> Columns:
        """The same, in which kinds whose odds are not finite in every column cannot be used."""
        return replace(self, usable=self.below(np.inf))

    def some(self, which: NDArray[np.bool_] | Ints) -> Columns:
        """Those of some kinds."""
        kinds, chance, usable = self.kinds[which], self.chance[which], self.usable[which]
        return replace(self, kinds=kinds, chance=chance, usable=usable)

    def _each(self) -> Iterator[Ints]:
        """Column by column: where the numbers of each kind stand."""
        for part, start, stride in zip(self.part, self.start, self.stride, strict=True):
            yield self.index[part][self.kinds] * stride + start

    def by_column(self) -> Iterator[Floats]:
        """The odds of all kinds, column by column."""
        for at in self._each():
            yield np.where(self.usable, self.odds[at], 1.0)

    def of_kinds(self, which: Ints | slice) -> tuple[Floats, Floats]:
        """The odds and strengths of some kinds, by column."""
        at = self.known.row[which].take(self.part, axis=1) * self.stride + self.start
        odds = self.odds[at]
        odds[~self.usable[which]] = 1.0
        return odds, self.strength[at]

    @cached_property
    def known(self) -> Known:
        """As the kernels read it."""
        narrow = np.result_type(*self.index)
        row = np.empty((len(self.kinds), len(self.index)), narrow)
        for part, index in enumerate(self.index):
            row[:, part] = index[self.kinds]
        where = (self.part, self.start, self.stride)
        return Known(row, *where, self.odds, self.strength, self.usable)

    @cached_property
    def share(self) -> Floats:
        """Of each kind: the limit, in the column where it is most."""
        least = np.full(len(self.kinds), np.inf)
        for at in self._each():
            np.minimum(least, self.strength[at], out=least)
        return np.asarray(1.0 / least)

    @cached_property
    def _sample(self) -> Ints:
        """Kinds whose odds are written out together: all, or some by chance."""
        number, most = len(self.kinds), max(1, WRITTEN // len(self))
        if number <= most:
            return np.arange(number)
        return np.sort(np.random.default_rng(0).choice(number, most, replace=False))

    def places(self, people: Ints) -> NDArray[np.float32]:
        """kinds x features: the leading principal components of the log odds. What a column will be
        used is what public knowledge expects: the demand of those who will carry, over all odds."""
        some = self._sample
        weight = people[some]
        odds, strength = (one[:, : self.leading] for one in self.of_kinds(some))
        wanted = (weight * self.chance[some]) @ (odds * strength)
        use = wanted / np.maximum(weight @ odds, 1e-300)
        pressure = (use / max(use.mean(), 1e-300)) ** PRESSURE
        logs = _logs(odds, pressure)
        middle = (weight @ logs) / weight.sum()
        logs -= middle
        _, directions = np.linalg.eigh((logs * weight[:, None]).T @ logs)
        main = directions[:, ::-1][:, :FEATURES]
        place = np.empty((len(people), main.shape[1]), np.float32)
        for first in range(0, len(people), len(some)):
            block = slice(first, first + len(some))
            if len(some) < len(people):
                logs = _logs(self.of_kinds(block)[0][:, : self.leading], pressure) - middle
            place[block] = logs @ main
        return place

    def need(self, kind: Ints, start: Ints, people: Ints) -> Floats:
        """How many average people the largest demand of each stretch of kinds is worth, on average
        over columns."""
        some = self._sample
        weight = people[some]
        typical = np.maximum(weight @ self.of_kinds(some)[0] / weight.sum(), 1e-300)
        need, mine = np.zeros(len(start)), self.some(kind)
        for at, one in zip(mine._each(), typical, strict=True):
            need += np.maximum.reduceat(self.odds[at] * self.strength[at] / one, start)
        return need / len(typical)


def _logs(odds: Floats, pressure: Floats) -> Floats:
    logs: Floats = np.log(np.maximum(odds, SMALLEST_ODDS))
    logs *= pressure
    return logs
