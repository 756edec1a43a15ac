"""Judging every group of a partition in one view: compiled loops over groups.

States of a group in a view: no event in it, exact, unsettled (too large to be exact), no world.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.adversaries.kernels.bernoulli import conditional_bernoulli
from shoal.adversaries.kernels.worlds import joint_cost, joint_exact
from shoal.compiling import kernel

NO_EVENT, EXACT, UNSETTLED, NO_WORLD = 0, 1, 2, 3
TOLERANCE = 1e-12
"""A posterior is safe only if it is below 1/r by at least this: rounding never helps the adversary.
Groups whose tuples are all alike to the adversary are compared in whole numbers instead."""
TIE = 1e-12
MERGE_LIMIT = 64
"""Among more distributions than this, equal ones are not looked for, unless all are equal."""


@kernel
def collect(
    pairs: NDArray[np.int32],
    sizes: NDArray[np.int64],
    values: NDArray[np.int32],
    index: NDArray[np.int32],
    distributions: NDArray[np.float64],
    slot: NDArray[np.int32],
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int32]]:
    """One group's distinct distributions (S x its values), their sizes, and each pair's place.

    `slot` is scratch of one entry per distribution, -1 before and after.
    """
    place = np.empty(len(pairs), np.int32)
    seen = np.empty(len(pairs), np.int32)
    S = 0
    for p in range(len(pairs)):
        row = index[pairs[p]]
        if slot[row] < 0:
            slot[row] = S
            seen[S] = row
            S += 1
        place[p] = slot[row]
    for s in range(S):
        slot[seen[s]] = -1
    weights = np.empty((S, len(values)))
    for s in range(S):
        for v in range(len(values)):
            weights[s, v] = distributions[seen[s], values[v]]
    if 1 < S <= MERGE_LIMIT or _all_equal(weights):
        S = _merge_equal(weights, S, place)
    total = np.zeros(S, np.int64)
    for p in range(len(pairs)):
        total[place[p]] += sizes[p]
    return weights[:S].copy(), total, place


@kernel
def _all_equal(weights: NDArray[np.float64]) -> bool:
    for s in range(1, len(weights)):
        for v in range(weights.shape[1]):
            if weights[s, v] != weights[0, v]:
                return False
    return True


@kernel
def _merge_equal(weights: NDArray[np.float64], S: int, place: NDArray[np.int32]) -> int:
    target = np.empty(S, np.int32)
    kept = 0
    for s in range(S):
        target[s] = -1
        for k in range(kept):
            same = True
            for v in range(weights.shape[1]):
                if weights[s, v] != weights[k, v]:
                    same = False
                    break
            if same:
                target[s] = k
                break
        if target[s] < 0:
            weights[kept] = weights[s]
            target[s] = kept
            kept += 1
    for p in range(len(place)):
        place[p] = target[place[p]]
    return kept


@kernel
def event_columns(
    values: NDArray[np.int32], value_event: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The events of a group, and for each of its values the column of its event (or -1)."""
    events = np.empty(len(values), np.int64)
    column = np.full(len(values), -1, np.int64)
    found = 0
    for v in range(len(values)):
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
def everybody_can(
    joint: bool, weights: NDArray[np.float64], event_count: NDArray[np.int64], N: int
) -> bool:
    """Whether everybody can have whatever the group publishes: then every world has weight."""
    if (weights == 0.0).any():
        return False
    return joint or bool(((weights < 1.0) | (event_count == N)).all())


