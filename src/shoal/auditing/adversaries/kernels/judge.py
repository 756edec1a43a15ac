"""Judging every group of a partition in one view: compiled loops over groups.

States of a group in a view: no event in it, exact, unsettled (too large to be exact), no world.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Bools, Floats, IntArray, Ints, Whole
from shoal.auditing.adversaries.kernels.worlds import joint_cost, joint_exact
from shoal.compiling import glue, kernel
from shoal.knowledge.kernels.bernoulli import conditional_bernoulli

NO_EVENT, EXACT, UNSETTLED, NO_WORLD = 0, 1, 2, 3
TOLERANCE = 1e-12
"""A posterior is safe only if it is below 1/r by at least this: rounding never helps the adversary.
Groups whose tuples are all alike to the adversary are compared in whole numbers instead."""
TIE = 1e-12
MERGE_LIMIT = 64
"""Among more distributions than this, equal ones are not looked for, unless all are equal."""


class GroupArrays(NamedTuple):
    """The groups of a partition. A *pair* is (group, signature), and pairs lie in order of group;
    a *carrier* entry is (pair, event)."""

    holders: IntArray
    """The groups that hold an event: in all others there is nothing to judge."""
    copies: Ints
    """How many groups like it there are."""
    group_start: IntArray
    """The first pair of each group, and the number of pairs."""
    pair_signature: IntArray
    pair_size: Whole
    """The tuples of each pair."""
    value_start: IntArray
    """The first published value of each group in the next two, and their length."""
    value_code: IntArray
    value_count: Whole
    """How often the group publishes it."""
    carrier_start: IntArray
    """The first carrier entry of each pair in the next two, and their length."""
    carrier_event: IntArray
    carrier_count: Whole
    """How many tuples of the pair carry the event in truth."""


class InView(NamedTuple):
    """What the adversary knows in one view, and what is protected."""

    row: Whole
    """Where each signature stands in the next two."""
    distributions: Floats
    """Over the published values."""
    event_chance: Floats
    """The distributions added up by event, which is all that a binary adversary uses."""
    value_event: IntArray
    """The event of each value, or -1."""
    event_r: Floats
    known: Bools
    """signatures x events: whether the link was known before, from some view alone."""
    prior: bool
    """Whether a link may be as strong as this view says before publication, where that is above
    1/r."""


class Answer(NamedTuple):
    """The posteriors of one group, whose S distinct distributions have E events."""

    place: IntArray
    """Which distribution each pair of the group has."""
    events: IntArray
    posterior: Floats
    """S x E."""
    breach: Bools
    """S x E: whether that is above 1/r."""
    counted: Floats
    """S x E: what is compared with the probability before publication: never less than an exact
    posterior, and of an estimate what it surely comes to."""


class EvenGuesses(NamedTuple):
    """Groups that were judged apart (even.py), whose guesses are counted where they would stand."""

    before: Ints
    """Of each holder: how many of them stand before it."""
    right: Floats
    """How many guesses are right, in all copies of each."""
    known: Bools
    """Whether a carrier was known before."""
    made: Floats
    """[unknown before, known before]: guesses."""
    event_worst: Floats
    """Each event's largest posterior."""


NOTHING_EVEN = EvenGuesses(
    np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.bool_), np.zeros(2), np.zeros(0)
)
IN_EVEN = -2
"""Instead of the pair that has the largest posterior: it is in a group that was judged apart."""


class WorstLinks(NamedTuple):
    """What is written down of all groups; changed in place."""

    state: NDArray[np.int8]
    """Of each group."""
    posterior: Floats
    """Of each pair, for the event that is worst against its own limit."""
    event: IntArray
    """That event, -1 in groups without one."""
    breach: Bools
    """Of each pair: whether any event is above its limit."""
    guesses: Floats
    """[unknown before, known before] x [right, made]."""
    event_worst: Floats
    """Each event's largest posterior."""
    event_pair: Ints
    """The pair that has it, -1: nobody; or IN_EVEN."""


def empty_record(groups: int, pairs: int, events: int) -> WorstLinks:
    """A record of nothing."""
    return WorstLinks(
        np.zeros(groups, np.int8),
        np.zeros(pairs),
        np.full(pairs, -1, np.int32),
        np.zeros(pairs, np.bool_),
        np.zeros((2, 2)),
        np.zeros(events),
        np.full(events, -1, np.int64),
    )


