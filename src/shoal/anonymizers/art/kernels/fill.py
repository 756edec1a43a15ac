"""Filling a cell up to a safe group: people of its value are added until every link is in limits.

In a pure group of c carriers nobody is linked above the limit b_j if
    c = 1:  sum o_j >= max_j d_j,                  d_j = o_j / b_j             (exactly);
    c > 1:  sum o_j / (e + o_j) >= c,              e = max_j o_j (1 - b_j) / b_j.
The second asks whether people whose chances are o/(e+o), which is b for the likeliest, are enough
for c carriers. It is right up to a correction that fades as they grow in number, so the exact
posteriors have the last word, and the target is raised as long as they are above their limits.
With h = 0 for one carrier and 1 for several, both read sum o_j / (max d' + h o_j) >= c, where
d'_j = o_j / b_j - h o_j. Where all are alike, either says c <= b n, which needs no margin: as many
as the limit asks for are enough.

Symbols: kinds of people; W columns (a view in the hands of one reader).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art.kernels.links import posteriors
from shoal.anonymizers.art.kernels.nearest import smallest_but
from shoal.compiling import search_kernel

CLOSE = np.float32(1.0 + 1e-5)
"""Single precision is good enough to search; the margin leaves room for the check in double."""
ALMOST = np.float32(1.0 - 1e-6)
"""What rounding may cost the sum of people who are alike, who are counted then."""
MARGIN = 1e-9
RAISES = 12
"""How often the target of a group is raised."""
STRIDE, ACTIVE = 8, 128
"""All candidates are weighed anew after so many choices; in between only the best of them are."""
THRIFT = np.float32(0.05)
"""What it costs to use odds that close no deficit, per unit: others will need them."""
NONE = np.float32(-1e30)


class Seeds(NamedTuple):
    """The cells that become groups."""

    start: NDArray[np.int64]
    """Where the entries of each begin in the next two, and their length."""
    kind: NDArray[np.int64]
    people: NDArray[np.int64]
    """How many people of the kind there are."""
    carriers: NDArray[np.int64]
    """How many people of each cell carry."""
    copies: NDArray[np.int64]
    """How many cells like it there are."""


class Filled(NamedTuple):
    """The groups made of seeds, those that are alike once."""

    seed: NDArray[np.int64]
    copies: NDArray[np.int64]
    start: NDArray[np.int64]
    """Where the people added to each begin in the next, and its length."""
    kind: NDArray[np.int64]


class People(NamedTuple):
    """What is known of each kind of people, and how many of them are free."""

    odds: NDArray[np.float64]
    """kinds x W."""
    strength: NDArray[np.float64]
    """kinds x W: one over the limit."""
    place: NDArray[np.float32]
    """kinds x features: people who are near one another are alike."""
    free: NDArray[np.int64]


class Terms(NamedTuple):
    """How far the search goes."""

    length: int
    """Kinds that are looked at for one seed, the nearest ones."""
    largest: int
    """Most people that are added per carrier."""
    least: int
    """Fewest people of a group."""


@search_kernel
def fill(seeds: Seeds, people: People, terms: Terms) -> Filled:
    """Adds free people to each seed in turn, until it is safe with its carriers, and takes them out
    of `people.free`. A seed that finds nobody keeps what it has for itself. Seeds that are alike
    are filled alike, as long as that is what each of them would choose."""
    kinds, W = people.odds.shape
    made, filled = np.empty((2, len(seeds.carriers) + 16), np.int64), 0
    begin = np.zeros(len(seeds.carriers) + 17, np.int64)
    added, at = np.empty(len(seeds.carriers) + 16, np.int64), 0
    odds, demand = np.empty((kinds, W), np.float32), np.empty((2, kinds, W), np.float32)
    for s in range(kinds):
        for w in range(W):
            odds[s, w] = people.odds[s, w]
            whole = people.odds[s, w] * people.strength[s, w]
            demand[0, s, w] = whole
            demand[1, s, w] = whole - people.odds[s, w]
    used, strongest = np.zeros(kinds, np.int64), np.zeros(kinds)
    for s in range(kinds):
        for w in range(W):
            strongest[s] = max(strongest[s], people.strength[s, w])
    for i in range(len(seeds.carriers)):
        first, left = seeds.start[i], seeds.copies[i]
        if filled == made.shape[1]:
            made, begin = _longer(made), _longer(begin.reshape(1, -1))[0]
        if seeds.start[i + 1] - first == 1 and seeds.people[first] >= terms.least:
            # People of one kind are alike: as many as the limit asks for are enough.
            each = seeds.carriers[i] / seeds.people[first]
            if each * strongest[seeds.kind[first]] <= 1.0:
                made[0, filled], made[1, filled] = i, left
                filled += 1
                begin[filled] = at
                continue
        cell = _people(seeds, i)
        while left > 0:
            members, size, tried = _fill_one(
                cell,
                seeds.carriers[i],
                odds,
                demand[min(1, seeds.carriers[i] - 1)],
                people,
                terms,
                used,
            )
            if size == 0:
                break
            mine = members[len(cell) : size]
            times = min(left, _repeats(mine, tried, people.free, used))
            if filled == made.shape[1]:
                made, begin = _longer(made), _longer(begin.reshape(1, -1))[0]
            if at + len(mine) > len(added):
                added = _longer(added.reshape(1, -1), len(mine))[0]
            for s in mine:
                added[at] = s
                people.free[s] -= times
                at += 1
            made[0, filled], made[1, filled] = i, times
            filled += 1
            begin[filled] = at
            left -= times
    return Filled(made[0, :filled], made[1, :filled], begin[: filled + 1], added[:at])


@search_kernel
def _people(seeds: Seeds, i: int) -> NDArray[np.int64]:
    """The kind of each person of a cell."""
    size, at = 0, 0
    for e in range(seeds.start[i], seeds.start[i + 1]):
        size += seeds.people[e]
    cell = np.empty(size, np.int64)
    for e in range(seeds.start[i], seeds.start[i + 1]):
        for _ in range(seeds.people[e]):
            cell[at] = seeds.kind[e]
            at += 1
    return cell


@search_kernel
def _repeats(
    added: NDArray[np.int64],
    tried: NDArray[np.int64],
    free: NDArray[np.int64],
    used: NDArray[np.int64],
) -> int:
    """How often the same people can be added to cells that are alike: as long as more are free of
    every kind than were tried at once, the search comes to the same end.

    added: the kinds of those who stay. tried: of all who were added at some time. used: scratch by
    kind, 0 before and after.
    """
    times = np.int64(1) << 62
    for s in added:
        used[s] += 1
    for s in added:
        once, most = used[s], 0
        if once > 0:
            for t in tried:
                most += t == s
            times = min(times, 1 + max(0, (free[s] - most - 1) // once))
            used[s] = 0
    return int(times)


@search_kernel
def _longer(numbers: NDArray[np.int64], more: int = 0) -> NDArray[np.int64]:
    """The same with room for more columns."""
    made = np.empty((len(numbers), 2 * numbers.shape[1] + more), np.int64)
    made[:, : numbers.shape[1]] = numbers
    return made


@search_kernel
def _fill_one(
    cell: NDArray[np.int64],
    carriers: int,
    odds: NDArray[np.float32],
    demand: NDArray[np.float32],
    people: People,
    terms: Terms,
    used: NDArray[np.int64],
) -> tuple[NDArray[np.int64], int, NDArray[np.int64]]:
    """The kinds of one group, those of its cell first, and how many they are: 0 if it cannot be.
    And the kinds of all who were added at some time.

    odds, demand: kinds x W. used: scratch by kind, 0 before and after.
    """
    W, seed = odds.shape[1], len(cell)
    h = np.float32(0.0 if carriers == 1 else 1.0)
    most = seed + max(terms.largest * carriers, terms.least)
    members = np.empty(most, np.int64)
    for p in range(seed):
        members[p] = cell[p]
    total, top = np.zeros(W, np.float32), np.zeros(W, np.float32)
    for s in cell:
        for w in range(W):
            top[w] = max(top[w], demand[s, w])
    for s in cell:
        for w in range(W):
            total[w] += odds[s, w] / (top[w] + h * odds[s, w])
    varied = np.zeros(W, np.bool_)
    for s in cell:
        _note_difference(s, cell[0], people, varied)
    target, size, since, raised = np.float32(carriers) * CLOSE, seed, 0, 0
    before, found = np.float32(1e30), False
    candidates, active, reach = members[:0], members[:0], 0
    worth, scratch = total[:0], total[:0]
    while True:
        missing = np.float32(0.0)
        for w in range(W):
            wanted = target if varied[w] else np.float32(carriers) * ALMOST
            missing = max(missing, (wanted - total[w]) / wanted)
        found = bool(missing <= 0.0) and size >= terms.least
        if missing <= 0.0 and (carriers > 1 or not varied.all()):
            worst = _worst_link(members[:size], carriers, people)
            if worst > 1.0:
                found = False
                raised += 1
                if raised > RAISES:
                    break
                target *= np.float32(max(1.01, min(1.1, worst)))
                continue
        if found or size >= most:
            break
        if since == 0:
            if size == seed:
                candidates = _nearest(cell, people, terms.length)
                worth, scratch = (
                    np.empty(len(candidates), np.float32),
                    np.empty(len(candidates), np.float32),
                )
                active = np.empty(len(candidates), np.int64)
            elif size - seed > 2 * STRIDE and missing * STRIDE > (before - missing) * (most - size):
                break  # at this pace it would not be safe in time
            before = missing
            for j in range(len(candidates)):
                s, worth[j] = candidates[j], NONE
                if used[s] < people.free[s]:
                    worth[j] = _gain(odds[s], demand[s], h, total, top, target)
            reach = len(candidates)
            for j in range(reach):
                scratch[j], active[j] = -worth[j], candidates[j]
            if reach > ACTIVE:
                limit, reach = -smallest_but(scratch, ACTIVE - 1), 0
                for j in range(len(candidates)):
                    if worth[j] >= limit:
                        active[reach] = candidates[j]
                        reach += 1
        since = (since + 1) % STRIDE
        best, best_gain = -1, NONE
        for s in active[:reach]:
            if used[s] < people.free[s]:
                gain = _gain(odds[s], demand[s], h, total, top, target)
                if gain > best_gain:
                    best, best_gain = s, gain
        if best < 0:
            break
        used[best] += 1
        _note_difference(best, cell[0], people, varied)
        _take_in(best, h, odds, demand, members[:size], total, top)
        members[size] = best
        size += 1
    for p in range(seed, size):
        used[members[p]] = 0
    tried = members[seed:size]
    if not found:
        return members, 0, tried
    kept, left = _let_go(members, seed, size, h, odds, total, top, target, terms.least)
    exact = carriers > 1
    for w in range(W):
        exact = exact or not varied[w]
    if exact and left < size and _worst_link(kept[:left], carriers, people) > 1.0:
        return members, size, tried
    return kept, left, tried


@search_kernel
def _note_difference(kind: int, first: int, people: People, varied: NDArray[np.bool_]) -> None:
    """Notes the columns in which somebody differs from the first of a group."""
    for w in range(len(varied)):
        if (
            people.odds[kind, w] != people.odds[first, w]
            or people.strength[kind, w] != people.strength[first, w]
        ):
            varied[w] = True


@search_kernel
def _nearest(cell: NDArray[np.int64], people: People, length: int) -> NDArray[np.int64]:
    """The kinds with somebody free who are nearest to the middle of a cell, in no order."""
    kinds, features = people.place.shape
    centre = np.zeros(features, np.float32)
    for s in cell:
        for k in range(features):
            centre[k] += people.place[s, k] / np.float32(len(cell))
    distance, near, found = np.empty(kinds, np.float32), np.empty(kinds, np.int64), 0
    for s in range(kinds):
        if people.free[s] > 0:
            apart = np.float32(0.0)
            for k in range(features):
                step = people.place[s, k] - centre[k]
                apart += step * step
            distance[found], near[found] = apart, s
            found += 1
    if found > length:
        scratch = np.empty(found, np.float32)
        for i in range(found):
            scratch[i] = distance[i]
        limit, kept = smallest_but(scratch, length - 1), 0
        for i in range(found):
            if distance[i] <= limit and kept < length:
                near[kept] = near[i]
                kept += 1
        found = kept
    return near[:found]


@search_kernel
def _gain(
    odds: NDArray[np.float32],
    demand: NDArray[np.float32],
    h: np.float32,
    total: NDArray[np.float32],
    top: NDArray[np.float32],
    target: np.float32,
) -> np.float32:
    """What one more person is worth: deficits closed, less the harm of a new maximum, less a part
    of what is used. All by column, as parts of the target; `odds` and `demand` are the person's,
    `total` and `top` the group's."""
    worth, one = np.float32(0.0), np.float32(1.0)
    for w in range(len(total)):
        highest = max(top[w], demand[w])
        mine = odds[w] / (highest + h * odds[w])
        after = total[w] * (top[w] / highest) + mine
        closed = min(after, target) - min(total[w], target)
        worth += closed * (one + THRIFT) - THRIFT * mine
    return worth / target