@kernel
def record(
    first_pair: int,
    place: NDArray[np.int32],
    pair_size: NDArray[np.int64],
    total: NDArray[np.int64],
    events: NDArray[np.int64],
    posterior: NDArray[np.float64],
    breach: NDArray[np.bool_],
    event_r: NDArray[np.float64],
    known: NDArray[np.bool_],
    pair_signature: NDArray[np.int32],
    carrier_start: NDArray[np.int64],
    carrier_event: NDArray[np.int32],
    carrier_count: NDArray[np.int64],
    pair_posterior: NDArray[np.float64],
    pair_event: NDArray[np.int32],
    pair_breach: NDArray[np.bool_],
    guesses: NDArray[np.float64],
    event_worst: NDArray[np.float64],
    event_pair: NDArray[np.int64],
) -> None:
    """Writes a group's S x events posteriors to its pairs (the event worst against its own r), and
    adds one guess per event to `guesses` ([unknown before, known before] x [right, made]). Keeps
    each event's largest posterior so far in `event_worst`, and whose it is in `event_pair`."""
    S = len(total)
    for p in range(len(place)):
        s, worst = place[p], -1.0
        for e in range(len(events)):
            exposure = posterior[s, e] * event_r[events[e]]
            if exposure > worst:
                worst = exposure
                pair_posterior[first_pair + p] = posterior[s, e]
                pair_event[first_pair + p] = events[e]
            pair_breach[first_pair + p] |= breach[s, e]
            if posterior[s, e] > event_worst[events[e]]:
                event_worst[events[e]] = posterior[s, e]
                event_pair[events[e]] = first_pair + p
    for e in range(len(events)):
        top = 0.0
        for s in range(S):
            top = max(top, posterior[s, e])
        tied, right, before = 0.0, 0.0, 0
        for p in range(len(place)):
            pair = first_pair + p
            leads = posterior[place[p], e] >= top - TIE
            if leads:
                tied += pair_size[pair]
            for k in range(carrier_start[pair], carrier_start[pair + 1]):
                if carrier_event[k] == events[e]:
                    if leads:
                        right += carrier_count[k]
                    if known[pair_signature[pair], events[e]]:
                        before = 1
        guesses[before, 0] += right / tied
        guesses[before, 1] += 1.0


