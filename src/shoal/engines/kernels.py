"""People dealt to groups, and published lines from runs, in one pass each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Floats, IntArray, Ints
from shoal.compiling import kernel

ROUNDS = 10
"""With six, people of cells of five are not equally likely in all places; with eight they are."""


@kernel
def _mixed(number: np.uint64) -> np.uint64:
    """A 64-bit finalizer: similar numbers end up far apart."""
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


@kernel
def _shuffled(place: int, count: int, key: np.uint64) -> int:
    """Where a place of 0 to count - 1 ends up in a permutation that the key gives. A Feistel
    network permutes the next power of four; whoever lands outside is sent on until inside."""
    half = np.uint64(1)
    while np.uint64(1) << (np.uint64(2) * half) < np.uint64(count):
        half += np.uint64(1)
    mask = (np.uint64(1) << half) - np.uint64(1)
    found = np.uint64(place)
    while True:
        left, right = found >> half, found & mask
        for turn in range(ROUNDS):
            sent = _mixed(right + _mixed(key + np.uint64(turn))) & mask
            left, right = right, left ^ sent
        found = (left << half) | right
        if found < np.uint64(count):
            return int(found)


@kernel
def deal_some(
    member_cell: Ints,
    key: np.uint64,
    seen: Ints,
    rows: Ints,
    kept: Ints,
    before: Ints,
    cell: Ints,
    cell_people: Ints,
    line_start: Ints,
    line_end: Ints,
    line_rows: Ints,
    line_first: Ints,
    line_shown: IntArray,
    line_weight: Floats,
    group: Ints,
    published: IntArray,
    weight: Floats,
) -> None:
    """Gives the next rows of a table, told by their member cells, a place in the groups.

    seen: how many rows of each member cell came before; counted on. rows, kept, before, cell: of
    each member cell, how many rows it has, how many of them are published, how many are of member
    cells of the same cell before it, and that cell. cell_people: the published people of each cell,
    whose lines are `line_start[c]` to `line_start[c+1]`; of each line, where it ends among these
    people, the people of one copy of its group, the number of the first copy, the value that it
    shows, and its weight. group, published, weight: written; the group is -1, and the others left,
    for who is suppressed.
    """
    for i in range(len(member_cell)):
        m = member_cell[i]
        place = _shuffled(seen[m], rows[m], key + np.uint64(2 * m))
        seen[m] += 1
        if place >= kept[m]:
            group[i] = -1
            continue
        c = cell[m]
        place = _shuffled(before[m] + place, cell_people[c], key + np.uint64(2 * c + 1))
        low, high = line_start[c], line_start[c + 1] - 1
        while low < high:
            middle = (low + high) // 2
            if line_end[middle] > place:
                high = middle
            else:
                low = middle + 1
        first = 0 if low == line_start[c] else line_end[low - 1]
        group[i] = line_first[low] + (place - first) // line_rows[low]
        published[i] = line_shown[low]
        weight[i] = line_weight[low]


@kernel
def spelled_out(
    first: Ints, start: Ints, times: Ints, sizes: Ints, end: Ints, begin: int, stop: int
) -> tuple[Ints, NDArray[np.uint32]]:
    """The gid and the line of the places `begin` to `stop` of a table.

    first: the gid of the first copy of each group, whose lines are `start[g]` to `start[g+1]`, each
    as often as `times` says in every copy; sizes: the places of one copy; end: where in the table
    the last copy ends.
    """
    gids = np.empty(stop - begin, np.int64)
    lines = np.empty(stop - begin, np.uint32)
    if begin == stop:
        return gids, lines
    g = 0
    while end[g] <= begin:
        g += 1
    inside = begin - (end[g - 1] if g else 0)
    gid = first[g] + inside // sizes[g]
    skipped = inside % sizes[g]
    line = start[g]
    while skipped >= times[line]:
        skipped -= times[line]
        line += 1
    place = 0
    while place < stop - begin:
        for _ in range(min(times[line] - skipped, stop - begin - place)):
            gids[place] = gid
            lines[place] = line
            place += 1
        skipped = 0
        line += 1
        if line == start[g + 1]:
            gid += 1
            if begin + place == end[g]:
                g += 1
                if g < len(first):
                    gid = first[g]
            if g < len(first):
                line = start[g]
    return gids, lines


@kernel
def gathered(gid: Ints, code: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """The runs of lines of whole groups: the first gid, the number of copies and the start of each
    distinct group, and how often and what each of its lines is.

    gid, code: of each line; equal lines have the same code. Lines of one gid that stand together
    are a group; it is a copy of the one before if it has the same lines and the next gid.
    """
    n = len(gid)
    first = np.empty(n, np.int64)
    copies = np.empty(n, np.int64)
    start = np.empty(n + 1, np.int64)
    times = np.empty(n, np.int64)
    codes = np.empty(n, np.int64)
    groups, lines, i = 0, 0, 0
    start[0] = 0
    while i < n:
        begin, number = lines, gid[i]
        while i < n and gid[i] == number:
            if lines > begin and codes[lines - 1] == code[i]:
                times[lines - 1] += 1
            else:
                codes[lines] = code[i]
                times[lines] = 1
                lines += 1
            i += 1
        same = groups > 0 and number == first[groups - 1] + copies[groups - 1]
        if same:
            before = start[groups - 1]
            same = begin - before == lines - begin
            for place in range(lines - begin if same else 0):
                same &= codes[before + place] == codes[begin + place]
                same &= times[before + place] == times[begin + place]
        if same:
            copies[groups - 1] += 1
            lines = begin
        else:
            first[groups] = number
            copies[groups] = 1
            groups += 1
            start[groups] = lines
    return (
        first[:groups].copy(),
        copies[:groups].copy(),
        start[: groups + 1].copy(),
        times[:lines].copy(),
        codes[:lines].copy(),
    )