@search_kernel
def _take_in(
    kind: int,
    h: np.float32,
    odds: NDArray[np.float32],
    demand: NDArray[np.float32],
    members: NDArray[np.int64],
    total: NDArray[np.float32],
    top: NDArray[np.float32],
) -> None:
    """Adds somebody to the sums by column; where the maximum rises, a sum is made anew.

    odds, demand: kinds x W. members: the kinds that are in it already. total, top: the group's.
    """
    for w in range(len(total)):
        if demand[kind, w] > top[w]:
            top[w] = demand[kind, w]
            total[w] = np.float32(0.0)
            for s in members:
                total[w] += odds[s, w] / (top[w] + h * odds[s, w])
        total[w] += odds[kind, w] / (top[w] + h * odds[kind, w])


@search_kernel
def _let_go(
    members: NDArray[np.int64],
    seed: int,
    size: int,
    h: np.float32,
    odds: NDArray[np.float32],
    total: NDArray[np.float32],
    top: NDArray[np.float32],
    target: np.float32,
    least: int,
) -> tuple[NDArray[np.int64], int]:
    """The members without those added whom later ones made needless, and how many they are. The
    maxima are left as they were, which is on the safe side.

    odds: kinds x W. total, top: the group's, by column.
    """
    kept, left = np.empty(size, np.int64), 0
    for p in range(size):
        s, spare = members[p], p >= seed and left + size - p > least
        for w in range(len(total)):
            mine = odds[s, w] / (top[w] + h * odds[s, w])
            spare = spare and total[w] - mine >= target
        if spare:
            for w in range(len(total)):
                total[w] -= odds[s, w] / (top[w] + h * odds[s, w])
        else:
            kept[left] = s
            left += 1
    return kept, left


@search_kernel
def _worst_link(members: NDArray[np.int64], carriers: int, people: People) -> float:
    """The largest posterior over its limit, with a margin; people who are alike are counted."""
    n, worst = len(members), 0.0
    odds, linked = np.empty(n), np.empty(n)
    varied = np.zeros(people.odds.shape[1], np.bool_)
    for s in members:
        _note_difference(s, members[0], people, varied)
    for w in range(len(varied)):
        if not varied[w]:
            worst = max(worst, carriers / n * people.strength[members[0], w])
            continue
        for p in range(n):
            odds[p] = people.odds[members[p], w]
        posteriors(odds, carriers, linked)
        for p in range(n):
            worst = max(worst, linked[p] * people.strength[members[p], w] * (1.0 + MARGIN))
    return worst