@kernel
def judge_view(
    joint: bool,
    budget: float,
    index: NDArray[np.int32],
    distributions: NDArray[np.float64],
    event_chance: NDArray[np.float64],
    value_event: NDArray[np.int32],
    event_r: NDArray[np.float64],
    known: NDArray[np.bool_],
    holders: NDArray[np.int64],
    group_start: NDArray[np.int64],
    pair_signature: NDArray[np.int32],
    pair_size: NDArray[np.int64],
    value_start: NDArray[np.int64],
    value_code: NDArray[np.int32],
    value_count: NDArray[np.int64],
    carrier_start: NDArray[np.int64],
    carrier_event: NDArray[np.int32],
    carrier_count: NDArray[np.int64],
) -> tuple[
    NDArray[np.int8],
    NDArray[np.float64],
    NDArray[np.int32],
    NDArray[np.bool_],
    NDArray[np.float64],
    int,
    NDArray[np.float64],
    NDArray[np.int64],
]:
    """State of each group; posterior, event and breach of each pair; guesses; posteriors counted;
    each event's largest posterior and the pair that has it (-1: nobody).

    `holders` are the groups that hold an event: in all others there is nothing to judge.
    `event_chance` are the distributions added up by event, which is all a binary adversary uses.
    """
    groups, pairs = len(group_start) - 1, len(pair_signature)
    state = np.zeros(groups, np.int8)
    pair_posterior, pair_breach = np.zeros(pairs), np.zeros(pairs, np.bool_)
    pair_event = np.full(pairs, -1, np.int32)
    guesses = np.zeros((2, 2))
    event_worst, event_pair = np.zeros(len(event_r)), np.full(len(event_r), -1, np.int64)
    slot = np.full(len(distributions), -1, np.int32)
    judged = 0
    for g in holders:
        first, last = group_start[g], group_start[g + 1]
        values = value_code[value_start[g] : value_start[g + 1]]
        counts = value_count[value_start[g] : value_start[g + 1]]
        events, column = event_columns(values, value_event)
        E = len(events)
        if E == 0:
            continue
        members, sizes = pair_signature[first:last], pair_size[first:last]
        if joint:
            weights, total, place = collect(members, sizes, values, index, distributions, slot)
        else:
            weights, total, place = collect(
                members, sizes, events.astype(np.int32), index, event_chance, slot
            )
        S, N = len(total), total.sum()
        event_count = np.zeros(E, np.int64)
        for v in range(len(values)):
            if column[v] >= 0:
                event_count[column[v]] += counts[v]
        posterior = np.zeros((S, E))
        breach = np.zeros((S, E), np.bool_)
        state[g] = EXACT
        even = S == 1 or event_count[0] == N  # then everybody's is count / N, if there is a world
        if even and everybody_can(joint, weights, event_count, N):
            pass
        elif S == 1:
            state[g] = NO_WORLD
            continue
        elif joint:
            if len(values) == 2:
                first_value = conditional_bernoulli(
                    weights[:, 0].copy(), weights[:, 1].copy(), total, counts[0]
                )
                for s in range(S):
                    for v in range(2):
                        if column[v] >= 0:
                            share = first_value[s] if v == 0 else 1.0 - first_value[s]
                            posterior[s, column[v]] += share
            elif min(joint_cost(total, counts)) <= budget:
                by_value = joint_exact(weights, total, counts)
                for s in range(S):
                    for v in range(len(values)):
                        if column[v] >= 0:
                            posterior[s, column[v]] += by_value[s, v]
            else:
                state[g] = UNSETTLED
                continue
        else:
            for e in range(E):
                posterior[:, e] = conditional_bernoulli(
                    weights[:, e].copy(), 1.0 - weights[:, e], total, event_count[e]
                )
        if np.isnan(posterior).any():
            state[g] = NO_WORLD
            continue
        for s in range(S):
            for e in range(E):
                r = event_r[events[e]]
                if even:
                    posterior[s, e] = event_count[e] / N
                    breach[s, e] = r * event_count[e] > N
                else:
                    breach[s, e] = r * (posterior[s, e] + TOLERANCE) > 1.0
        judged += E
        record(
            first,
            place,
            pair_size,
            total,
            events,
            posterior,
            breach,
            event_r,
            known,
            pair_signature,
            carrier_start,
            carrier_event,
            carrier_count,
            pair_posterior,
            pair_event,
            pair_breach,
            guesses,
            event_worst,
            event_pair,
        )
    return state, pair_posterior, pair_event, pair_breach, guesses, judged, event_worst, event_pair


@kernel
def deviations(
    index: NDArray[np.int32],
    event_chance: NDArray[np.float64],
    event_r: NDArray[np.float64],
    group_start: NDArray[np.int64],
    pair_signature: NDArray[np.int32],
    pair_size: NDArray[np.int64],
    event_count: NDArray[np.int64],
    several: NDArray[np.int64],
    meets: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """The paper's measure 4 in one view: for each event the sums over groups of delta, of delta in
    groups that hold the event, of their theoretical bound, and how many groups hold it. Clears
    `meets` for groups in which Theorem 1's condition fails. `event_count` is groups x events;
    `several` are the groups to look at: those with different tuples, or with an event."""
    E = event_count.shape[1]
    sums = np.zeros((E, 4))
    for g in several:
        N = 0
        for p in range(group_start[g], group_start[g + 1]):
            N += pair_size[p]
        for e in range(E):
            low, high = 1.0, 0.0
            for p in range(group_start[g], group_start[g + 1]):
                f = event_chance[index[pair_signature[p]], e]
                low, high = min(low, f), max(high, f)
            sums[e, 0] += high - low
            if event_count[g, e] == 0:
                continue
            r = event_r[e]
            sums[e, 1] += high - low
            sums[e, 3] += 1.0
            if 0.0 < high < 1.0 and N > r:
                sums[e, 2] += (N - r) * high / (high * (r - 1.0) / (1.0 - high) + N - 1.0)
            apart = high * (1.0 - low) * (r - 1.0)
            near = low * (1.0 - high) * (N - 1.0)
            fits = N >= r if high == low else apart <= near
            if event_count[g, e] > 1 or not fits:
                meets[g] = False
    return sums
