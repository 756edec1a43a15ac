"""Nobody alone: people whom no case needs are published in groups in which no value can be read.

Groups with an event stay as they are. The others stand in a row by their attributes, those with
many values last, so that neighbours have most in common; signatures with enough people for a group
of their own stand apart from the rest, as counts are exact in such a group. The row is cut in two,
again and again, as long as neither side can be read (kernels/gather.py). That a stretch was not cut
tells that one of its sides could be read, and not which.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Ints, Whole
from shoal.data.table import Table
from shoal.groups import Grouping
from shoal.methods.art.kernels.gather import gather


def gather_everybody(
    table: Table, grouping: Grouping, smallest: int, largest: int, *, strict: bool
) -> Grouping:
    """The same with groups of at least `smallest` people in place of people published alone; a
    group that can be read is made only where a stretch of `largest` people holds no other value.
    Fewer people than that are one group, or left out if that is `strict`."""
    alone = (grouping.sizes == 1) & ~grouping.holding(table)
    line, kept = (np.flatnonzero(some[grouping.group]) for some in (alone, ~alone))
    people, value = grouping.people[line], grouping.value[line]
    codes = value[:, None] if table.several is None else table.several.codes[value]
    if people.sum() < smallest and strict:
        line, people, codes = line[:0], people[:0], codes[:0]
    of_line = _groups(table, grouping.signature[line], people, codes, smallest, largest)
    count, more = int((~alone).sum()), int(of_line.max(initial=-1)) + 1
    both, pooled, weight = np.append(kept, line), grouping.pooled, grouping.weight
    return Grouping.of_lines(
        table,
        np.append((np.cumsum(~alone) - 1)[grouping.group[kept]], count + of_line).astype(np.int32),
        grouping.signature[both],
        grouping.value[both],
        np.append(grouping.rows[kept], people),
        copies=np.append(grouping.copies[~alone], np.ones(more, np.int64)),
        pooled=None if pooled is None else np.append(pooled[~alone], np.zeros(more, bool)),
        weight=None if weight is None else weight[both],
    )


def _groups(
    table: Table, signature: Whole, people: Ints, codes: Whole, smallest: int, largest: int
) -> Ints:
    """The group of each line."""
    if not len(signature):
        return np.zeros(0, np.int64)
    known, at = np.unique(signature, return_inverse=True)
    total = np.bincount(at, people).astype(np.int64)
    by_width = np.argsort([len(column) for column in table.qi], kind="stable")
    keys = np.column_stack([total < smallest, table.signatures[known][:, by_width]])
    row = np.lexsort(keys.T[::-1])
    keys, place = keys[row], np.empty(len(row), np.int64)
    place[row] = np.arange(len(row))
    order = np.argsort(place[at], kind="stable")
    first = np.flatnonzero(np.diff(place[at][order], prepend=-1))
    codes = codes[order].astype(np.int64)
    common = np.cumprod(keys[1:] == keys[:-1], axis=1).sum(axis=1)
    made = gather(
        total[row],
        np.minimum.reduceat(codes, first),
        np.maximum.reduceat(codes, first),
        np.append(0, common).astype(np.int64),
        smallest,
        largest,
    )
    return np.asarray(made[place[at]])