@kernel
def collect(
    pairs: IntArray,
    sizes: Whole,
    values: IntArray,
    index: Whole,
    distributions: Floats,
    slot: IntArray,
) -> tuple[Floats, Ints, IntArray]:
    """One group's distinct distributions (S x its values), their sizes, and each pair's place.

    pairs: the signature of each pair of the group.
    sizes: its tuples.
    values: the columns of `distributions` that count.
    index: the row of each signature in `distributions`.
    slot: scratch of one entry per distribution, -1 before and after.
    """
    place = np.empty(len(pairs), np.int32)
    target = np.empty(len(pairs), np.int32)  # of each distribution: its place among distinct ones
    weights = np.empty((len(pairs), len(values)))
    total = np.empty(len(pairs), np.int64)
    seen, S = 0, 0
    for p in range(len(pairs)):
        row = index[pairs[p]]
        if slot[row] < 0:
            slot[row] = seen
            seen += 1
        place[p] = slot[row]
    for p in range(len(pairs)):
        row = index[pairs[p]]
        if slot[row] >= 0:
            slot[row] = -1
            for v in range(len(values)):
                weights[S, v] = distributions[row, values[v]]
            # In a larger group only people like the first are found: all of them, if all are alike.
            s = _first_like(weights, S, S if seen <= MERGE_LIMIT else 1)
            if s == S:
                total[s] = 0
                S += 1
            target[place[p]] = s
        place[p] = target[place[p]]
        total[place[p]] += sizes[p]
    return weights[:S], total[:S], place


@kernel
def _first_like(rows: Floats, last: int, most: int) -> int:
    """The first of at most `most` rows before the last that is equal to it, or the last itself."""
    for s in range(min(last, most)):
        v = 0
        while v < rows.shape[1] and rows[s, v] == rows[last, v]:
            v += 1
        if v == rows.shape[1]:
            return s
    return last


@kernel
def event_columns(values: IntArray, value_event: IntArray) -> tuple[IntArray, Ints]:
    """The events of a group, and for each of its values the column of its event (or -1)."""
    events, column = np.empty(len(values), np.int32), np.empty(len(values), np.int64)
    found = 0
    for v in range(len(values)):
        column[v] = -1
        event = value_event[values[v]]
        if event < 0:
            continue
        for e in range(found):
            if events[e] == event:
                column[v] = e
                break
        if column[v] < 0:
            events[found] = event
            column[v] = found
            found += 1
    return events[:found], column


@kernel
def _everybody_can(joint: bool, weights: Floats, event_count: Ints, N: int) -> bool:
    """Whether everybody can have whatever the group publishes: then every world has weight."""
    for s in range(weights.shape[0]):
        for v in range(weights.shape[1]):
            if weights[s, v] == 0.0:
                return False
            if not joint and not (weights[s, v] < 1.0 or event_count[v] == N):
                return False
    return True


@glue
def _one_by_one(joint: bool, weights: Floats, sizes: Ints, counts: Ints) -> Floats:
    """The posterior of each column: against the other of two values (joint), or against all else
    (binary). weights: distributions x columns; sizes of the former, counts of the latter."""
    S, V = weights.shape
    chances, prefer, refuse = np.empty((S, V)), np.empty(S), np.empty(S)
    for v in range(1 if joint else V):
        for s in range(S):
            prefer[s] = weights[s, v]
            refuse[s] = weights[s, 1] if joint else 1.0 - weights[s, v]
        chance = conditional_bernoulli(prefer, refuse, sizes, counts[v])
        for s in range(S):
            chances[s, v] = chance[s]
            if joint:
                chances[s, 1] = 1.0 - chance[s]
    return chances


@kernel
def write_down(
    group: int, answer: Answer, groups: GroupArrays, known: InView, record: WorstLinks
) -> None:
    """Adds a group's answer to the record. An adversary makes one guess per event, at the tuples
    with the largest posterior, in each of the group's copies."""
    first, copies = groups.group_start[group], groups.copies[group]
    place, events, posterior = answer.place, answer.events, answer.posterior
    for p in range(len(place)):
        s, worst = place[p], -1.0
        row = known.row[groups.pair_signature[first + p]]
        for e in range(len(events)):
            before = known.event_chance[row, events[e]]
            strength = known.event_r[events[e]]
            breach = answer.breach[s, e]
            if known.prior:
                breach = breach and answer.counted[s, e] > before
                if strength * before > 1.0:
                    strength = 1.0 / before
            exposure = posterior[s, e] * strength
            if exposure > worst:
                worst = exposure
                record.posterior[first + p] = posterior[s, e]
                record.event[first + p] = events[e]
            record.breach[first + p] |= breach
            if posterior[s, e] > record.event_worst[events[e]]:
                record.event_worst[events[e]] = posterior[s, e]
                record.event_pair[events[e]] = first + p
    for e in range(len(events)):
        top = 0.0
        for s in range(len(posterior)):
            top = max(top, posterior[s, e])
        tied, right, known_before = 0.0, 0.0, 0
        for p in range(len(place)):
            pair = first + p
            leads = posterior[place[p], e] >= top - TIE
            if leads:
                tied += groups.pair_size[pair]
            for k in range(groups.carrier_start[pair], groups.carrier_start[pair + 1]):
                if groups.carrier_event[k] == events[e]:
                    if leads:
                        right += groups.carrier_count[k]
                    if known.known[groups.pair_signature[pair], events[e]]:
                        known_before = 1
        record.guesses[known_before, 0] += copies * (right / tied)
        record.guesses[known_before, 1] += copies


