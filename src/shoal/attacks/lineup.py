"""The line-up: everybody in a group that holds an event, as somebody sees them who has only the
release and the public knowledge; and the truth, apart, to score guesses by.

A *question* is who has one event in one group that holds it. Its *suspects* are the kinds of people
in the group: those of one signature and weight are alike in all that is known and published of
them, so that they stand together, with their number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from shoal.arrays import Bools, Floats, IntArray, Ints, Singles
from shoal.attacks.kernels import posteriors_of
from shoal.data.spec import Limit
from shoal.data.table import Table, digits, factorize
from shoal.data.table.table import Cells
from shoal.groups import Grouping
from shoal.groups.ragged import Counts, Ragged
from shoal.knowledge import Knowledge, View, event_chances, with_pool

# What is known of suspects before publication, and the odds at which two readers weigh them.
#
# The joint reader weighs the event against the other values that the group shows (by how often it
# shows each), the binary one against everything else. In a group of one carrier and one other
# value a suspect's posterior is its odds over the sum of all odds.

SMALLEST, LARGEST = 1e-12, 1e12
"""Odds outside these count as these."""


class Others(NamedTuple):
    """Every suspect with every value that its group shows outside the event."""

    suspect: IntArray
    value: IntArray
    share: Floats
    """The value's share among those outside the event."""


def others_of(table: Table, question: Ints, event: Ints, shown: Counts) -> Others:
    """`question` is that of each suspect, in order; `event` that of each question, which publishes
    the values `shown`."""
    outside = table.shown_event[shown.code] != shown.spread(event)
    lines = shown.owner[outside], shown.code[outside], shown.count[outside]
    held = Counts.of_lines(*lines, shown.owners)
    suspect, place = held.entries(question)
    share = held.count / held.spread(held.summed(held.count))
    return Others(suspect, held.code[place], share[place])


def joint_odds(view: View, table: Table, signature: Ints, event: Ints, others: Others) -> Floats:
    """Of each suspect; `event` is that of each suspect. Exact where a group shows one value beside
    the event; where it shows several, the event is weighed against their mean."""
    index = view.index[signature]
    against = np.bincount(
        others.suspect,
        with_pool(view, table)[index[others.suspect], others.value] * others.share,
        len(signature),
    )
    against[np.bincount(others.suspect, minlength=len(signature)) == 0] = 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return _bounded(event_chances(view, table)[index, event] / against)


