"""Groups of masks become groups of people with all that they hold."""

from __future__ import annotations

import numpy as np

from shoal.data.table import Table, factorize
from shoal.groups import Grouping


def deal_values(whole: Table, groups: Grouping, random: np.random.Generator) -> Grouping:
    """The same groups of the whole table. People of one signature and mask are alike to all who
    were asked, so that chance decides who of them is where; those alone keep what they hold."""
    several = whole.several
    assert several is not None
    signature, value, rows = whole.cells
    width = len(several.masks.values)
    person = random.permutation(np.repeat(np.arange(len(rows)), rows))
    key = signature[person].astype(np.int64) * width + several.mask[value[person]]
    order = np.argsort(key, kind="stable")
    person, key = person[order], key[order]

    wanted = groups.signature.astype(np.int64) * width + groups.value
    lines = np.argsort(wanted, kind="stable")
    count = groups.people[lines]
    first = np.searchsorted(key, wanted[lines])
    before = np.cumsum(count) - count
    starts = np.searchsorted(wanted[lines], wanted[lines])  # the first line with the same key
    place = first + before - before[starts]
    taken = np.repeat(place - before, count) + np.arange(count.sum())
    cell, group = person[taken], np.repeat(groups.group[lines], count)

    alone = (groups.sizes == 1) & ~groups.holding(several.masks)
    together = np.flatnonzero(~alone[group])
    number = np.cumsum(~alone) - 1
    kept = int((~alone).sum())
    single, keys = factorize([cell[alone[group]].astype(np.int32)], [len(rows)])
    own = np.asarray(keys, np.int64)
    pooled = np.zeros(kept + len(own), bool)
    if groups.pooled is not None:
        pooled[:kept] = groups.pooled[~alone]
    at = np.concatenate([cell[together], own])
    return Grouping.of_lines(
        whole,
        np.concatenate([number[group[together]], kept + np.arange(len(own))]).astype(np.int32),
        signature[at],
        value[at],
        np.ones(len(at), np.int64),
        copies=np.concatenate([groups.copies[~alone], np.bincount(single, minlength=len(own))]),
        pooled=pooled if pooled.any() else None,
    )
