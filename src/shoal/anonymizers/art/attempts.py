"""Groups for a whole table, of a sample that is as thin, and of cells as large, as can be.

A thin sample and large cells tell least; a thick one and small cells find partners where people are
scarce. So a sample begins with one carrier in 4 r people; where that does not do, everybody is of
it, and cells become smaller, until few people are in pooled groups, which do not show their values,
and nobody is lost, or few are and their absence tells nothing. The numbers in the code are those of
ART's steps (art.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.anonymizers.art.absence import leave_out_more
from shoal.anonymizers.art.alike import group_alike
from shoal.anonymizers.art.asked import Asked
from shoal.anonymizers.art.assembly import Assembly
from shoal.anonymizers.art.blind import Design, hide_blindly
from shoal.anonymizers.art.cells import Cells
from shoal.anonymizers.art.decoys import add_decoys
from shoal.anonymizers.art.everybody import gather_everybody
from shoal.anonymizers.art.mixed import mix_events
from shoal.grouping import Progress

MATCHED: dict[str, Any] = {"rate": 4.0, "cell": 2.4, "join": True, "all_views": True}
"""The first design (blind.py)."""
WHOLE = (1.4, 0.9, 0.5)
"""Where that loses too many, everybody is of the sample, and cells have so many times r people."""
SEVERAL: tuple[dict[str, Any], ...] = ({"cell": 2.0, "join": True}, {"cell": 0.9})
"""Of several sensitive columns, which leave many masks with few carriers each."""
HARDLY_ANY, FEW, MANY = 0.01, 0.05, 0.15
"""Shares of the carriers. Another design is tried rather than lose more than hardly any, one after
the next if many are lost, and events are mixed at last rather than lose more than a few, whatever
may be lost."""
MOST_POOLED = 0.15
"""And rather than put a larger share of the people into pooled groups."""


@dataclass(frozen=True, eq=False)
class Attempt:
    """What came of one design."""

    groups: Assembly
    how: Design
    lost: int
    pooled: float
    """How many more people are in pooled groups than should be."""
    kept: bool
    """Whether absence tells nothing."""


def group_blindly(
    asked: Asked,
    how: Design,
    *,
    most_lost: float,
    seed: int,
    progress: Progress,
) -> Attempt:
    """The first attempt that loses hardly anybody and pools few, if absence tells nothing; or the
    one that comes nearest."""
    random = np.random.default_rng(seed)
    one_column, attempts = asked.whole.several is None, list[Attempt]()
    designs = [MATCHED, *({"cell": cell} for cell in WHOLE)] if one_column else list(SEVERAL)
    while designs:
        one = _attempt(asked, replace(how, **designs.pop(0)), random, progress)
        attempts.append(one)
        few = one.lost <= min(HARDLY_ANY * asked.table.carriers, most_lost)
        if (one.kept and few and one.pooled == 0) or how.asked_cell is not None:
            break
        if one.lost > MANY * asked.table.carriers and len(designs) > 1:
            designs.pop(0)
    best = min(attempts, key=lambda one: _faults(one, most_lost))
    if best.lost > most_lost and one_column:
        mix_events(best.groups, asked, seed=seed, progress=progress)  # 6
    add_decoys(best.groups, asked, random)  # 7
    best.groups.drop_unsafe(asked)
    if how.least > 1:
        gather_everybody(best.groups, asked, how.least, random)
    return best


def _faults(one: Attempt, most_lost: float) -> tuple[float, bool, float, int]:
    """What is wrong with an attempt, the worst first."""
    return max(0.0, one.lost - most_lost), not one.kept, one.pooled, one.lost


def _attempt(asked: Asked, how: Design, random: np.random.Generator, progress: Progress) -> Attempt:
    groups = Assembly(asked.table, Cells.of(asked.table), how.rate)  # 1
    several = asked.whole.several is not None
    if several:
        group_alike(groups, asked, how.least)
    if several or groups.cells.filler_suffices():
        hide_blindly(groups, asked, how, random=random, progress=progress)  # 2, 3, 4
        groups.drop_unsafe(asked)  # 5
    if several:  # who goes where with which combination, is drawn for each group
        groups.separate()
    pooled = max(0.0, groups.people("pooled") - MOST_POOLED * asked.table.rows)
    kept = leave_out_more(groups, asked, random)
    return Attempt(groups, how, groups.cells.waiting, pooled, kept)
