"""Lines by their owners: stretches of them, and the distinct pairs of two numbers among them."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import IntArray, Ints, Whole

Lines = TypeVar("Lines", bound=NDArray[Any])


class Pairs(NamedTuple):
    """The distinct pairs of two numbers among lines, sorted."""

    start: IntArray
    """Where the pairs of each left number begin, and where the last ends."""
    right: IntArray
    rows: Whole


def count_pairs(left: Whole, right: IntArray, rows: Whole, count: int) -> tuple[IntArray, Pairs]:
    """Which pair each line has, and the pairs with their rows added up; there are `count` left
    numbers."""
    order = _sorting(left, right)
    if order is not None:
        left, right, rows = _moved(left, order), _moved(right, order), _moved(rows, order)
    new = np.ones(len(left), bool)
    np.not_equal(left[1:], left[:-1], out=new[1:])
    new[1:] |= right[1:] != right[:-1]
    if not new.all():
        first = np.flatnonzero(new)
        left, right = left[first], right[first]
        rows = np.add.reduceat(rows, first, dtype=rows.dtype)
        del first
    start = starts(left, count).astype(np.int32)
    line = np.cumsum(new, dtype=np.int32)
    line -= 1
    if order is not None:
        line[order[1]] = line[order[0]]
    return line, Pairs(start, right, rows)


def _moved(lines: Lines, order: tuple[IntArray, IntArray]) -> Lines:
    """Lines in order."""
    moved = lines.copy()
    moved[order[0]] = lines[order[1]]
    return moved


def _sorting(left: Whole, right: IntArray) -> tuple[IntArray, IntArray] | None:
    """Places of lines that are not in order, all of their left number's, and what belongs there;
    None if all are in order, as a grouping's lines mostly are."""
    rises = left[1:] > left[:-1]
    rises |= (left[1:] == left[:-1]) & (right[1:] >= right[:-1])
    if rises.all():
        return None
    some = np.arange(len(left), dtype=np.int32)
    if (left[1:] >= left[:-1]).all():
        torn = np.zeros(int(left[-1]) + 1, bool)
        torn[left[1:][~rises]] = True
        some = some[torn[left]]
    return some, some[np.lexsort((right[some], left[some]))]


def ragged(start: Whole, chosen: Whole) -> tuple[IntArray, IntArray]:
    """All places of some stretches, one after another, and which of the stretches each is from."""
    lengths = (start[1:] - start[:-1])[chosen]
    owner = np.repeat(np.arange(len(chosen), dtype=np.int32), lengths)
    shift = (start[chosen] - np.cumsum(lengths) + lengths).astype(np.int32)
    place = np.arange(len(owner), dtype=np.int32)
    place += shift[owner]
    return owner, place


def starts(sorted_owner: Whole, count: int) -> Ints:
    """Where the stretch of each owner begins in lines sorted by them, and where the last ends."""
    start = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(sorted_owner, minlength=count), out=start[1:])
    return start
