"""Odds and limits of kinds of people in every column: in each view, in the hands of each reader."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art.asked import Asked
from shoal.anonymizers.art.masks import Block, Masks

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
FEATURES = 12
"""Principal components that tell who is alike."""
PRESSURE = 3
"""The power of a column's expected use with which it counts in who is alike: columns that run out
first decide."""
SMALLEST_ODDS = 1e-6
ROUNDING = 1e-13


def _same(one: Block, other: Block) -> bool:
    """Whether odds and limits differ by rounding at most: groups are checked with all of them in
    the end."""
    near = np.isclose(one.odds, other.odds, rtol=ROUNDING, atol=0.0, equal_nan=True)
    return bool(near.all()) and np.allclose(one.strength, other.strength, rtol=ROUNDING, atol=0.0)


@dataclass(frozen=True, eq=False)
class Columns:
    """kinds x columns, for carriers of one event value among people of one other value."""

    odds: Floats
    strength: Floats
    """One over the limit."""
    chance: Floats
    """Of each kind: the event's probability, on average over columns."""
    leading: int | None = None
    """How many columns, the first, tell who is alike; None: all."""

    @classmethod
    def of(cls, asked: Asked, kinds: NDArray[np.integer], x: int, y: int) -> Columns:
        """For the signatures `kinds`; readers who weigh a view alike share its column."""
        if asked.masks is not None:
            return cls._of_masks(asked.masks, kinds, x)
        seen: dict[str, list[Floats]] = {}
        odds, strength = (np.empty((asked.width, len(kinds))) for _ in range(2))
        chance, width = np.zeros(len(kinds)), 0
        for column in asked.columns(x, np.array([y], np.int32)):
            before = seen.setdefault(column.view.name, [])
            if any(np.array_equal(column.odds, other) for other in before):
                continue
            before.append(column.odds)
            row = column.view.index[kinds]
            odds[width], strength[width] = column.odds[row, 0], column.strength[row]
            chance += column.chance[row]
            width += 1
        odds, strength = (np.ascontiguousarray(one[:width].T) for one in (odds, strength))
        odds[np.isnan(odds)] = np.inf
        return cls(odds, strength, chance / width)

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
        return cls(odds, strength, chance, blocks[0].odds.shape[1])

    def finite(self) -> NDArray[np.bool_]:
        """The kinds whose odds are finite in every column; those of the others become 1, so that
        they have a place."""
        usable: NDArray[np.bool_] = np.all(self.odds < np.inf, axis=1)
        self.odds[~usable] = 1.0
        return usable

    def some(self, which: NDArray[np.bool_]) -> Columns:
        """Those of some kinds."""
        if which.all():
            return self
        return Columns(self.odds[which], self.strength[which], self.chance[which], self.leading)

    @property
    def share(self) -> Floats:
        """Of each kind: the limit, in the column where it is most."""
        return np.asarray(1.0 / self.strength.min(axis=1))

    def places(self, people: Ints) -> NDArray[np.float32]:
        """kinds x features: the leading principal components of the log odds. What a column will be
        used is what public knowledge expects: the demand of those who will carry, over all odds."""
        odds, strength = self.odds[:, : self.leading], self.strength[:, : self.leading]
        wanted = (people * self.chance) @ (odds * strength)
        use = wanted / np.maximum(people @ odds, 1e-300)
        logs = np.log(np.maximum(odds, SMALLEST_ODDS))
        logs *= (use / max(use.mean(), 1e-300)) ** PRESSURE
        logs -= (people @ logs) / people.sum()
        _, directions = np.linalg.eigh((logs * people[:, None]).T @ logs)
        return np.ascontiguousarray(logs @ directions[:, ::-1][:, :FEATURES], np.float32)

    def need(self, kind: Ints, start: Ints, people: Ints) -> Floats:
        """How many average people the largest demand of each stretch of kinds is worth, on average
        over columns."""
        typical = np.maximum(people @ self.odds / people.sum(), 1e-300)
        lengths = np.diff(start, append=len(kind))
        several = lengths > 1
        entries = kind[np.repeat(several, lengths)]
        begin = np.cumsum(lengths[several]) - lengths[several]
        alone, together = np.zeros(len(people)), np.zeros(len(begin))
        for demand in np.ascontiguousarray((self.odds * self.strength / typical).T):
            alone += demand
            together += np.maximum.reduceat(demand[entries], begin)
        need = alone[kind[start]]
        need[several] = together
        return np.asarray(need / len(typical))
