"""Who of a kind goes into pooled groups.

People of one kind are alike in all that is known of them, but hold different values, which a pooled
group does not show. How many of each value are taken is chance; they stand in line, one value after
another, and groups take the next ones. So groups that are alike stay alike, but where a value ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Ints
from shoal.groups.ragged import Ragged
from shoal.methods.art.seeds import spread


class Pooled(NamedTuple):
    """Groups as lines of members, those that are alike once."""

    group: Ints
    """Of each line."""
    cell: Ints
    number: Ints
    mark: Ints
    """As the line of its kind has it."""
    source: Ints
    """Of each group: the one that it is some copies of."""
    copies: Ints


def deal_people(
    owner: Ints,
    kind: Ints,
    number: Ints,
    copies: Ints,
    behind: tuple[Ints, Ints, Ints],
    random: np.random.Generator,
    mark: Ints | None = None,
) -> Pooled:
    """From lines of groups (so many people of a kind, in each of `copies`) and the cells `behind`
    kinds (kind, cell, how many are free; in the order of kinds). A `mark` on lines stays on the
    people they become."""
    order = np.argsort(kind, kind="stable")
    owner, kind, number = owner[order], kind[order], number[order]
    marked = np.zeros_like(kind) if mark is None else mark[order]
    wanted = number * copies[owner]
    needed = np.bincount(kind, wanted, int(behind[0].max(initial=0)) + 1).astype(np.int64)
    taken = spread(behind[0], behind[2], needed, random)
    ends, line_ends = np.cumsum(taken), np.cumsum(wanted)
    begins, line_begins = ends - taken, line_ends - wanted
    source, first, last = _stretches(owner, number, copies, ends, line_begins, line_ends)
    line, piece = Ragged.of_owners(source, len(copies)).entries(owner)
    here = line_begins[line] + first[piece] * number[line]
    there = line_begins[line] + last[piece] * number[line]
    at = np.searchsorted(ends, here, "right")
    spans = np.searchsorted(ends, there - 1, "right") - at + 1
    pieces = Ragged.of_lengths(spans)
    each, run = pieces.owner, pieces.spread(at) + pieces.nth
    people = np.minimum(ends[run], there[each]) - np.maximum(begins[run], here[each])
    some = np.flatnonzero(people > 0)
    group = piece[each[some]].astype(np.int64)
    by = np.argsort(group, kind="stable")
    group, some = group[by], some[by]
    made = people[some] // (last - first)[group]
    mine = marked[line[each[some]]]
    return Pooled(group, behind[1][run[some]], made, mine, source, last - first)


def _stretches(
    owner: Ints, number: Ints, copies: Ints, ends: Ints, line_begins: Ints, line_ends: Ints
) -> tuple[Ints, Ints, Ints]:
    """Of which group, from which copy on and up to which, copies are alike: a copy in which the
    people of one value end is by itself."""
    inside = ends[ends < (line_ends[-1] if len(line_ends) else 0)]
    line = np.searchsorted(line_ends, inside, "right")
    after = inside - line_begins[line]
    points = np.concatenate([after // number[line], -(-after // number[line])])
    everywhere = np.arange(len(copies))
    groups = np.concatenate([np.tile(owner[line], 2), everywhere])
    points = np.append(points, np.zeros_like(copies))
    width = int(copies.max(initial=0)) + 1
    source, first = np.divmod(np.unique(groups * width + points), width)
    within = first < copies[source]
    source, first = source[within], first[within]
    last = np.append(first[1:], 0)
    closing = np.flatnonzero(np.diff(source, append=len(copies)))
    last[closing] = copies[source[closing]]
    return source, first, last
