"""What carriers ask for and what everybody offers, in all views and for all events at once.

Everything is counted by the classes of a view: odds differ between classes only, and thousands of
events take as long as some large arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Bools, Floats, Ints
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.knowledge import Knowledge, Sides
from shoal.knowledge.attributes import attribute_sets

AT_ONCE = 1 << 21
"""Classes times events of one portion."""
MOST_CELLS = 10**8
"""Events, or views, times signatures: some bytes are held for each."""


@dataclass(frozen=True, eq=False)
class Supply:
    """views x events, but for what is said of events alone."""

    largest_r: Floats
    """Everybody's odds over those of the carriers."""
    kept: Floats
    """By event: how many carriers the tightest view lets find a group at the asked r, at most."""
    kept_prior: Floats
    """How many find a group under the limit relative to the prior."""
    size: Floats
    """By event: r times the carriers' mean odds over everybody's, where that is most."""
    known_before: Ints
    """By event: people whose probability of it is above 1/r in some view."""

    @classmethod
    def of(cls, table: Table, knowledge: Knowledge) -> Supply:
        shape = (len(knowledge.views), len(table.events))
        made = cls(
            np.empty(shape),
            table.event_rows.astype(np.float64),
            table.event_rows.astype(np.float64),
            np.ones(shape[1]),
            np.zeros(shape[1], np.int64),
        )
        largest = max(len(view.distributions) for view in knowledge.views)
        step = max(1, AT_ONCE // largest)
        for first in range(0, shape[1], step):
            made._fill(table, knowledge, np.arange(first, min(first + step, shape[1])))
        return made

    def _fill(self, table: Table, knowledge: Knowledge, events: Ints) -> None:
        r = table.event_r[events]
        above: dict[int, Bools] = {}
        for number, view in enumerate(knowledge.views):
            sides = Sides.of(view, table, events)
            self.largest_r[number, events] = _largest(sides)
            self.size[events] = np.maximum(self.size[events], r * _ratio(sides))
            asked = (r - 1.0) * sides.odds
            self.kept[events] = np.minimum(self.kept[events], _kept(sides, asked))
            asked = np.minimum(asked, 1.0)
            self.kept_prior[events] = np.minimum(self.kept_prior[events], _kept(sides, asked))
            hot = sides.chance * r > 1.0
            for place in np.flatnonzero(hot.any(axis=0)).tolist():
                mine = hot[:, place][view.index]
                above[place] = mine | above[place] if place in above else mine
        for place, mine in above.items():
            self.known_before[events[place]] = table.signature_rows[mine].sum()


def known_before(table: Table) -> Ints:
    """By event: people whose probability of it is above 1/r in some view; made to stand beside a
    form, so that nothing is begun that takes much time or memory."""
    views = 0 if table.spec.knowledge is not None else len(attribute_sets(table))
    if max(len(table.events), views) * len(table.signatures) > MOST_CELLS:
        raise InputError(
            "events-many",
            f"{len(table.events):,} events in {views:,} views are more than can be counted here.",
            "Pick those that matter; `shoal plan` counts them all, with more memory.",
        )
    return Supply.of(table, Knowledge.of(table)).known_before


def largest_r(table: Table, knowledge: Knowledge) -> float:
    """The smallest of all views' and events' limits."""
    events = np.arange(len(table.events))
    views = (_largest(Sides.of(view, table, events)) for view in knowledge.views)
    return float(min(one.min() for one in views))


def _largest(sides: Sides) -> Floats:
    used = total_odds(sides.cases, sides.odds)
    total = used + total_odds(sides.others, sides.odds)
    with np.errstate(divide="ignore", invalid="ignore"):
        largest = np.where(used > 0, total / used, np.inf)
    return np.asarray(np.where(np.isfinite(used), largest, 1.0))


def _ratio(sides: Sides) -> Floats:
    """The mean odds of carriers over those of everybody, infinite ones aside."""
    odds = np.where(np.isfinite(sides.odds), sides.odds, 0.0)
    own = (sides.cases * odds).sum(axis=0)
    people = sides.cases + sides.others
    count, everybody = sides.cases.sum(axis=0), (people * odds).sum(axis=0)
    share = np.divide(own, count, out=np.zeros_like(own), where=count > 0)
    mean = everybody / people.sum(axis=0)
    return np.asarray(np.divide(share, mean, out=np.zeros_like(own), where=mean > 0))


def _kept(sides: Sides, asked: Floats) -> Floats:
    """By event: as many carriers as ask for no more than the others offer, modest ones first."""
    certain = ~np.isfinite(sides.odds)
    carriers = np.where(certain, 0.0, sides.cases)
    supply = total_odds(sides.others, sides.odds)
    kept = carriers.sum(axis=0)
    wanted = total_odds(carriers, asked)
    for event in np.flatnonzero(wanted > supply * (1.0 + 1e-12)).tolist():
        order = np.argsort(asked[:, event], kind="stable")
        people, each = carriers[order, event], asked[order, event]
        before = np.concatenate([[0.0], np.cumsum(_times(people, each))[:-1]])
        left = np.maximum(supply[event] - before, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(each > 0, left / each, np.inf)
        kept[event] = np.minimum(people, room).sum()
    return np.asarray(np.floor(kept + 1e-6))


def _times(people: Floats, odds: Floats) -> Floats:
    """Their product, and nothing where there is nobody."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(people > 0, people * odds, 0.0))


def total_odds(people: Floats, odds: Floats) -> Floats:
    """The sum of their products, by event."""
    if np.isfinite(odds).all():
        return np.asarray(np.einsum("ce,ce->e", people, odds))
    return np.asarray(_times(people, odds).sum(axis=0))
