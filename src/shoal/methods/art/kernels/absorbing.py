"""Tuples that found no group: hiding them behind whole groups that are finished already.

A tuple t with the event x may join a safe group, or several of them and free tuples together, as
long as the union is safe. The groups' own members stay hidden, so such *blocks* serve as partners
that need nothing for themselves: what counts is the sum of the swaps q between t and the block's
members (kernels/mixing.py), up to what t still needs. Blocks that hold x have to hide their own
carriers with it first. Every union is judged by its exact posteriors (kernels/mixed.py).

A block is a number: that of a group, or -1 - c for one free row of cell c.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Ints, Singles
from shoal.compiling import kernel, search_kernel
from shoal.methods.art.kernels.mixed import Known, excess
from shoal.methods.art.kernels.mixing import (
    NOTHING,
    MixedGroups,
    Places,
    add_swaps,
    count_event,
    nearest,
    own_need,
)

UNUSABLE = np.float32(-1.0)
ALWAYS_NEEDED = np.float32(0.02)
"""Swaps are worth a little in every view: longer exchanges are not counted."""


class Whereabouts(NamedTuple):
    """Which groups have members of a signature."""

    group_start: Ints
    group: Ints
    """The groups of signature s, from `group_start[s]` to `group_start[s + 1]`."""
    merged_into: Ints
    """For each group itself, or the group that it became a part of."""
    seen: Ints
    """The last anchor (by number) that looked at a group."""


class Blocks(NamedTuple):
    """What could hide one tuple."""

    block: Ints
    size: Ints
    q: Singles
    """blocks x views: the sum of the swaps with the block's members."""
    worth: Singles


@kernel
def absorb(
    starts: Ints,
    known: Known,
    places: Places,
    groups: MixedGroups,
    where: Whereabouts,
    made: int,
    near_count: int,
    most: int,
    largest: int,
    tries: int,
    steps: int,
) -> int:
    """Hides each free row of the cells `starts` behind at most `steps` blocks, whose members have
    one of the `near_count` nearest signatures; the groups made so far."""
    W = known.at.shape[1]
    blocks = Blocks(
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty((most, W), np.float32),
        np.empty(most, np.float32),
    )
    union, chosen = np.empty(largest, np.int64), np.empty(steps, np.int64)
    for start in starts:
        if groups.free[start] <= 0:
            continue
        near = nearest(places.place, known.signature[start], near_count)
        while groups.free[start] > 0:
            found = _find_blocks(start, near, known, places, groups, where, largest, blocks)
            size, taken = _unite(start, found, blocks, known, groups.members, tries, union, chosen)
            if size == 0:
                break
            groups.free[start] -= 1
            made = _merge(union[:size], blocks.block[chosen[:taken]], groups, where, made)
    return made


@kernel
def _find_blocks(
    start: int,
    near: Ints,
    known: Known,
    places: Places,
    groups: MixedGroups,
    where: Whereabouts,
    largest: int,
    blocks: Blocks,
) -> int:
    """Writes down the blocks near an anchor and their swaps with it; their number."""
    found, event = 0, known.event[known.value[start]]
    where.seen[-1] += 1  # the last place counts the anchors
    for s in near:
        for cell in range(places.cell_start[s], places.cell_start[s + 1]):
            free = groups.free[cell] > 0 and known.event[known.value[cell]] != event
            if free and found < len(blocks.block):
                blocks.block[found], blocks.size[found] = -1 - cell, 1
                blocks.q[found] = NOTHING
                add_swaps(start, cell, known, blocks.q[found])
                found += 1
        for position in range(where.group_start[s], where.group_start[s + 1]):
            g = where.group[position]
            while where.merged_into[g] != g:
                g = where.merged_into[g]
            if found == len(blocks.block) or where.seen[g] == where.seen[-1]:
                continue
            where.seen[g] = where.seen[-1]
            size = groups.sizes[g]
            rivals = count_event(event, groups.members[g], size, known)
            if size >= largest or known.r[event] * (rivals + (rivals > 0)) > size + 1:
                continue
            blocks.block[found], blocks.size[found] = g, size
            blocks.q[found] = NOTHING
            for j in range(size):
                add_swaps(start, groups.members[g, j], known, blocks.q[found])
            if rivals:
                used = np.float32(rivals) * own_need(start, known)
                blocks.q[found] = np.maximum(NOTHING, blocks.q[found] - used)
            found += 1
    return found


@kernel
def _unite(
    start: int,
    found: int,
    blocks: Blocks,
    known: Known,
    members: Ints,
    tries: int,
    union: Ints,
    chosen: Ints,
) -> tuple[int, int]:
    """Adds blocks until the union is safe: its size and the number of blocks, or 0 and 0."""
    need = np.full(known.at.shape[1], own_need(start, known))
    union[0] = start
    size, over = 1, np.inf
    for step in range(len(chosen)):
        for b in range(found):
            blocks.worth[b] = UNUSABLE
            if size + blocks.size[b] <= len(union):
                blocks.worth[b] = _worth(blocks.q[b], need) / np.sqrt(np.float32(blocks.size[b]))
        for earlier in chosen[:step]:
            blocks.worth[earlier] = UNUSABLE
        best, over = _best_block(found, blocks, known, members, tries, union, size, over)
        if best < 0:
            break
        size = _append(blocks.block[best], blocks.size[best], members, union, size)
        chosen[step] = best
        if over == 0.0:
            return size, step + 1
        need = np.maximum(ALWAYS_NEEDED, need - blocks.q[best])
    return 0, 0


@search_kernel
def _worth(q: Singles, need: Singles) -> np.float32:
    """The swaps that are needed, over all views."""
    worth = NOTHING
    for w in range(len(need)):
        worth += min(q[w], need[w])
    return worth


@kernel
def _best_block(
    found: int,
    blocks: Blocks,
    known: Known,
    members: Ints,
    tries: int,
    union: Ints,
    size: int,
    least: float,
) -> tuple[int, float]:
    """Of the blocks worth most, the one that leaves the least excess, and that excess; -1 if it is
    `least` or more for all of them."""
    best = -1
    for _ in range(min(tries, found)):
        b = int(np.argmax(blocks.worth[:found]))
        if blocks.worth[b] < NOTHING:
            break
        blocks.worth[b] = UNUSABLE
        together = _append(blocks.block[b], blocks.size[b], members, union, size)
        over = excess(union, together, known, least)
        if over < least:
            best, least = b, over
        if over == 0.0:
            break
    return best, least


@kernel
def _append(block: int, length: int, members: Ints, union: Ints, size: int) -> int:
    """Writes a block's cells behind the first `size` of the union; its size with them."""
    if block < 0:
        union[size] = -1 - block
    else:
        for i in range(length):
            union[size + i] = members[block, i]
    return size + length


@kernel
def _merge(union: Ints, chosen: Ints, groups: MixedGroups, where: Whereabouts, made: int) -> int:
    """Makes one group of an anchor and its blocks; the groups made so far."""
    home = -1
    for block in chosen:
        if block < 0:
            groups.free[-1 - block] -= 1
        elif home < 0:
            home = block
        else:
            where.merged_into[block] = home
            groups.sizes[block] = 0
    if home < 0:
        home = made
        where.merged_into[home] = home
        made += 1
    groups.members[home, : len(union)] = union
    groups.sizes[home] = len(union)
    return made