@kernel
def _judge_plain(
    joint: bool, groups: GroupArrays, known: InView, apart: EvenGuesses, record: WorstLinks
) -> int:
    """Judges most groups in the shortest way, and counts the posteriors: those with one value of an
    event in which either all are alike, who have the group's share of it, or one carries, and the
    others hold one value or are not told apart: then everybody's posterior is their part of all
    odds. Others, and those in which somebody cannot have what is published, are left as they are.
    Guesses are added up in the order of all groups, so that rounding is the same whoever is judged
    apart.
    """
    # An array that is taken out of a tuple within the loop would be counted each time.
    copies, group_start, value_start = groups.copies, groups.group_start, groups.value_start
    pair_signature, pair_size = groups.pair_signature, groups.pair_size
    value_code, value_count, value_event = groups.value_code, groups.value_count, known.value_event
    carrier_start, carrier_event = groups.carrier_start, groups.carrier_event
    carrier_count, beforehand, event_r = groups.carrier_count, known.known, known.event_r
    known_row, distributions, event_chance = known.row, known.distributions, known.event_chance
    state, written, of_event, exposed = record.state, record.posterior, record.event, record.breach
    guesses, event_worst, event_pair = record.guesses, record.event_worst, record.event_pair
    before, right_apart, known_apart = apart.before, apart.right, apart.known
    judged, odds, passed = 0, np.empty(MERGE_LIMIT), 0
    for i in range(len(groups.holders)):
        g = groups.holders[i]
        if len(before) > 0:
            passed = _pass_by(passed, before[i], right_apart, known_apart, guesses)
        first, last = group_start[g], group_start[g + 1]
        event, at, other, count, held = -1, -1, -1, 0, 0
        for v in range(value_start[g], value_start[g + 1]):
            code = value_code[v]
            if value_event[code] < 0:
                other = code
            else:
                event, at, count = value_event[code], code, value_count[v]
                held += 1
        values = value_start[g + 1] - value_start[g]
        if held != 1 or other < 0 or last - first > MERGE_LIMIT or (joint and values > 2):
            continue
        begin, even, possible, total, N = known_row[pair_signature[first]], True, True, 0.0, 0
        for p in range(first, last):
            row = known_row[pair_signature[p]]
            if joint:
                x, y = distributions[row, at], distributions[row, other]
                even = even and x == distributions[begin, at] and y == distributions[begin, other]
            else:
                x = event_chance[row, event]
                y = 1.0 - x
                even = even and x == event_chance[begin, event]
            possible = possible and x > 0.0 and y > 0.0
            odds[p - first] = x / y
            total += pair_size[p] * (x / y)
            N += pair_size[p]
        if not possible or (not even and (count > 1 or not total < np.inf)):
            continue
        state[g] = EXACT
        judged += copies[g]
        top, tied, right, known_before = 0.0, 0.0, 0.0, 0
        for p in range(first, last):
            posterior = count / N if even else odds[p - first] / total
            odds[p - first], top = posterior, max(top, posterior)
            compared = posterior if even else posterior + TOLERANCE
            breach = event_r[event] * count > N if even else event_r[event] * compared > 1.0
            if known.prior:
                breach = breach and compared > event_chance[known_row[pair_signature[p]], event]
            written[p], of_event[p], exposed[p] = posterior, event, breach
            if posterior > event_worst[event]:
                event_worst[event], event_pair[event] = posterior, p
        for p in range(first, last):
            leads = odds[p - first] >= top - TIE
            if leads:
                tied += pair_size[p]
            for k in range(carrier_start[p], carrier_start[p + 1]):
                if carrier_event[k] == event:
                    if leads:
                        right += carrier_count[k]
                    if beforehand[pair_signature[p], event]:
                        known_before = 1
        guesses[known_before, 0] += copies[g] * (right / tied)
        guesses[known_before, 1] += copies[g]
    _pass_by(passed, len(right_apart), right_apart, known_apart, guesses)
    for k in range(2):
        guesses[k, 1] += apart.made[k]
    for e in range(len(apart.event_worst)):
        if apart.event_worst[e] > event_worst[e]:
            event_worst[e], event_pair[e] = apart.event_worst[e], IN_EVEN
    return judged


