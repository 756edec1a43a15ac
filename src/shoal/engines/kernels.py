"""The rows of a table by cell, and dealt to groups, in one pass each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.compiling import kernel


@kernel
def rows_by_cell(
    rows: NDArray[np.int32],
    row_signature: NDArray[np.int32],
    row_value: NDArray[np.int32],
    signature_start: NDArray[np.int64],
    cell_value: NDArray[np.int32],
    cell_start: NDArray[np.int64],
) -> NDArray[np.int32]:
    """The rows sorted by cell, within a cell in the order in which they are given.

    row_signature, row_value: of each row of the table; cell_value: of each cell. The cells of
    signature s are `signature_start[s]` to `signature_start[s+1]`, with rising
    values; the rows of cell c go to `cell_start[c]` to `cell_start[c+1]`.
    """
    ordered = np.empty(len(rows), np.int32)
    filled = cell_start[:-1].copy()
    for row in rows:
        low = signature_start[row_signature[row]]
        high = signature_start[row_signature[row] + 1] - 1
        while low < high:
            middle = (low + high) // 2
            if cell_value[middle] < row_value[row]:
                low = middle + 1
            else:
                high = middle
        ordered[filled[low]] = row
        filled[low] += 1
    return ordered


@kernel
def deal_lines(
    ordered: NDArray[np.int32],
    cell_start: NDArray[np.int64],
    cell: NDArray[np.int64],
    first: NDArray[np.int64],
    rows: NDArray[np.int64],
    copies: NDArray[np.int64],
    shown: NDArray[np.int32],
    group: NDArray[np.int32],
    published: NDArray[np.int32],
) -> None:
    """Gives every line of a grouping the next rows of its cell.

    ordered: the rows by cell; those of cell c lie from `cell_start[c]` to `cell_start[c+1]`.
    cell, first, rows, copies, shown: of each line, its cell, the number of its group's first copy,
    the people of one copy, how many copies there are, and the value that they are published with.
    group, published: written, for each row that is dealt.
    """
    used = cell_start[:-1].copy()
    for i in range(len(cell)):
        place = used[cell[i]]
        for copy in range(copies[i]):
            for _ in range(rows[i]):
                row = ordered[place]
                group[row] = first[i] + copy
                published[row] = shown[i]
                place += 1
        used[cell[i]] = place


@kernel
def spelled_out(
    first: NDArray[np.int64],
    start: NDArray[np.int64],
    times: NDArray[np.int64],
    sizes: NDArray[np.int64],
    end: NDArray[np.int64],
    begin: int,
    stop: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The gid and the line of the places `begin` to `stop` of a table.

    first: the gid of the first copy of each group, whose lines are `start[g]` to `start[g+1]`, each
    as often as `times` says in every copy; sizes: the places of one copy; end: where in the table
    the last copy ends.
    """
    gids = np.empty(stop - begin, np.int64)
    lines = np.empty(stop - begin, np.int64)
    if begin == stop:
        return gids, lines
    g = np.searchsorted(end, begin, side="right")
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
