"""Odds and limits of kinds of people in every column: in each view, in the hands of each reader."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Bools, Floats, Ints, Singles, Whole
from shoal.methods.art.asked import Asked
from shoal.methods.art.kernels.weights import Weights, gathered, largest_sums, people_by_class
from shoal.methods.art.masks import Block, Masks
from shoal.methods.art.threads import one_thread

FEATURES = 12
"""Principal components that tell who is alike."""
PRESSURE = 3
"""The power of a column's expected use with which it counts in who is alike: columns that run out
first decide."""
SMALLEST_ODDS = 1e-6
ROUNDING = 1e-13
TOGETHER = 1 << 22
"""So many numbers of kinds in columns are written out at the same time."""
MANY = 1 << 26
"""Of more numbers than that every second kind, every third or so tells who is alike."""
STRETCH = 4096
LENIENT = 1.5
"""Whoever weighs people by all counts together may find odds of so many times those of the limit in
a group: all groups together tell more, and joining.py sees to that."""
"""Kinds that are looked up at the same time."""


def _same(one: Block, other: Block) -> bool:
    """Whether odds and limits differ by rounding at most: groups are checked with all of them in
    the end."""
    near = np.isclose(one.odds, other.odds, rtol=ROUNDING, atol=0.0, equal_nan=True)
    return bool(near.all()) and np.allclose(one.strength, other.strength, rtol=ROUNDING, atol=0.0)


def _by_class(at: Whole, view: list[int], odds: list[Floats], strength: list[Floats]) -> Weights:
    """From the view of each column, and by column the odds and strength of its classes."""
    first = np.cumsum([0, *(len(one) for one in odds)])
    together = np.concatenate(odds)
    together[np.isnan(together)] = np.inf
    return Weights(at, np.array(view), first, together, np.concatenate(strength))


@dataclass(frozen=True, eq=False)
class Columns:
    """Kinds in columns, for carriers of one event value among people of one other value."""

    weights: Weights
    chance: Floats
    """Of each kind: the event's probability, on average over columns."""
    leading: int
    """How many columns, the first, tell who is alike."""

    def __len__(self) -> int:
        """The number of kinds."""
        return len(self.chance)

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.weights.through)

    @classmethod
    def of(cls, asked: Asked, kinds: Whole, x: int, y: int, *, all_views: bool = False) -> Columns:
        """For the signatures `kinds`; readers who weigh a view alike share its column. One more
        column, if it is asked for, is of whoever takes all counts together."""
        if asked.masks is not None:
            return cls._of_masks(asked.masks, kinds, x)
        weights = cls.weights_of(asked, kinds, x, y, all_views=all_views)
        columns = [one for one in asked.columns(x, y) if not one.again]
        chance = np.zeros(len(kinds))
        for column in columns:
            chance += column.known[:, 0][column.at[kinds]]
        return cls(weights, chance / len(columns), len(columns))

    @classmethod
    def weights_of(
        cls, asked: Asked, kinds: Whole, x: int, y: int, *, all_views: bool = False
    ) -> Weights:
        """Their weights alone."""
        if asked.masks is not None:
            return cls._of_masks(asked.masks, kinds, x).weights
        views = asked.knowledge.views
        columns = [one for one in asked.columns(x, y) if not one.again]
        view, odds, strength = (
            [getattr(one, name) for one in columns] for name in ("view", "odds", "strength")
        )
        if all_views:
            event = int(asked.table.value_event[x])
            known = asked.counted(event)[kinds]
            view.append(len(views))
            odds.append(known / (1.0 - known))
            most = np.maximum(1.0 / float(asked.table.event_r[event]), known)
            strength.append((1.0 + (LENIENT - 1.0) * most) / (LENIENT * most))
        classes = narrow(max(len(one) for one in odds))
        at = np.empty((len(kinds), len(views) + int(all_views)), classes)
        at[:, len(views) :] = np.arange(len(kinds))[:, None]
        for first in range(0, len(kinds), STRETCH):
            some, to = kinds[first : first + STRETCH], slice(first, first + STRETCH)
            at[to, : len(views)] = np.column_stack([one.index[some] for one in views])
        return _by_class(at, view, odds, strength)

    @classmethod
    def _of_masks(cls, masks: Masks, kinds: Whole, x: int) -> Columns:
        blocks: list[Block] = []
        for one in masks.blocks(x):
            if not any(_same(one, other) for other in blocks):
                blocks.append(one)
        odds, strength = (
            np.hstack([getattr(one, name)[kinds] for one in blocks])
            for name in ("odds", "strength")
        )
        chance = np.mean([one.chance[kinds].mean(axis=1) for one in blocks], axis=0)
        return cls.one_by_one(odds, strength, chance, blocks[0].odds.shape[1])

    @classmethod
    def one_by_one(
        cls, odds: Floats, strength: Floats, chance: Floats, leading: int | None = None
    ) -> Columns:
        """From kinds x columns, each kind a class of its own."""
        at = np.arange(len(odds)).astype(narrow(len(odds)))[:, None]
        width = odds.shape[1]
        weights = _by_class(at, [0] * width, list(odds.T), list(strength.T))
        return cls(weights, chance, width if leading is None else leading)

    def finite(self) -> tuple[Bools, Columns]:
        """The kinds whose odds are finite in every column; and the same with those of the others
        as 1, so that they have a place."""
        usable = self.below(np.inf)
        if usable.all():
            return usable, self
        at, view, first, _, _ = self.weights
        others = np.flatnonzero(~usable)
        sizes = np.zeros(at.shape[1], np.int64)
        sizes[view] = np.diff(first)
        at = at.astype(narrow(int(sizes.max()) + len(others)))
        at[others] = sizes + np.arange(len(others))[:, None]  # classes of their own
        _, strength = self.rows(others)
        odds = [np.append(one, np.ones(len(others))) for one in self._by_column("odds")]
        limits = zip(self._by_column("strength"), strength.T, strict=True)
        strengths = [np.append(one, more) for one, more in limits]
        made = _by_class(at, view.tolist(), odds, strengths)
        return usable, replace(self, weights=made)

    def _by_column(self, name: str) -> list[Floats]:
        """The odds or strengths of the classes of each column."""
        return np.split(getattr(self.weights, name), self.weights.first[1:-1])

    def below(self, most: float) -> Bools:
        """The kinds whose odds are below so much in every column."""
        below = np.ones(len(self), bool)
        for w, odds in enumerate(self._by_column("odds")):
            fits = odds < most
            if not fits.all():
                below &= fits[self.weights.at[:, self.weights.through[w]]]
        return below

    def reduced(self, which: Bools) -> Columns:
        """Those of some kinds, in the same memory: these columns hold nothing any more."""
        at, kept = self.weights.at, 0
        for first in range(0, len(at), STRETCH):
            mine = at[first : first + STRETCH][which[first : first + STRETCH]]
            at[kept : kept + len(mine)] = mine
            kept += len(mine)
        return Columns(self.weights._replace(at=at[:kept]), self.chance[which], self.leading)

    def rows(self, kinds: Whole) -> tuple[Floats, Floats]:
        """kinds x columns: odds and strengths."""
        return self._rows(self.weights.odds, kinds), self._rows(self.weights.strength, kinds)

    def row(self, kind: int) -> tuple[Floats, Floats]:
        """The same of one kind."""
        at, through, first, odds, strength = self.weights
        where = first[:-1] + at[kind][through]
        return odds[where], strength[where]

    def column(self, w: int, kinds: Whole) -> Floats:
        """The odds of kinds in one column."""
        weights = self.weights
        where = weights.first[w] + weights.at[kinds, weights.through[w]]
        return np.asarray(weights.odds[where])

    def _rows(self, numbers: Floats, kinds: Whole, width: int | None = None) -> Floats:
        return gathered(self.weights, numbers, kinds.astype(np.int64), width or self.width)

    def _stretches(
        self, numbers: Floats, width: int, each: int = 1
    ) -> Iterator[tuple[slice, Floats]]:
        """Kinds x columns, from numbers by class; not more of them at the same time than fit. Of
        all kinds, or every second and so on."""
        step = max(1, TOGETHER // width) * each
        for first in range(0, len(self), step):
            some = slice(first, min(len(self), first + step), each)
            yield some, self._rows(numbers, np.arange(len(self))[some], width)

    def _summed(self, people: NDArray[np.number], numbers: Floats, width: int) -> Floats:
        """Of each column: the numbers of all people, added up; class by class where there are too
        many kinds to write them out together."""
        if len(self) * width <= TOGETHER:
            return np.asarray(people @ self._rows(numbers, np.arange(len(self)), width))
        first = self.weights.first
        counted = people_by_class(self.weights, people.astype(np.float64), width)
        there = np.where(counted > 0, numbers[: first[width]], 0.0)  # others may be infinite
        return np.add.reduceat(counted * there, first[:width])

    @property
    def share(self) -> Floats:
        """Of each kind: the limit, in the column where it is most."""
        least = np.full(len(self), np.inf)
        for w, strength in enumerate(self._by_column("strength")):
            mine = strength[:1]
            if (strength != mine).any():
                mine = strength[self.weights.at[:, self.weights.through[w]]]
            np.minimum(least, mine, out=least)
        return np.asarray(1.0 / least)

    @one_thread()
    def places(self, people: Ints) -> Singles:
        """kinds x features: the leading principal components of the log odds. What a column will be
        used is what public knowledge expects: the demand of those who will carry, over all odds."""
        width, (_, _, first, odds, strength) = self.leading, self.weights
        wanted = self._summed(people * self.chance, odds * strength, width)
        use = wanted / np.maximum(self._summed(people, odds, width), 1e-300)
        used = (use / max(use.mean(), 1e-300)) ** PRESSURE
        column = np.repeat(np.arange(width), np.diff(first[: width + 1]))
        known = np.where(odds < np.inf, odds, 1.0)  # nobody stands where they are infinite
        logs = np.log(np.maximum(known[: len(column)], SMALLEST_ODDS))
        logs *= used[column]
        logs -= (self._summed(people, logs, width) / people.sum())[column]
        spread = np.zeros((width, width))
        for some, rows in self._stretches(logs, width, 1 + len(self) * width // MANY):
            spread += (rows * people[some, None]).T @ rows
        _, directions = np.linalg.eigh(spread)
        leading = directions[:, ::-1][:, :FEATURES]
        place = np.empty((len(self), leading.shape[1]), np.float32)
        for some, rows in self._stretches(logs, width):
            place[some] = rows @ leading
        return place

    def need(self, kind: Ints, start: Ints, people: Ints) -> Floats:
        """How many average people the largest demand of each stretch of kinds is worth, on average
        over columns."""
        _, _, first, odds, strength = self.weights
        typical = np.maximum(self._summed(people, odds, self.width) / people.sum(), 1e-300)
        demand = odds * strength / np.repeat(typical, np.diff(first))
        ends = np.append(start, len(kind))
        return largest_sums(self.weights, demand, kind, ends) / self.width


def narrow(classes: int) -> type[np.unsignedinteger | np.signedinteger]:
    """The smaller of two kinds of numbers that can tell so many classes apart."""
    return np.uint16 if classes <= 1 << 16 else np.int32