@kernel
def _pass_by(first: int, last: int, right: Floats, known: Bools, guesses: Floats) -> int:
    """Counts the right guesses in some of the groups that were judged apart."""
    for k in range(first, last):
        guesses[1 if known[k] else 0, 0] += right[k]
    return last


@kernel
def judge_view(
    joint: bool,
    budget: float,
    groups: GroupArrays,
    known: InView,
    apart: EvenGuesses,
    record: WorstLinks,
) -> int:
    """Judges the groups that hold an event in one view: writes into `record`, and counts the
    posteriors that were computed. A joint posterior may take `budget` steps."""
    slot = np.empty(len(known.distributions), np.int32)
    for row in range(len(slot)):
        slot[row] = -1
    judged, state = _judge_plain(joint, groups, known, apart, record), record.state
    for g in groups.holders:
        if state[g] == EXACT:
            continue
        first, last = groups.group_start[g], groups.group_start[g + 1]
        values = groups.value_code[groups.value_start[g] : groups.value_start[g + 1]]
        counts = groups.value_count[groups.value_start[g] : groups.value_start[g + 1]].astype(
            np.int64
        )
        events, column = event_columns(values, known.value_event)
        E = len(events)
        if E == 0:
            continue
        weights, total, place = collect(
            groups.pair_signature[first:last],
            groups.pair_size[first:last],
            values if joint else events,
            known.row,
            known.distributions if joint else known.event_chance,
            slot,
        )
        S, N = len(total), total[0]
        for s in range(1, S):
            N += total[s]
        event_count = np.empty(E, np.int64)
        for e in range(E):
            event_count[e] = 0
        for v in range(len(values)):
            if column[v] >= 0:
                event_count[column[v]] += counts[v]
        posterior = np.zeros((S, E))
        record.state[g] = EXACT
        even = S == 1 or event_count[0] == N  # then everybody's is count / N, if there is a world
        if not (even and _everybody_can(joint, weights, event_count, N)):
            by_value = joint and len(values) != 2
            if S == 1:
                record.state[g] = NO_WORLD
                continue
            if by_value and min(joint_cost(total, counts)) > budget:
                record.state[g] = UNSETTLED
                continue
            if by_value:
                chances = joint_exact(weights, total, counts)
            else:
                chances = _one_by_one(joint, weights, total, counts if joint else event_count)
            if not _added_up(chances, column, joint, posterior):
                record.state[g] = NO_WORLD
                continue
        breach, compared = _compared(posterior, even, event_count, N, events, known.event_r)
        judged += E * groups.copies[g]
        write_down(g, Answer(place, events, posterior, breach, compared), groups, known, record)
    return judged


@kernel
def _added_up(chances: Floats, column: Ints, joint: bool, posterior: Floats) -> bool:
    """Adds the chances of an event's values up in `posterior`; whether any world is possible."""
    possible = True
    for s in range(chances.shape[0]):
        for v in range(chances.shape[1]):
            e = column[v] if joint else v
            if e >= 0:
                posterior[s, e] += chances[s, v]
                possible = possible and not np.isnan(posterior[s, e])
    return possible


@kernel
def _compared(
    posterior: Floats, even: bool, counts: Ints, people: int, events: IntArray, event_r: Floats
) -> tuple[Bools, Floats]:
    """Which posteriors are above 1/r, and what is compared with other limits. Of an `even` group
    everybody has the same share, and what is known of that is exact."""
    breach, compared = np.empty(posterior.shape, np.bool_), np.empty(posterior.shape)
    for s in range(posterior.shape[0]):
        for e in range(posterior.shape[1]):
            r = event_r[events[e]]
            if even:
                posterior[s, e] = counts[e] / people
                compared[s, e] = posterior[s, e]
                breach[s, e] = r * counts[e] > people
            else:
                compared[s, e] = posterior[s, e] + TOLERANCE
                breach[s, e] = r * compared[s, e] > 1.0
    return breach, compared
