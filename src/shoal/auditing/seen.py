"""What all adversaries make of all groups, through one view after another, taken in as it comes.

What is kept of a view does not grow with groups, but for a bit of each: there may be millions of
groups, and hundreds of views.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.adversaries.judging import Case, Judgement
from shoal.auditing.row_risks import People
from shoal.auditing.verdict import KINDS, Kind
from shoal.knowledge import View

Flags = NDArray[np.bool_]


class Lens(NamedTuple):
    """What one adversary makes of all groups through one view."""

    adversary: str
    view: View
    judged: Judgement


class Largest(NamedTuple):
    """The largest link to an event; of equal ones that of the first row."""

    posterior: float
    row: int | None
    lens: int
    pair: int
    kind: Kind


class Most(NamedTuple):
    """The largest exposure through a view."""

    exposure: float
    posterior: float
    kind: Kind


class Seen:
    """The worst of all lenses for each held pair, and what each lens says of all."""

    def __init__(self, case: Case, people: People, views: int) -> None:
        self.people = people
        self._case, self._views = case, views
        held = len(case.held)
        self._signature = case.partition.pair_signature[case.held]
        self.lenses: list[Lens] = []
        """What is left of them: nothing by pair."""
        self.exposure, self.posterior = np.full(held, -1.0), np.zeros(held)
        self.event, self.through = np.full(held, -1, np.int32), np.zeros(held, np.int32)
        self.kind = np.zeros(held, np.int8)
        self.breach, self.undecided = np.zeros(held, bool), np.zeros(held, bool)
        self.largest: dict[int, Largest] = {}
        """By event."""
        self.by_view: list[Most] = []
        self._exposed: list[NDArray[np.uint8]] = []
        self._by_adversary: dict[str, tuple[Flags, Flags]] = {}

    def take(self, lens: Lens, *, beside: bool = False) -> None:
        """Takes one more lens in: those of all views in turn, or one beside the views."""
        number, (name, view, one) = len(self.lenses), lens
        with_r = one.posterior * self._case.strength(view, self._signature, one.event)
        worse = np.flatnonzero(with_r > self.exposure)
        self.exposure[worse], self.posterior[worse] = with_r[worse], one.posterior[worse]
        self.event[worse], self.kind[worse] = one.event[worse], one.kind[worse]
        self.through[worse] = number
        self.breach |= one.breach
        self.undecided |= one.undecided
        if name not in self._by_adversary:
            self._by_adversary[name] = np.zeros_like(self.breach), np.zeros_like(self.breach)
        breach, undecided = self._by_adversary[name]
        breach |= one.breach
        if not beside:
            undecided |= one.undecided
            self._take_largest(number, one)
            self._take_view(number % self._views, one, with_r)
        none = np.zeros(0, bool)
        kept = replace(
            one,
            posterior=np.zeros(0),
            event=np.zeros(0, np.int32),
            kind=np.zeros(0, np.int8),
            breach=none,
            undecided=none,
        )
        self.lenses.append(lens._replace(judged=kept))

    def flags(self, adversary: str) -> tuple[Flags, Flags]:
        """Of each held pair: whether an adversary exposes it, or else leaves it undecided."""
        breach, undecided = self._by_adversary[adversary]
        return breach, undecided & ~breach

    def exposed(self, view: int) -> int:
        """How many people are linked above their limit through a view."""
        breach = np.unpackbits(self._exposed[view], count=len(self.breach)).view(bool)
        return int(self._case.partition.pair_people[self._case.held[breach]].sum())

    def _take_largest(self, number: int, one: Judgement) -> None:
        for event in np.flatnonzero(one.event_pair >= 0).tolist():
            posterior, known = float(one.event_worst[event]), self.largest.get(event)
            if known is not None and posterior < known.posterior:
                continue
            if known is not None and posterior == known.posterior and self.people.rows is None:
                continue  # who was found first stays so, where nobody has a row
            # The first that was found, and those for whom no other event is worse.
            same = np.flatnonzero((one.posterior == posterior) & (one.event == event))
            pairs = np.append(self._case.held[same], one.event_pair[event])
            row, pair = self.people.first_of(pairs)
            kind = KINDS[one.kind[np.searchsorted(self._case.held, pair)]]
            found = Largest(posterior, row, number, pair, kind)
            earlier = known is not None and posterior == known.posterior
            if not earlier or _order(found) < _order(known):
                self.largest[event] = found

    def _take_view(self, view: int, one: Judgement, with_r: NDArray[np.float64]) -> None:
        most = Most(0.0, 0.0, "exact")
        if len(with_r):
            worst = int(np.argmax(with_r))
            most = Most(float(with_r[worst]), float(one.posterior[worst]), KINDS[one.kind[worst]])
        breach = np.packbits(one.breach)
        if view == len(self.by_view):
            self.by_view.append(most)
            self._exposed.append(breach)
            return
        self._exposed[view] |= breach
        if most.exposure > self.by_view[view].exposure:
            self.by_view[view] = most


def _order(one: Largest | None) -> tuple[int, int, int]:
    assert one is not None
    return -1 if one.row is None else one.row, one.lens, one.pair
