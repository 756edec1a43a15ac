"""Where in each counted line the people of a group begin: dealing without a row at hand.

The people of a counted line are alike, and ranked by chance where they are. Of all counted lines
one after the other, by cell, and of the grouping's lines in the same order, equally many people are
published. So both cut the same stretch of places into pieces, and each piece of the two together
has one counted line and one line of the grouping.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.data.table import Table
from shoal.groups import Grouping
from shoal.groups.suppressed import lost_members


class Marks(NamedTuple):
    """Pieces of counted lines, whose people go to the groups of one line of a grouping."""

    line: Ints
    """The counted line."""
    start: Ints
    """The rank of its first person in the counted line."""
    gid: Ints
    """The gid of the first copy of the group; -1: these are suppressed."""
    each: Ints
    """How many people each copy takes."""
    taken: Ints
    """How many people of other counted lines the copies have taken before."""
    weight: Floats
    """What each of them counts as; not a number where that is not told."""


def marks_of(table: Table, grouping: Grouping, counts: Ints, *, seed: int) -> Marks:
    """The pieces for a table of counted lines; `counts` says how many people each has. In which
    order those of one cell are taken is chance."""
    assert table.counted is not None, "its lines were counted"
    width, member_width = np.int64(len(table.values)), np.int64(len(table.members))
    signature, member, _ = table.member_cells
    cell = np.searchsorted(
        signature * member_width + member,
        table.counted.signature * member_width + table.counted.member,
    )
    value_of = table.member_value[table.counted.member]
    chance = np.random.default_rng(seed).random(len(cell))
    order = np.lexsort([chance, cell, table.counted.signature * width + value_of])
    kept = counts.copy()
    kept[order] = _kept(cell[order], counts[order], lost_members(table, grouping, seed=seed))
    people_end = np.cumsum(kept[order])
    by_cell = np.argsort(grouping.signature * width + grouping.value, kind="stable")
    groups_end = np.cumsum(grouping.people[by_cell])
    starts = np.union1d(people_end - kept[order], groups_end - grouping.people[by_cell])
    starts = starts[starts < grouping.published]
    place = np.searchsorted(people_end, starts, side="right")
    found = np.searchsorted(groups_end, starts, side="right")
    line, of_group = order[place], by_cell[found]
    lost = np.flatnonzero(kept < counts)
    nobody = np.zeros(len(lost), np.int64)
    weight = np.full(len(by_cell), np.nan) if grouping.weight is None else grouping.weight
    return Marks(
        line=np.append(line, lost),
        start=np.append(starts - (people_end[place] - kept[line]), kept[lost]),
        gid=np.append(grouping.first_number[grouping.group[of_group]] + 1, nobody - 1),
        each=np.append(grouping.rows[of_group], nobody + 1),
        taken=np.append(starts - (groups_end[found] - grouping.people[of_group]), nobody),
        weight=np.append(weight[of_group], np.full(len(lost), np.nan)),
    )


def _kept(cell: Ints, counts: Ints, lost: Ints) -> Ints:
    """How many of each counted line are published, the lines being in the order of their member
    cells or at least together: the last ones of a cell are lost."""
    rows = np.bincount(cell, counts, len(lost)).astype(np.int64)
    end = np.cumsum(counts)
    first = np.full(len(lost), end[-1])
    np.minimum.at(first, cell, end - counts)
    before = end - counts - first[cell]
    return np.asarray(np.clip((rows - lost)[cell] - before, 0, counts))
