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

from shoal.arrays import Ints, Singles
from shoal.compiling import search_kernel
from shoal.methods.art.kernels.boxes import count_free, nearest_to
from shoal.methods.art.kernels.candidates import (
    Candidates,
    Near,
    gain_of,
    known_by_class,
    largest_strength,
    let_go,
    look_up,
    note_difference,
    room_for,
    take_in,
    worst_link,
)
from shoal.methods.art.kernels.growing import widened
from shoal.methods.art.kernels.nearest import smallest_but

CLOSE = np.float32(1.0 + 1e-5)
"""Single precision is good enough to search; the margin leaves room for the check in double."""
ALMOST = np.float32(1.0 - 1e-6)
"""What rounding may cost the sum of people who are alike, who are counted then."""
RAISES = 12
"""How often the target of a group is raised."""
STRIDE, ACTIVE = 8, 128
"""All candidates are weighed anew after so many choices; in between only the best of them are."""
NONE = np.float32(-1e30)


class SeedArrays(NamedTuple):
    """The cells that become groups."""

    start: Ints
    """Where the entries of each begin in the next two, and their length."""
    kind: Ints
    people: Ints
    """How many people of the kind there are."""
    carriers: Ints
    """How many people of each cell carry."""
    copies: Ints
    """How many cells like it there are."""


class Filled(NamedTuple):
    """The groups made of seeds, those that are alike once."""

    seed: Ints
    copies: Ints
    start: Ints
    """Where the people added to each begin in the next, and its length."""
    kind: Ints


class Terms(NamedTuple):
    """How far the search goes."""

    length: int
    """Kinds that are looked at for one seed, the nearest ones."""
    largest: int
    """Most people that are added per carrier."""
    least: int
    """Fewest people of a group."""


@search_kernel
def fill(seeds: SeedArrays, people: Candidates, terms: Terms) -> Filled:
    """Adds free people to each seed in turn, until it is safe with its carriers, and takes them out
    of `people.free`. A seed that finds nobody keeps what it has for itself. Seeds that are alike
    are filled alike, as long as that is what each of them would choose."""
    made, filled = np.empty((3, len(seeds.carriers) + 16), np.int64), 0
    added, at = np.empty((1, len(seeds.carriers) + 16), np.int64), 0
    used, left_in = np.zeros(len(people.free), np.int64), count_free(people.boxes, people.free)
    known = known_by_class(people.weights)
    near = room_for(0, people.weights)
    for i in range(len(seeds.carriers)):
        first, last, left = seeds.start[i], seeds.start[i + 1], seeds.copies[i]
        if filled == made.shape[1]:
            made = widened(made, 0)
        if last - first == 1 and seeds.people[first] >= terms.least:
            # People of one kind are alike: as many as the limit asks for are enough.
            each = seeds.carriers[i] / seeds.people[first]
            if each * largest_strength(seeds.kind[first], people.weights) <= 1.0:
                made[0, filled], made[1, filled], made[2, filled] = i, left, at
                filled += 1
                continue
        room = last - first + min(terms.length, len(people.free))
        if room > len(near.kind):
            near = room_for(room, people.weights)
        cell, h = _people(seeds, i), min(1, seeds.carriers[i] - 1)
        for e in range(first, last):
            look_up(seeds.kind[e], h, e - first, people, known, near)
        while left > 0:
            members, size, tried = _fill_one(
                cell, last - first, seeds.carriers[i], known, near, people, left_in, terms
            )
            if size == 0:
                break
            mine = members[len(cell) : size]
            times = min(left, _repeats(mine, tried, people.free, used))
            if filled == made.shape[1]:
                made = widened(made, 0)
            if at + len(mine) > added.shape[1]:
                added = widened(added, len(mine))
            for s in mine:
                added[0, at] = s
                if times > 0 and people.free[s] == times:
                    left_in[people.boxes.box[s]] -= 1
                people.free[s] -= times
                at += 1
            made[0, filled], made[1, filled], made[2, filled] = i, times, at
            filled += 1
            left -= times
    start = np.zeros(filled + 1, np.int64)
    for g in range(filled):
        start[g + 1] = made[2, g]
    return Filled(made[0, :filled], made[1, :filled], start, added[0, :at])


@search_kernel
def _people(seeds: SeedArrays, i: int) -> Ints:
    """The entry of each person of a cell."""
    size, at = 0, 0
    for e in range(seeds.start[i], seeds.start[i + 1]):
        size += seeds.people[e]
    cell = np.empty(size, np.int64)
    for e in range(seeds.start[i], seeds.start[i + 1]):
        for _ in range(seeds.people[e]):
            cell[at] = e - seeds.start[i]
            at += 1
    return cell