def as_odds(chance: Floats) -> Floats:
    """A chance over that of the contrary, within bounds."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return _bounded(chance / (1.0 - chance))


def from_logs(logarithm: Floats) -> Floats:
    """Odds by their logarithms, as far as numbers go."""
    return np.asarray(np.exp(np.clip(logarithm, -300, 300)))


def _bounded(odds: Floats) -> Floats:
    return np.asarray(np.clip(np.nan_to_num(odds, nan=LARGEST, posinf=LARGEST), SMALLEST, LARGEST))


ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Lineup(Ragged):
    """All questions, one after another, with their suspects."""

    table: Table
    knowledge: Knowledge
    limit: Limit
    """absolute: nobody was to be linked with more than 1/r; prior: or than was known before."""
    event: Ints
    """The event of each question."""
    shown: Counts
    """The values that the questions publish."""
    signature: Ints
    """Of each suspect."""
    people: Ints
    """How many people each suspect stands for."""
    carrying: Ints
    """The truth: how many of these carry the event."""
    present: Ints
    """How many people of each signature of the table are published."""
    guesses: Ints
    """How many people are named in each question."""
    weight: Floats | None = None
    """What each suspect counts as by the release, not a number where all of a group are equal."""

    @classmethod
    def of(
        cls, table: Table, grouping: Grouping, knowledge: Knowledge, *, limit: Limit = "absolute"
    ) -> Lineup:
        """One guess for each event in each group that publishes it, every copy of a group by
        itself. People of one signature are told apart by their weights."""
        values = grouping.published_values(table)
        source, event = _questions(table, grouping, values)
        question, line = grouping.lines.entries(source)
        rows = grouping.rows[line]
        carries = table.value_event[grouping.value[line]] == event[question]
        told = np.zeros(1) if grouping.weight is None else grouping.weight[line]
        known, place = np.unique(told, return_inverse=True)
        sizes = [len(event), len(table.signatures), len(known)]
        of_weight: IntArray = np.broadcast_to(place, len(line)).astype(np.int32)
        suspect, keys = factorize([question, grouping.signature[line], of_weight], sizes)
        owner, signature, weight = digits(keys, sizes).astype(np.int64).T
        return cls(
            table=table,
            knowledge=knowledge,
            limit=limit,
            start=Ragged.of_owners(owner, len(event)).start,
            event=event,
            shown=Counts.of_lines(question, values[line], rows, len(event)),
            signature=signature,
            people=np.bincount(suspect, rows, len(keys)).astype(np.int64),
            carrying=np.bincount(suspect, rows * carries, len(keys)).astype(np.int64),
            present=grouping.signature_people(table),
            guesses=np.ones(len(event), np.int64),
            weight=None if grouping.weight is None else known[weight],
        )

    @classmethod
    def of_missing(
        cls, table: Table, missing: Cells, knowledge: Knowledge, *, limit: Limit
    ) -> Lineup:
        """The people who are not published: a question for each event that some of them carry. How
        many do is known to whoever knows the table's own figures, and so many are named."""
        gone, lost = missing, table.value_event[missing.value]
        events = np.unique(lost[lost >= 0]).astype(np.int64)
        present, suspect = np.unique(gone.signature, return_inverse=True)
        people = np.bincount(suspect, gone.rows, len(present)).astype(np.int64)
        carrying = [
            np.bincount(suspect, gone.rows * (lost == event), len(present)).astype(np.int64)
            for event in events
        ]
        told = np.array([one.sum() for one in carrying], np.int64)
        value = [np.flatnonzero(table.value_event == event)[0] for event in events]
        pooled, count = len(table.values), len(events)
        shown = np.array([code for one in value for code in (one, pooled)], np.int32)
        often = np.array([n for one in told for n in (one, people.sum() - one)], np.int64)
        some = np.flatnonzero(often)
        left = np.bincount(gone.signature, gone.rows, len(table.signatures)).astype(np.int64)
        return cls(
            table=table,
            knowledge=knowledge,
            limit=limit,
            start=np.arange(count + 1) * len(present),
            event=events,
            shown=Counts.of_lines(some // 2, shown[some], often[some], count),
            signature=np.tile(present.astype(np.int64), count),
            people=np.tile(people, count),
            carrying=np.concatenate([*carrying, np.zeros(0, np.int64)]),
            present=table.signature_rows - left,
            guesses=told,
        )

    @property
    def questions(self) -> int:
        return len(self.event)

    @cached_property
    def question(self) -> Ints:
        """The question of each suspect."""
        return self.owner

    @cached_property
    def members(self) -> Ints:
        """How many people each question has."""
        return self.summed(self.people)

    @cached_property
    def r(self) -> Floats:
        """The r of each question's event."""
        return self.table.event_r[self.event]

    @cached_property
    def carriers(self) -> Ints:
        """How many people each question publishes with its event."""
        shown = self.shown
        mine = self.table.shown_event[shown.code] == shown.spread(self.event)
        return shown.summed(shown.count * mine)

    @cached_property
    def prior(self) -> Floats:
        """What the best view says of each suspect before anything is published."""
        best = np.zeros(len(self.signature))
        for view in self.knowledge.views:
            np.maximum(best, self.chance_in(view), out=best)
        return best

    @cached_property
    def known(self) -> Bools:
        """The suspects whose prior is above 1/r in some view."""
        return np.asarray(self.prior * self.r[self.question] > 1 + ROUNDING)

    @cached_property
    def claimed(self) -> Singles:
        """suspects x views: the joint reader's posterior, which is all that a release lets one know
        that gives nothing else away."""
        found = np.empty((len(self.signature), len(self.knowledge.views)), np.float32)
        for number, view in enumerate(self.knowledge.views):
            found[:, number] = self.posterior(self.joint(view))
        return found

    @cached_property
    def chance(self) -> Floats:
        """suspects x views: the event's probability for each suspect, before anything is
        published."""
        return np.stack([self.chance_in(view) for view in self.knowledge.views], axis=1)

    @cached_property
    def odds(self) -> Floats:
        """suspects x columns: the joint reader's in every view, then the binary reader's."""
        views = self.knowledge.views
        columns = [self.joint(view) for view in views] + [self.binary(view) for view in views]
        return np.stack(columns, axis=1)

    @cached_property
    def log_odds(self) -> Floats:
        return np.log(self.odds)

    def chance_in(self, view: View) -> Floats:
        """The event's probability for each suspect in one view."""
        chances = event_chances(view, self.table)
        return np.asarray(chances[view.index[self.signature], self.event[self.question]])

    def joint(self, view: View) -> Floats:
        """The odds at which the joint reader weighs each suspect."""
        event = self.event[self.question]
        return joint_odds(view, self.table, self.signature, event, self._others)

    def binary(self, view: View) -> Floats:
        """The odds at which the binary reader weighs each suspect."""
        chances = event_chances(view, self.table)
        return as_odds(chances[view.index[self.signature], self.event[self.question]])

    @cached_property
    def _others(self) -> Others:
        return others_of(self.table, self.question, self.event, self.shown)

    def posterior(self, odds: Floats) -> Floats:
        """The chance of each suspect to carry, for whoever weighs them by these odds."""
        return np.minimum(posteriors_of(odds, self.people, self.start, self.carriers), 1.0)

    def total(self, numbers: Floats) -> Floats:
        """For each suspect, the sum over all people of the question."""
        weighted = numbers * (self.people if numbers.ndim == 1 else self.people[:, None])
        return self.spread(self.summed(weighted))

    def by_size(self) -> list[Ints]:
        """The suspects of all questions of one size (questions x size), for each size."""
        starts = self.start[:-1]
        sizes = np.unique(self.lengths)
        return [starts[self.lengths == size][:, None] + np.arange(size) for size in sizes]

    def only(self, questions: Ints) -> Lineup:
        """Some of the questions, in order."""
        _, suspect = self.entries(questions)
        return replace(
            self,
            start=Ragged.of_lengths(self.lengths[questions]).start,
            event=self.event[questions],
            shown=self.shown.some(questions),
            signature=self.signature[suspect],
            people=self.people[suspect],
            carrying=self.carrying[suspect],
            guesses=self.guesses[questions],
            weight=None if self.weight is None else self.weight[suspect],
        )

    def sample(self, most: int, *, widest: int, rng: np.random.Generator) -> Lineup:
        """At most so many questions, drawn at random, of at most so many suspects each."""
        fits = np.flatnonzero(self.lengths <= widest)
        return self.only(np.sort(rng.permutation(fits)[:most]))


def _questions(table: Table, grouping: Grouping, values: IntArray) -> tuple[Ints, Ints]:
    """The group and the event of each question, in order, once for every copy of the group."""
    event = table.shown_event[values].astype(np.int64)
    held = event >= 0
    events = max(1, len(table.events))
    keys = np.unique(grouping.group[held] * events + event[held])
    keys = np.repeat(keys, grouping.copies[keys // events])
    return keys // events, keys % events
