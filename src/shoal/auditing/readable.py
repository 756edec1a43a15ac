"""Readable people: whose value a release shows to whoever knows their group.

A group can be read if all its people are published with one value, in one of the sensitive columns
at least; "(other)" is no value. Some of its people are readable *by attributes* as well: if every
group with somebody of their attributes is published with that same value, whoever knows no more
than the attributes reads it too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import IntArray, Ints, Whole
from shoal.data.table import Table
from shoal.groups import Grouping


class Readable(NamedTuple):
    """How many people are readable."""

    people: int
    by_attributes: int
    """Those of them who are so to whoever knows their attributes alone."""


def readable_people(table: Table, grouping: Grouping) -> Readable:
    """Who is readable in a grouping."""
    value = grouping.published_values(table)
    group, signature = grouping.group, grouping.signature
    return count_readable(table, group, signature, grouping.people, group, value)


def count_readable(
    table: Table,
    group: Whole,
    signature: Whole,
    people: Ints,
    value_group: Whole,
    value: Whole,
) -> Readable:
    """From lines of people (of a group and signature, in all its copies) and lines of values that
    groups publish."""
    told, attributes = np.zeros((2, len(group)), bool)
    count = int(group.max(initial=-1)) + 1
    for code, other in _columns(table, value):
        held = _common(code, value_group, count)
        read = np.where(held < other, held, np.int32(-1))[group]
        told |= read >= 0
        attributes |= _common(read, signature, len(table.signatures))[signature] >= 0
    return Readable(int(people[told].sum()), int(people[attributes].sum()))


def _columns(table: Table, value: Whole) -> list[tuple[Whole, int]]:
    """What each sensitive column shows on each line, and which code stands for "(other)"."""
    if table.several is None:
        return [(value, len(table.values))]
    codes = table.several.codes[value]
    return [(codes[:, c], len(one.values)) for c, one in enumerate(table.several.columns)]


def _common(code: Whole, owner: Whole, count: int) -> IntArray:
    """The code that all lines of an owner share, or -1."""
    low, high = np.full(count, np.iinfo(np.int32).max, np.int32), np.full(count, -1, np.int32)
    np.minimum.at(low, owner, code.astype(np.int32))
    np.maximum.at(high, owner, code.astype(np.int32))
    return np.where(low == high, low, np.int32(-1)).astype(np.int32)
