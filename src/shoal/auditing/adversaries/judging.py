"""One view's judgement of every group: exact where it fits, else a bound, else an estimate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Bools, Floats, IntArray, Ints
from shoal.auditing.adversaries.joint import (
    BATCHES,
    CONFIDENCE,
    SWEEPS,
    event_bounds,
    has_world,
    interval,
    possible_world,
)
from shoal.auditing.adversaries.kernels import judge as kernels
from shoal.auditing.adversaries.kernels.chain import swap_chain
from shoal.data.spec import Limit
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups.partition import Partition
from shoal.knowledge import View, event_chances, with_pool
from shoal.knowledge.entropy import most_believed

if TYPE_CHECKING:
    from shoal.auditing.adversaries.even import Even

CALL_CONFIDENCE = 1 - 1e-7
"""An estimate may call a breach only at this confidence, so that a thousand of them stay honest."""

PROPOSALS, LEAST_SWEEPS = 3_000_000, 4
"""Proposals of one chain, beyond which larger groups get fewer sweeps, but never too few."""


class Earlier(NamedTuple):
    """The groups that earlier releases publish too."""

    told: Bools
    """Of each group, by its number: whether it is one of them."""
    people: Ints
    """Of each signature: how many people are in them."""
    cases: Ints
    """signatures x events: how many of these carry it."""

    @classmethod
    def of(
        cls, table: Table, told: Bools, signature: IntArray, value: IntArray, rows: Ints
    ) -> Self:
        """By how many people of each signature and published value are in them."""
        kinds = len(table.signatures)
        cases = [
            np.bincount(signature, rows * table.holds(event)[value], kinds)
            for event in range(len(table.events))
        ]
        people = np.bincount(signature, rows, kinds).astype(np.int64)
        return cls(told, people, np.stack(cases, axis=1).astype(np.int64))


@dataclass(frozen=True, eq=False)
class Case:
    """What is judged: the groups, the strength asked for, who judges."""

    table: Table
    partition: Partition
    event_r: Floats
    limit: Limit
    beforehand: Floats
    """signatures x events: the largest global probability over all views."""
    budget: float
    """The most steps of one exact answer."""
    seed: int
    earlier: Earlier | None = None
    """What was published before: a release is charged with what it adds. Whoever takes one group at
    a time knows of these groups what they knew; whoever counts over all may know more."""

    @cached_property
    def known(self) -> Bools:
        """signatures x events: global probability above 1/r in some view."""
        return np.asarray(self.beforehand * self.event_r > 1.0)

    @cached_property
    def told(self) -> Bools:
        """Of each group of the partition: whether an earlier release publishes it too."""
        number = self.partition.group_number
        return np.zeros(len(number), bool) if self.earlier is None else self.earlier.told[number]

    @property
    def new(self) -> Case:
        """The groups that no earlier release publishes."""
        if self.earlier is None:
            return self
        return replace(self, partition=self.partition.some(np.flatnonzero(~self.told)))

    @property
    def before(self) -> Case | None:
        """The groups that earlier releases publish, as if there were no others; None if no release
        came before."""
        if self.earlier is None:
            return None
        part = self.partition.some(np.flatnonzero(self.told))
        part = replace(part, signature_people=self.earlier.people)
        return replace(self, partition=part, earlier=None)

    @cached_property
    def holders(self) -> IntArray:
        """The groups that hold an event."""
        return self.partition.holders(self.value_event)

    @cached_property
    def held(self) -> IntArray:
        """Their pairs."""
        return self.partition.held_pairs(self.value_event)

    @property
    def value_event(self) -> IntArray:
        """The event of each published value, or -1; one more entry, for the pooled value."""
        return self.table.shown_event

    @property
    def groups(self) -> kernels.GroupArrays:
        """The groups, as the kernels take them."""
        part = self.partition
        return kernels.GroupArrays(
            self.holders, part.copies, *part.pairs.arrays, *part.values.arrays, *part.events.arrays
        )

    def arrays(
        self, view: View, distributions: Floats
    ) -> tuple[kernels.GroupArrays, kernels.InView]:
        """The groups and what is known of them in one view, as the kernels take them."""
        known = kernels.InView(
            view.index,
            distributions,
            event_chances(view, self.table),
            self.value_event,
            self.event_r,
            self.known,
            self.limit == "prior",
        )
        return self.groups, known

    def strength(
        self, view: View, signature: IntArray, event: IntArray, limit: Limit | None = None
    ) -> Floats:
        """What the posterior of a person for an event is multiplied with to be compared with 1, in
        a view: r, or under the honest limit one over what the view says beforehand, if that is
        above 1/r. 0 where there is no event. `limit` is that of the reader, if it has its own:
        the honest one, and how sure all counts together may be beyond it."""
        strength = np.append(self.event_r, 0.0).take(event)
        if (limit or self.limit) == "prior":
            before = event_chances(view, self.table)[view.index[signature], event]
            known = (event >= 0) & (strength * before > 1.0)
            strength[known] = 1.0 / before[known]
        if limit is not None:
            strength[event >= 0] = 1.0 / most_believed(1.0 / strength[event >= 0])
        return strength


@dataclass(frozen=True, eq=False)
class Judgement:
    """One view's answer for the pairs in groups that hold an event (`Partition.held_pairs`)."""

    posterior: Floats
    event: IntArray
    breach: Bools
    kind: NDArray[np.int8]
    """Per pair: 0 exact, 1 bound, 2 estimate."""
    undecided: Bools
    guesses: Floats
    counted: tuple[int, int, int]
    contradictory: Ints
    event_worst: Floats
    """Each event's largest posterior."""
    event_pair: Ints
    """The pair (of all) that has it, -1 where no group holds the event."""
    even: Even | None = None
    """The groups that were judged apart, whose pairs are not among those above."""
    limit: Limit | None = None
    """The reader's own, whatever that of the case is."""
    residual: float | None = None
    """Of a fit: by how many cases it misses a public count at most."""
    absent: int = 0
    """How many people who are missing are linked above their limit by that."""
    excepted: int | None = None
    """How many people earlier releases take above it, so that it is not held against a later one;
    None where none came before."""

    @classmethod
    def of_record(
        cls,
        case: Case,
        record: kernels.WorstLinks,
        *,
        counted: tuple[int, int, int],
        kind: NDArray[np.int8] | None = None,
        undecided: Bools | None = None,
        contradictory: Ints | None = None,
    ) -> Judgement:
        """From what was written down of all pairs; without more, all of it is exact."""
        pairs = len(record.posterior)
        held = slice(None) if len(case.held) == pairs else case.held
        open_ = np.zeros(pairs, bool) if undecided is None else undecided & ~record.breach
        return cls(
            posterior=record.posterior[held],
            event=record.event[held],
            breach=record.breach[held],
            kind=(np.zeros(pairs, np.int8) if kind is None else kind)[held],
            undecided=open_[held],
            guesses=record.guesses,
            counted=counted,
            contradictory=np.zeros(0, np.int64) if contradictory is None else contradictory,
            event_worst=record.event_worst,
            event_pair=record.event_pair,
        )


