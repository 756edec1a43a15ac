"""What all adversaries make of all groups, through one view after another, taken in as it comes.

What is kept of a view does not grow with groups, but for a bit of each: there may be millions of
groups, and hundreds of views.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Bools, Floats, Ints
from shoal.auditing.adversaries.adversary import Anybody
from shoal.auditing.adversaries.aspects import readings
from shoal.auditing.adversaries.even import Even
from shoal.auditing.adversaries.judging import Case, Judgement
from shoal.auditing.findings import KINDS, Kind
from shoal.auditing.row_risks import KnownRows
from shoal.knowledge import Knowledge, View, known_values, whole_view

# What the whole table's distribution tells, judged beside the views of a table's own knowledge.
#
# It is what somebody knows who knows no attribute of anybody, and all that is left of a view in
# which too few people share any class. A group's people are all alike in it: each carries an
# event with the group's share of it. As that is the mean over the group in every view, it exposes
# people only where a view does, and changes no verdict; but it exposes the whole group, and all
# of them are counted.
#
# That holds for limits of 1/r. Where links may be as strong as a view says beforehand, a class
# may be published as one group, which tells what was known of the class, and more than the whole
# table does: there this view is not judged.


def judge_beside(
    case: Case, adversaries: Sequence[Anybody], knowledge: Knowledge, even: Even | None = None
) -> list[Lens]:
    """Nothing if the whole table is among the views; knowledge from elsewhere is taken as it is.
    `even` are groups that are judged apart."""
    views = knowledge.views
    own = knowledge.of_the_table and all(view.attributes for view in views)
    if not own or case.limit == "prior":
        return []
    whole = whole_view(known_values(case.table))
    return [
        Lens(one.adversary.name, whole, one.judge_apart(even, whole, len(views)))
        for one in readings(adversaries, case)
    ]


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

    def __init__(self, case: Case, people: KnownRows) -> None:
        self.people = people
        self._case = case
        held = len(case.held)
        self._signature = case.partition.signature[case.held]
        self.lenses: list[Lens] = []
        """What is left of them: nothing by pair."""
        self._beside = 0
        """How many of them, the last, are beside what is known."""
        self.exposure, self.posterior = np.full(held, -1.0), np.zeros(held)
        self.event, self.through = np.full(held, -1, np.int32), np.zeros(held, np.int32)
        self.kind = np.zeros(held, np.int8)
        self.breach, self.undecided = np.zeros(held, bool), np.zeros(held, bool)
        self.largest: dict[int, Largest] = {}
        """By event."""
        self.by_view: dict[str, Most] = {}
        self._exposed: dict[str, NDArray[np.uint8]] = {}
        self._by_adversary: dict[str, tuple[Bools, Bools]] = {}
        self._evenly: set[str] = set()
        """The adversaries of whom even groups were taken in."""

    def take(self, lens: Lens, *, beside: bool = False) -> None:
        """Takes one more lens in: of a view, of all together, or of one beside the views."""
        number, (name, view, one) = len(self.lenses), lens
        if name not in self._by_adversary:
            self._by_adversary[name] = np.zeros_like(self.breach), np.zeros_like(self.breach)
        if one.even is not None and name not in self._evenly:
            self._take_even(number, name, one.even)
        mine = slice(None) if one.even is None else one.even.others
        limits = view, self._signature[mine], one.event, one.limit
        with_r = one.posterior * self._case.strength(*limits)
        worse = np.flatnonzero(with_r > self.exposure[mine])
        at = worse if one.even is None else one.even.others[worse]
        self.exposure[at], self.posterior[at] = with_r[worse], one.posterior[worse]
        self.event[at], self.kind[at] = one.event[worse], one.kind[worse]
        self.through[at] = number
        self.breach[mine] |= one.breach
        self.undecided[mine] |= one.undecided
        breach, undecided = self._by_adversary[name]
        breach[mine] |= one.breach
        if not beside:
            undecided[mine] |= one.undecided
            self._take_largest(number, one)
            self._take_view(view.name, one, with_r)
        none = np.zeros(0, bool)
        kept = replace(
            one,
            posterior=np.zeros(0),
            event=np.zeros(0, np.int32),
            kind=np.zeros(0, np.int8),
            breach=none,
            undecided=none,
            even=None,
        )
        self.lenses.append(lens._replace(judged=kept))
        self._beside += beside

    def _take_even(self, number: int, name: str, even: Even) -> None:
        """Takes in what is true of even groups in every view, once for each adversary."""
        self._evenly.add(name)
        judged, worse = even.judged, even.exposure > self.exposure[even.places]
        at = even.places[worse]
        self.exposure[at] = even.exposure[worse]
        self.posterior[at] = judged.posterior[worse]
        self.event[at], self.kind[at], self.through[at] = judged.event[worse], 0, number
        for breach in (self.breach, self._by_adversary[name][0]):
            breach[even.places] |= judged.breach

    @property
    def judged(self) -> list[Lens]:
        """What is left of those that are not beside what is known."""
        return self.lenses[: len(self.lenses) - self._beside]

    def flags(self, adversary: str) -> tuple[Bools, Bools]:
        """Of each held pair: whether an adversary exposes it, or else leaves it undecided."""
        breach, undecided = self._by_adversary[adversary]
        return breach, undecided & ~breach

    def exposed(self, view: str) -> int:
        """How many people are linked above their limit through a view."""
        breach = np.unpackbits(self._exposed[view], count=len(self.breach)).view(bool)
        return int(self._case.partition.people_of(self._case.held[breach]).sum())

    def _take_largest(self, number: int, one: Judgement) -> None:
        for event in np.flatnonzero(one.event_pair >= 0).tolist():
            posterior, known = float(one.event_worst[event]), self.largest.get(event)
            if known is not None and posterior < known.posterior:
                continue
            if known is not None and posterior == known.posterior and self.people.rows is None:
                continue  # who was found first stays so, where nobody has a row
            # The first that was found, and those for whom no other event is worse.
            pairs = np.append(self._case.held[_same(one, posterior, event)], one.event_pair[event])
            row, pair = self.people.first_of(pairs)
            kind = _kind(one, int(np.searchsorted(self._case.held, pair)))
            found = Largest(posterior, row, number, pair, kind)
            earlier = known is not None and posterior == known.posterior
            if not earlier or _order(found) < _order(known):
                self.largest[event] = found

    def _take_view(self, view: str, one: Judgement, with_r: Floats) -> None:
        most, breach = _most(one, with_r), _exposed(one)
        if view not in self.by_view:
            self.by_view[view], self._exposed[view] = most, breach
            return
        self._exposed[view] |= breach
        if most.exposure > self.by_view[view].exposure:
            self.by_view[view] = most


def _same(one: Judgement, posterior: float, event: int) -> Ints:
    """The held pairs with that posterior for that event."""
    same = np.flatnonzero((one.posterior == posterior) & (one.event == event))
    if one.even is None:
        return same
    alike = (one.even.judged.posterior == posterior) & (one.even.judged.event == event)
    return np.concatenate([one.even.others[same], one.even.places[alike]])


def _kind(one: Judgement, place: int) -> Kind:
    """How a held pair was judged."""
    if one.even is not None:
        other = int(np.searchsorted(one.even.others, place))
        if other == len(one.even.others) or one.even.others[other] != place:
            return "exact"
        place = other
    return KINDS[int(one.kind[place])]


def _most(one: Judgement, with_r: Floats) -> Most:
    """The largest exposure; of equal ones that of the first pair."""
    found = [(Most(0.0, 0.0, "exact"), -1)] if not len(with_r) else []
    if len(with_r):
        worst = int(np.argmax(with_r))
        most = Most(float(with_r[worst]), float(one.posterior[worst]), KINDS[one.kind[worst]])
        found.append((most, worst if one.even is None else int(one.even.others[worst])))
    if one.even is not None:
        worst, exposure = one.even.most_exposed
        most = Most(exposure, float(one.even.judged.posterior[worst]), "exact")
        found.append((most, int(one.even.places[worst])))
    return min(found, key=lambda one: (-one[0].exposure, one[1]))[0]


def _exposed(one: Judgement) -> NDArray[np.uint8]:
    """Of each held pair, in bits: whether it is exposed."""
    if one.even is None:
        return np.packbits(one.breach)
    exposed = np.zeros(len(one.even.places) + len(one.even.others), bool)
    exposed[one.even.others] = one.breach
    return np.packbits(exposed) | one.even.exposed


def _order(one: Largest | None) -> tuple[int, int, int]:
    assert one is not None
    return -1 if one.row is None else one.row, one.lens, one.pair
