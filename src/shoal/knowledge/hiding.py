"""How many cases can be hidden at most, whatever groups are made: a proven bound.

Take a group with c cases of an event, and the binary adversary in one view, to whom its people
have the odds o_k. Their posteriors p_k add up to c, and p_k / (1 - p_k) = o_k R_k, where
R_k = e_(c-1) / e_c of the odds of everybody else (e are the elementary symmetric sums). That ratio
falls as any of these odds grows, so R_k is largest for the member m with the largest odds. The
limit 1/r holds for m, hence R_m <= 1 / ((r-1) o_m), and for everybody
    p_k <= (o_k / o_m) / (r-1 + o_k / o_m)   and   p_k <= 1/r.
The cases' part of c = sum p_k is at most c/r, so the others make up the rest: c (r-1)/r is at
most the sum of these bounds over the group's people who do not carry the event.

Now count only cases with odds of at least t. A group that holds one has o_m >= t, and the bounds
only grow if o_m is replaced by t. Summed over all groups, of those cases at most
    sum over people without the event of min(1, r q / (r-1 + q)) / (r-1),   q = o_k / t
find a group, for every view and every t. Nothing is assumed of the groups: neither how many
cases they have, nor which other values, nor who is left out. It does not hold under the limit
relative to the prior, which is above 1/r for some, nor if nobody answers the binary adversary.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.arrays import Floats, Ints, Whole
from shoal.data.table import Table
from shoal.knowledge.knowledge import Knowledge, View, event_chances

# Both sides of events in one view: who carries them, who does not, and the odds of each class.


@dataclass(frozen=True, eq=False)
class Sides:
    """The people of a view's classes: classes x events each."""

    view: View
    chance: Floats
    cases: Floats
    others: Floats

    @classmethod
    def of(cls, view: View, table: Table, events: Ints) -> Sides:
        classes, at = len(view.distributions), view.index[table.cells.signature]
        cases = _cases(table, at, classes, events)
        people = np.bincount(view.index, table.signature_rows, classes)
        return cls(view, event_chances(view, table, events), cases, people[:, None] - cases)

    @cached_property
    def odds(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(self.chance / (1.0 - self.chance))


def _cases(table: Table, at: Whole, classes: int, events: Ints) -> Floats:
    _, value, rows = table.cells
    width = len(events)
    if table.several is None:
        place = np.full(len(table.events) + 1, -1)
        place[events] = np.arange(width)
        event = place[table.value_event[value]]
        mine = event >= 0
        key = at[mine].astype(np.int64) * width + event[mine]
        counts = np.bincount(key, rows[mine], classes * width).astype(np.float64)
        return counts.reshape(classes, width)
    cases = np.empty((classes, width))
    for number, one in enumerate(events.tolist()):
        held = np.flatnonzero(table.holds(one)[value])
        cases[:, number] = np.bincount(at[held], rows[held], classes)
    return cases


THRESHOLDS = 64
"""How many values of t are tried in a view, by the cases' odds: each gives a bound."""
EVENTS = 64
"""How many events are looked at, those with the most cases."""
SLACK = 1e-6
"""Rounding never proves anything impossible."""
STEPS = 20


_Tight = dict[int, list[Sides]]


@dataclass(frozen=True, eq=False)
class Scarce:
    """Carriers of one event who are too many in one view, and who could hide them."""

    event: int
    view: View
    threshold: float
    """The smallest odds of these cases."""
    carriers: int
    hidden: int
    """How many of them can find a group at most."""

    @property
    def lost(self) -> int:
        return self.carriers - self.hidden

    @property
    def chance(self) -> float:
        """The smallest probability of the event among these cases."""
        return 1.0 if np.isinf(self.threshold) else self.threshold / (1.0 + self.threshold)


class Hiding:
    """The bound for the commonest events of a table."""

    def __init__(self, table: Table, knowledge: Knowledge) -> None:
        self._several = table.several is not None
        self._events = np.argsort(-table.event_rows, kind="stable")[:EVENTS]
        self._r = table.event_r[self._events]
        self._sides = [Sides.of(view, table, self._events) for view in knowledge.views]

    def at(self, r: float) -> Hiding:
        """This bound with one r for all events."""
        other = copy(self)
        other._r = np.full(len(self._events), r)
        other.__dict__.pop("_tight", None)
        return other

    @cached_property
    def _tight(self) -> _Tight:
        """In the other views no cases are lost at any smaller r either."""
        return self._losing(dict.fromkeys(range(len(self._events)), self._sides), 1.0)[0]

    def _losing(self, among: _Tight, scale: float) -> tuple[_Tight, list[Scarce]]:
        """The views in which some cases of an event are lost for certain, by where it stands; and
        of each event the one in which most are."""
        tight, worst = {}, []
        for place, views in among.items():
            event, r = int(self._events[place]), max(1.0, float(self._r[place]) * scale)
            found = [_scarce(one, event, place, r) for one in views]
            most = max(found, key=lambda one: one.lost, default=None)
            if most is not None and most.lost > 0:
                tight[place] = [one for one, of in zip(views, found, strict=True) if of.lost > 0]
                worst.append(most)
        return tight, sorted(worst, key=lambda one: -one.lost)

    def scarce(self, scale: float = 1.0) -> list[Scarce]:
        """Of each event the view in which most cases are lost for certain, if some are; with
        every r multiplied by `scale`, which is at most 1, but not below 1."""
        return self._losing(self._tight, scale)[1]

    def lost(self, scale: float = 1.0) -> int:
        """At least so many people who carry an event find no group."""
        return self._people(self.scarce(scale))

    def _people(self, scarce: list[Scarce]) -> int:
        """Who carries two events counts once, so that of several columns one speaks for all."""
        by_event = [one.lost for one in scarce]
        return max(by_event, default=0) if self._several else sum(by_event)

    def largest_scale(self, most_lost: float) -> float:
        """By how much every r can be multiplied at most for no more to be lost: above it more are;
        1 if that is proven of no smaller one."""
        low, high, among = 1.0 / float(self._r.max()), 1.0, self._tight
        for _ in range(STEPS):
            middle = float(np.sqrt(low * high))
            tight, scarce = self._losing(among, middle)
            if self._people(scarce) <= most_lost:
                low = middle
            else:
                high, among = middle, tight
        return high


def _scarce(sides: Sides, event: int, place: int, r: float) -> Scarce:
    """The threshold by which most cases are lost in one view."""
    odds, cases = sides.odds[:, place], sides.cases[:, place]
    some = np.unique(odds[(cases > 0) & (odds > 0)])
    if r <= 1.0 or not len(some):
        return Scarce(event, sides.view, 0.0, 0, 0)
    chosen = some[np.unique(np.linspace(0, len(some) - 1, THRESHOLDS).astype(np.int64))]
    enough = odds[:, None] >= chosen
    with np.errstate(invalid="ignore"):
        q = np.where(enough, 1.0, odds[:, None] / chosen)
    asked = cases @ enough
    bound = sides.others[:, place] @ (r * q / (r - 1.0 + q)) / (r - 1.0)
    bound = np.floor(bound * (1.0 + SLACK) + SLACK)
    worst = int(np.argmax(asked - bound))
    hidden = min(asked[worst], bound[worst])
    return Scarce(event, sides.view, float(chosen[worst]), int(asked[worst]), int(hidden))