@search_kernel
def _repeats(added: Ints, tried: Ints, free: Ints, used: Ints) -> int:
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
def _fill_one(
    cell: Ints,
    entries: int,
    carriers: int,
    known: Singles,
    near: Near,
    people: Candidates,
    left_in: Ints,
    terms: Terms,
) -> tuple[Ints, int, Ints]:
    """The kinds of one group, those of its cell first, and how many they are: 0 if it cannot be.
    And the kinds of all who were added at some time.

    cell: the entry of each of its people, which are the first in `near`. left_in: how many kinds of
    each box have somebody free.
    """
    W, seed = near.odds.shape[1], len(cell)
    h = np.float32(0.0 if carriers == 1 else 1.0)
    most = seed + max(terms.largest * carriers, terms.least)
    members = np.empty(most, np.int64)
    for p in range(seed):
        members[p] = cell[p]
    total, top = np.zeros(W, np.float32), np.zeros(W, np.float32)
    for s in cell:
        for w in range(W):
            top[w] = max(top[w], near.demand[s, w])
    for s in cell:
        for w in range(W):
            total[w] += near.odds[s, w] / (top[w] + h * near.odds[s, w])
    varied = np.zeros(W, np.bool_)
    for e in range(1, entries):
        note_difference(near.kind[e], near.kind[0], people.weights, varied)
    target, size, since, raised = np.float32(carriers) * CLOSE, seed, 0, 0
    before, found = np.float32(1e30), False
    looked_at, active, reach = entries, members[:0], 0
    worth, scratch = total[:0], total[:0]
    while True:
        missing = np.float32(0.0)
        for w in range(W):
            wanted = target if varied[w] else np.float32(carriers) * ALMOST
            missing = max(missing, (wanted - total[w]) / wanted)
        found = bool(missing <= 0.0) and size >= terms.least
        if missing <= 0.0 and (carriers > 1 or not varied.all()):
            worst = worst_link(members[:size], carriers, near, people.weights)
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
                kinds = _nearest(cell, near, people, left_in, terms.length)
                several, looked_at = min(1, carriers - 1), entries + len(kinds)
                for j in range(len(kinds)):
                    look_up(kinds[j], several, entries + j, people, known, near)
                worth, scratch = (
                    np.empty(len(kinds), np.float32),
                    np.empty(len(kinds), np.float32),
                )
                active = np.empty(len(kinds), np.int64)
            elif size - seed > 2 * STRIDE and missing * STRIDE > (before - missing) * (most - size):
                break  # at this pace it would not be safe in time
            before = missing
            reach = looked_at - entries
            for j in range(reach):
                s, worth[j] = entries + j, NONE
                if near.free[s] > 0:
                    worth[j] = gain_of(near.odds[s], near.demand[s], h, total, top, target)
                scratch[j], active[j] = -worth[j], s
            if reach > ACTIVE:
                limit, reach = -smallest_but(scratch, ACTIVE - 1), 0
                for j in range(looked_at - entries):
                    if worth[j] >= limit:
                        active[reach] = entries + j
                        reach += 1
        since = (since + 1) % STRIDE
        best, best_gain = -1, NONE
        for s in active[:reach]:
            if near.free[s] > 0:
                gain = gain_of(near.odds[s], near.demand[s], h, total, top, target)
                if gain > best_gain:
                    best, best_gain = s, gain
        if best < 0:
            break
        near.free[best] -= 1
        note_difference(near.kind[best], near.kind[0], people.weights, varied)
        take_in(best, h, near.odds, near.demand, members[:size], total, top)
        members[size] = best
        size += 1
    tried = near.kind[members[seed:size]]
    if not found:
        return members, 0, tried
    kept, left = let_go(members, seed, size, h, near.odds, total, top, target, terms.least)
    exact = carriers > 1
    for w in range(W):
        exact = exact or not varied[w]
    if exact and left < size and worst_link(kept[:left], carriers, near, people.weights) > 1.0:
        return near.kind[members[:size]], size, tried
    return near.kind[kept[:left]], left, tried


@search_kernel
def _nearest(cell: Ints, near: Near, people: Candidates, left_in: Ints, length: int) -> Ints:
    """The kinds with somebody free who are nearest to the middle of a cell, in their order."""
    place = people.boxes.place
    centre = np.zeros(place.shape[1], np.float32)
    for s in cell:
        for k in range(len(centre)):
            centre[k] += place[near.kind[s], k] / np.float32(len(cell))
    return nearest_to(centre, people.boxes, people.free, left_in, length)