def judge_groups(
    case: Case,
    view: View,
    number: int,
    *,
    by_value: bool,
    even: kernels.EvenGuesses = kernels.NOTHING_EVEN,
) -> Judgement:
    """All groups in one view, the `number`th. `by_value`: every published value is told apart;
    otherwise only one event from all else. `even`: what was found of groups that are judged apart.
    """
    part, distributions = case.partition, with_pool(view, case.table)
    groups, known = case.arrays(view, distributions)
    record = kernels.empty_record(part.groups, len(part.signature), len(case.event_r))
    judged = kernels.judge_view(by_value, case.budget, groups, known, even, record)
    state = record.state
    kind = np.zeros(len(record.posterior), np.int8)
    undecided = np.zeros(len(record.posterior), bool)
    counted = [judged, 0, 0]
    for group in np.flatnonzero(state == kernels.UNSETTLED):
        settled = _settle(case, view, distributions, int(group), number)
        if settled is None:
            state[group] = kernels.NO_WORLD
            continue
        pairs = part.pairs.stretch(int(group))
        kind[pairs] = settled.kind
        undecided[pairs] = settled.undecided(case, view, pairs)
        counted[settled.kind] += len(settled.events) * int(part.copies[group])
        answer = kernels.Answer(
            settled.place, settled.events, settled.posterior, settled.breach, settled.compared
        )
        kernels.write_down(int(group), answer, groups, known, record)
    impossible = np.flatnonzero(state == kernels.NO_WORLD)
    if len(impossible) and not part.distorted:
        group = part.group_number[impossible[0]]
        raise InputError(
            "no-world",
            f"In the view {view.name}, no possible world explains group {group}: the "
            "knowledge gives probability 0 to values that the group publishes.",
            "Check the outside knowledge for zeros that the table contradicts.",
        )
    return Judgement.of_record(
        case,
        record,
        counted=(counted[0], counted[1], counted[2]),
        kind=kind,
        undecided=undecided,
        contradictory=impossible,
    )


