"""Odds of masks, for whoever reads several sensitive columns: alone, together, event by event.

Masks are many and share their events, so what is known of an event is kept by signature and view.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from shoal.arrays import Floats
from shoal.data.table import Table
from shoal.knowledge import Knowledge, against, event_chances, seen_in, with_pool
from shoal.methods.art.limits import strengths


class Block(NamedTuple):
    """One reader's odds of a mask in all views: signatures x views each."""

    odds: Floats
    strength: Floats
    chance: Floats
    """The event's probability."""
    values: tuple[Floats, ...]
    """What else the odds are made of."""


class Masks:
    """What is known of the masks of a table."""

    def __init__(
        self, whole: Table, knowledge: Knowledge, readers: tuple[str, ...], *, prior: bool
    ) -> None:
        assert whole.several is not None
        self._whole, self._several, self._views = whole, whole.several, knowledge.views
        self._prior, self._readers = prior, readers
        self._blocks: dict[tuple[str, int, int], Block] = {}

    def blocks(self, x: int) -> Iterator[Block]:
        """All readers' odds of the mask x against people without an event; first those of the
        columns together."""
        several = self._several
        events = np.flatnonzero(several.mask_carries[x])
        if {"joint", "together"} & set(self._readers):
            strongest = np.max([self._telling(int(e)).strength for e in events], axis=0)
            chance = self._by_signature([view.distributions[:, x] for view in self._views])
            odds = _quotient(chance, self._nothing)
            yield Block(odds, strongest, chance, (self._nothing,))
            for c, table in enumerate(several.columns):
                if several.mask_codes[x, c] < len(table.values):
                    yield self._alone(c, int(several.mask_codes[x, c]))
        if "binary" in self._readers:
            for event in events:
                yield self._telling(int(event))

    def _by_signature(self, by_view: list[Floats]) -> Floats:
        """signatures x views, from what each view says by its distributions."""
        pairs = zip(by_view, self._views, strict=True)
        return np.column_stack([one[view.index] for one, view in pairs])

    @cached_property
    def _nothing(self) -> Floats:
        """The chance of no event at all."""
        none = int(self._several.mask[-1])
        return self._by_signature([view.distributions[:, none] for view in self._views])

    def _telling(self, event: int) -> Block:
        """For whoever tells an event from all else."""
        key = ("event", event, 0)
        if key not in self._blocks:
            chances = [event_chances(view, self._whole)[:, event] for view in self._views]
            chance = self._by_signature(chances)
            r = float(self._whole.event_r[event])
            strength = strengths(r, chance, prior=self._prior)
            self._blocks[key] = Block(_quotient(chance, 1.0 - chance), strength, chance, ())
        return self._blocks[key]

    def _alone(self, column: int, value: int) -> Block:
        """For whoever reads one column, and weighs a value of it against what is no event."""
        key = ("column", column, value)
        if key not in self._blocks:
            table = self._several.columns[column]
            event = int(table.value_event[value])
            seen = [seen_in(view, table) for view in self._views]
            with_none = [with_pool(view, table) for view in seen]
            mine, none = ([one[:, at] for one in with_none] for at in (value, len(table.values)))
            chance = [event_chances(view, table)[:, event] for view in seen]
            values = (self._by_signature(mine), self._by_signature(none))
            known = self._by_signature(chance)
            strength = strengths(float(table.event_r[event]), known, prior=self._prior)
            self._blocks[key] = Block(_quotient(*values), strength, known, values)
        return self._blocks[key]


def _quotient(chance: Floats, other: Floats) -> Floats:
    return against(chance.reshape(-1), other.reshape(-1, 1)).reshape(chance.shape)