@dataclass(frozen=True, eq=False)
class _SettledGroup:
    kind: int
    place: IntArray
    sizes: Ints
    events: IntArray
    posterior: Floats
    breach: Bools
    """Above 1/r for sure."""
    compared: Floats
    """What the posterior surely comes to."""
    upper: Floats
    """What it surely does not pass."""

    def undecided(self, case: Case, view: View, pairs: slice) -> Bools:
        """Which of the group's pairs are neither safe nor breached for sure, for some event."""
        high = self.upper + kernels.TOLERANCE
        safe, breach = case.event_r[self.events] * high <= 1.0, self.breach
        safe, breach = safe[self.place], breach[self.place]
        if case.limit == "prior":
            signature = case.partition.signature[pairs]
            before = event_chances(view, case.table)[view.index[signature]][:, self.events]
            safe = safe | (high[self.place] <= before)
            breach = breach & (self.compared[self.place] > before)
        return np.asarray((~safe & ~breach).any(axis=1))


def _settle(
    case: Case, view: View, distributions: Floats, group: int, number: int
) -> _SettledGroup | None:
    """A group that is too large to be exact: certified bounds if they decide, else an estimate.
    None if no possible world explains it."""
    part = case.partition
    pairs = part.pairs.stretch(group)
    held = part.values.stretch(group)
    values, counts = part.values.code[held], part.values.count[held].astype(np.int64)
    slot = np.full(len(distributions), -1, np.int32)
    weights, sizes, place = kernels.collect(
        part.signature[pairs], part.pairs.count[pairs], values, view.index, distributions, slot
    )
    if not has_world(weights, sizes, counts):
        return None
    events, column = kernels.event_columns(values, case.value_event)
    if len(events) == 1 and (column >= 0).all():
        certain = np.ones((len(sizes), 1))
        return _SettledGroup(0, place, sizes, events, certain, certain > 0, certain, certain)
    lower, upper = event_bounds(weights, sizes, counts, column, len(events))
    r = case.event_r[events]
    surely = lower - kernels.TOLERANCE
    bounded = _SettledGroup(1, place, sizes, events, upper, r * surely > 1.0, surely, upper)
    if not bounded.undecided(case, view, pairs).any():
        return bounded

    member, start = _true_world(case, group, place, values, weights)
    sweeps = max(LEAST_SWEEPS, min(SWEEPS, PROPOSALS // (BATCHES * len(member))))
    means = swap_chain(
        weights,
        member,
        start,
        column,
        len(events),
        BATCHES,
        sweeps,
        (case.seed + number * 1_000_003 + int(part.group_number[group])) % 2**31,
    )
    middle, _, _ = interval(means, sizes, sweeps=sweeps, confidence=CONFIDENCE)
    _, low, _ = interval(means, sizes, sweeps=sweeps, confidence=CALL_CONFIDENCE)
    surely = np.maximum(low, lower) - kernels.TOLERANCE
    middle = np.clip(middle, lower, upper)
    return _SettledGroup(2, place, sizes, events, middle, r * surely > 1.0, surely, upper)


def _true_world(
    case: Case, group: int, place: IntArray, values: IntArray, weights: Floats
) -> tuple[Ints, Ints]:
    """Each tuple's distribution and its published value: a world with weight to start from."""
    part = case.partition
    pairs = part.pairs.stretch(group)
    world = part.worlds.some(np.arange(pairs.start, pairs.stop))
    member = np.repeat(world.spread(place), world.count).astype(np.int64)
    codes = np.repeat(world.code, world.count)
    return member, possible_world(weights, member, np.searchsorted(values, codes))
